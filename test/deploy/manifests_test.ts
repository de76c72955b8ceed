/**
 * What the files of deploy/ have in common, and what they must not.
 * @module
 */
import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readManifests } from "../support/deploy/deploy_tools.ts";
import { ROOT } from "../support/sources.ts";

test("no two ways to install share a role, so that whoever removes one leaves the other its rights", async () => {
  const [pods, users] = await Promise.all(
    ["deployment.yaml", "rbac-user.yaml"].map(async (file) => {
      const text = await readFile(join(ROOT, "deploy/manifests", file), "utf8");
      return readManifests(text).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    }),
  );
  expect(users).toHaveLength(4);
  expect(new Set(pods).isDisjointFrom(new Set(users))).toBe(true);
});

test("the limit of memory is that of the systemd unit, whatever starts the pod", async () => {
  const unit = await readFile(join(ROOT, "deploy/systemd/landfall.service"), "utf8");
  for (const file of [
    "manifests/deployment.yaml",
    "static-pod/landfall.yaml",
    "chart/values.yaml",
  ]) {
    const text = await readFile(join(ROOT, "deploy", file), "utf8");
    const [, limit] = /limits:\n\s+memory: (\d+M)i\n/.exec(text) ?? [];
    expect(`${file}: ${/^MemoryMax=(.*)$/m.exec(unit)?.[1]}`).toBe(`${file}: ${limit}`);
  }
});
