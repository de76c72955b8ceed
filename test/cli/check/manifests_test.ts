import { expect, test } from "bun:test";
import { join } from "node:path";
import { findRightsManifest, MANIFEST_USER, toManifest } from "../../../lib/cli/check/manifests.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { readSource } from "../../support/sources.ts";
import { requireProvider } from "../../../lib/providers/mod.ts";
import { TWIN_NAME, twinController } from "../../support/galleries/definition.ts";

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

test.each(
  CONTROLLERS.flatMap((one) => (one.folder === undefined ? [] : [[one.name, one] as const])),
)(
  "findRightsManifest() names the service account that the folder of %s makes",
  async (_name, controller) => {
    const question = { registry: CONTROLLERS, chosen: [controller], install: undefined };
    const { installing, serviceAccount } = findRightsManifest(question);
    const folder = `deploy/manifests/${controller.folder}`;
    expect(installing).toBe(`kubectl apply -k ${folder}`);
    const text = await Bun.file(join(ROOT, folder, "deployment.yaml")).text();
    const [, , namespace, name] = serviceAccount.split(":");
    expect(text).toContain(`kind: ServiceAccount\nmetadata:\n  name: ${name}\n`);
    expect(text).toContain(`  namespace: ${namespace}\n`);
    expect(await Bun.file(join(ROOT, folder, "kustomization.yaml")).exists()).toBe(true);
  },
);

test.each([
  ["xenorchestra", "kubectl apply -k deploy/manifests"],
  ["cloudstack", "kubectl apply -k deploy/manifests/cloudstack"],
  ["static", "helm upgrade landfall deploy/chart "],
])("findRightsManifest() names what installs Landfall for %s", async (cloud, command) => {
  const { install } = await requireProvider(cloud);
  const chosen = CONTROLLERS.filter(({ folder }) => folder === undefined);
  const { installing } = findRightsManifest({ registry: CONTROLLERS, chosen, install });
  expect(installing).toStartWith(command);
});

test("findRightsManifest() names that of the one controller that runs, if it has one", () => {
  const registry = [...CONTROLLERS, twinController];
  const [first] = CONTROLLERS;
  if (first === undefined) throw new Error("there is no controller");
  const find = (...chosen: (typeof registry)[number][]): [string, string[]] => {
    const { path, controllers } = findRightsManifest({ registry, chosen, install: undefined });
    return [path, [...controllers]];
  };
  expect(find(twinController)).toEqual(["deploy/manifests/galleries/rbac-user.yaml", [TWIN_NAME]]);
  for (const chosen of [[], [first], [first, twinController]]) {
    const [path, controllers] = find(...chosen);
    expect(path).toBe("deploy/manifests/rbac-user.yaml");
    expect(controllers).toContain(first.name);
    expect(controllers).not.toContain(TWIN_NAME);
  }
});

test("findRightsManifest() names the command for the Lease of a cloud without a manifest of its own", async () => {
  const chosen = CONTROLLERS.filter(({ folder }) => folder === undefined);
  const lease = "landfall-inventory";
  const find = async (cloud: string): Promise<string> => {
    const { install } = await requireProvider(cloud);
    return findRightsManifest({ registry: CONTROLLERS, chosen, install, lease }).granting;
  };
  const granting = await find("static");
  // The guide has it, too.
  expect(await readSource("docs/guides/install-inventory.md")).toContain(`\n${granting}\n`);
  const [, from = "", to = ""] = /^sed 's\/(.+?)\/(.+?)\//.exec(granting) ?? [];
  expect(await readSource("deploy/manifests/rbac-user.yaml")).toContain(from);
  expect(to).toBe(lease);
  expect(await find("xenorchestra")).toBe("kubectl apply -f deploy/manifests/rbac-user.yaml");
});
