/**
 * What `npm ci` installs against what is promised.
 * @module
 */
import { expect, test } from "bun:test";
import * as v from "valibot";
import manifest from "../package.json" with { type: "json" };
import { readSource } from "./support/sources.ts";

const PROMISED: readonly string[] = manifest.engines.node.match(/\d+\.\d+\.\d+/g) ?? [];
const Lock = v.object({
  packages: v.record(
    v.string(),
    v.object({ engines: v.optional(v.object({ node: v.optional(v.string()) })) }),
  ),
});

/** What the packages ask for, those included that are for other machines. */
const ranges: readonly (readonly [name: string, range: string])[] = Object.entries(
  v.parse(Lock, JSON.parse(await readSource("package-lock.json"))).packages,
).flatMap(([name, { engines }]) => (engines?.node === undefined ? [] : [[name, engines.node]]));

test.each(PROMISED)(
  "npm ci warns of no package on Node %s, which package.json promises",
  (version) => {
    expect(ranges.length).toBeGreaterThan(20);
    expect(ranges.filter(([, range]) => !Bun.semver.satisfies(version, range))).toEqual([]);
  },
);

test("README.md promises the oldest Node that package.json does", async () => {
  const [oldest = "none"] = PROMISED;
  expect(await readSource("README.md")).toContain(`Node ${oldest.split(".", 2).join(".")}`);
});
