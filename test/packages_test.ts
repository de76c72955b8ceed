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
    v.object({
      engines: v.optional(v.object({ node: v.optional(v.string()) })),
      integrity: v.optional(v.string()),
    }),
  ),
});
const lock = v.parse(Lock, JSON.parse(await readSource("package-lock.json"))).packages;

/** What the packages ask for, those included that are for other machines. */
const ranges: readonly (readonly [name: string, range: string])[] = Object.entries(lock).flatMap(
  ([name, { engines }]) => (engines?.node === undefined ? [] : [[name, engines.node]]),
);

test.each(PROMISED)(
  "npm ci warns of no package on Node %s, which package.json promises",
  (version) => {
    expect(ranges.length).toBeGreaterThan(20);
    expect(ranges.filter(([, range]) => !Bun.semver.satisfies(version, range))).toEqual([]);
  },
);

test("README.md promises the versions of Node that package.json does", async () => {
  expect(PROMISED).toHaveLength(3);
  const [old = "", middle = "", last = ""] = PROMISED.map((one) => one.replace(/(\.0)+$/, ""));
  const text = `Node 20 from ${old}, 22 from ${middle}, or ${last} and newer`;
  expect(await readSource("README.md")).toContain(text);
});

test("package-lock.json holds each package to its content, also those for other machines", () => {
  const packages = Object.entries(lock).filter(([name]) => name !== "");
  expect(packages.filter(([, one]) => !one.integrity?.startsWith("sha512-"))).toEqual([]);
});

test("pages and the workflow name this version of Landfall, and CHANGELOG.md has a day for it", async () => {
  const pages = ["release/README.md", ".github/workflows/release.yaml", "Containerfile"];
  for (const page of [...pages, "docs/guides/install.md", "docs/guides/migrate-from-apache.md"]) {
    const named = (await readSource(page)).matchAll(
      /(?:landfall[:-]|\bv|--version |VERSION=)(\d+\.\d+\.\d+)/g,
    );
    const versions = Array.from(named, ([, version]) => version);
    const own = versions.filter((version) => version?.startsWith("0."));
    expect(new Set(own), page).toEqual(new Set([manifest.version]));
  }
  const changes = await readSource("CHANGELOG.md");
  expect(changes).toMatch(
    new RegExp(`^## ${RegExp.escape(manifest.version)} \\(20\\d\\d-\\d\\d-\\d\\d\\)$`, "m"),
  );
});
