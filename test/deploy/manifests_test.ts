/**
 * What the files of deploy/ have in common, and what they must not.
 * @module
 */
import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readManifests } from "../support/deploy/deploy_tools.ts";
import { ROOT } from "../support/sources.ts";

/** The kinds and names of the objects of a manifest. */
async function listNames(file: string): Promise<string[]> {
  const text = await readFile(join(ROOT, "deploy/manifests", file), "utf8");
  return readManifests(text).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}

test("no two ways to install share a role, so that whoever removes one leaves the other its rights", async () => {
  const [pods, users] = await Promise.all(["deployment.yaml", "rbac-user.yaml"].map(listNames));
  expect(users).toHaveLength(4);
  expect(new Set(pods).isDisjointFrom(new Set(users))).toBe(true);
});

test("the rights of the user are objects of their own for each cloud, so that two clouds keep theirs", async () => {
  const files = ["rbac-user.yaml", "cloudstack/rbac-user.yaml"];
  const [first, second] = await Promise.all(files.map(listNames));
  // Installations have these names: a new version must change the same objects.
  const kinds = ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"];
  expect(first).toEqual(kinds.map((kind) => `${kind} landfall-user`));
  expect(second).toEqual(kinds.map((kind) => `${kind} landfall-user-cloudstack`));
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
