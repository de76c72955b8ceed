import { expect, test } from "bun:test";
import { join } from "node:path";
import { MANIFEST_USER, toManifest } from "../../../lib/cli/check/manifests.ts";
import { requireProvider } from "../../../lib/providers/mod.ts";

const ROOT = join(import.meta.dir, "../../..");

test.each([
  ["xenorchestra", "deploy/manifests/rbac-user.yaml"],
  ["static", "deploy/manifests/rbac-user.yaml"],
  ["cloudstack", "deploy/manifests/cloudstack/rbac-user.yaml"],
])(
  "toManifest() names the manifest of %s, which grants the user its permissions",
  async (cloud, path) => {
    const { install } = await requireProvider(cloud);
    expect(toManifest(install, "rbac-user.yaml")).toBe(path);
    expect(await Bun.file(join(ROOT, path)).text()).toContain(`name: ${MANIFEST_USER}\n`);
  },
);
