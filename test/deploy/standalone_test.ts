/**
 * The manifests of a controller that is installed by itself.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { CLOUD, DEFINITIONS } from "../../deploy/clouds.ts";
import { renderFiles } from "../../deploy/files.ts";
import { renderStandaloneFiles } from "../../deploy/standalone.ts";
import { parseFlags } from "../../lib/cli/flags/mod.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import {
  galleryController,
  CLOUD_TWIN_NAME,
  cloudTwinController,
  TWIN_LEASE,
  TWIN_NAME,
  twinController,
} from "../support/galleries/definition.ts";
import { readManifests } from "../support/deploy/deploy_tools.ts";

const REGISTRY = [...CONTROLLERS, twinController];
const files = new Map(renderStandaloneFiles(twinController));

function read(file: string) {
  return readManifests(files.get(`manifests/galleries/${file}`) ?? "");
}

function find(file: string, kind: string): Record<string, unknown> {
  return Object(read(file).find((one) => one.kind === kind));
}

describe("renderStandaloneFiles()", () => {
  test("gives a folder of its own to a controller that has one, and nothing to others", () => {
    const names = ["deployment.yaml", "kustomization.yaml", "rbac-user.yaml"];
    expect([...files.keys()]).toEqual(names.map((name) => `manifests/galleries/${name}`));
    expect(renderStandaloneFiles(galleryController)).toEqual([]);
  });

  test("removes no kind with the folder: with a kind, Kubernetes would delete all its objects", () => {
    const { resources } = find("kustomization.yaml", "Kustomization");
    expect(resources).toEqual(["deployment.yaml"]);
  });

  test("starts the controller alone, without a cloud, its settings and the Lease of a cloud", () => {
    const { template } = Object(find("deployment.yaml", "Deployment")["spec"]);
    const [container] = template.spec.containers;
    const [command, ...flags] = container.args;
    expect(command).toBe("run");
    const { settings, given, warnings } = parseFlags(flags, REGISTRY);
    expect([...settings.controllers]).toEqual([TWIN_NAME]);
    expect(warnings).toEqual([]);
    const unset = ["cloud-provider", "cloud-config", "leader-elect", "leader-elect-resource-name"];
    expect(unset.filter((flag) => given.has(flag))).toEqual([]);
    // The port on the host may be that of Landfall for a cloud.
    expect(template.spec).not.toHaveProperty("hostNetwork");
    expect(template.spec).not.toHaveProperty("volumes");
    expect(container).not.toHaveProperty("volumeMounts");
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
  });

  test.each(["deployment.yaml", "rbac-user.yaml"])("%s grants what it needs alone", (file) => {
    const rules = JSON.stringify(find(file, "ClusterRole")["rules"]);
    for (const wanted of ["galleries", "configmaps", "events", "tokenreviews"]) {
      expect(rules).toContain(wanted);
    }
    expect(rules).not.toMatch(/nodes|services/);
    const [held, created, ...more] = [Object(find(file, "Role")["rules"])].flat();
    expect(held).toMatchObject({ resourceNames: [TWIN_LEASE], verbs: ["get", "update"] });
    expect(created).toMatchObject({ resources: ["leases"], verbs: ["create"] });
    expect(more).toEqual([]);
  });

  test("shares no object and no pod with an installation for a cloud", () => {
    const all = renderFiles();
    const toKeys = (text = ""): string[] =>
      readManifests(text)
        .filter(({ kind }) => kind !== "Kustomization")
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    const others = [...all].filter(([path]) => /^manifests\/.*(deployment|rbac-user)/.test(path));
    const taken = new Set(others.flatMap(([, text]) => toKeys(text)));
    const own = [...files.values()].flatMap((text) => toKeys(text));
    expect(own.length).toBeGreaterThan(8);
    expect(own.filter((key) => taken.has(key))).toEqual([]);
    const [{ selector }, other] = [
      find("deployment.yaml", "Service")["spec"],
      readManifests(all.get("manifests/deployment.yaml") ?? "").find(
        ({ kind }) => kind === "Service",
      )?.spec,
    ].map(Object);
    expect(selector).not.toEqual(other.selector);
    const { template } = Object(find("deployment.yaml", "Deployment")["spec"]);
    expect(template.metadata.labels).toMatchObject(selector);
  });

  test("refuses a controller that cannot run alone", () => {
    const { lease: _lease, ...without } = twinController;
    expect(() => renderStandaloneFiles(without)).toThrow(`${TWIN_NAME} has manifests`);
  });
});

describe("renderStandaloneFiles() of a controller that needs a cloud", () => {
  const folder = "manifests/cloud-galleries";
  const own = new Map(renderStandaloneFiles(cloudTwinController));
  const manifests = readManifests(own.get(`${folder}/deployment.yaml`) ?? "");
  const { template } = Object(manifests.find(({ kind }) => kind === "Deployment")?.spec);

  test("starts it with the default cloud, and with a Secret of its own", () => {
    const [container] = template.spec.containers;
    const { settings, given } = parseFlags(container.args.slice(1), [
      ...CONTROLLERS,
      cloudTwinController,
    ]);
    expect([...settings.controllers]).toEqual([CLOUD_TWIN_NAME]);
    expect(settings.cloudProvider).toBe(CLOUD.name);
    expect(given.has("leader-elect-resource-name")).toBe(false);
    const secretName = `landfall-${CLOUD_TWIN_NAME}`;
    expect(template.spec.volumes).toEqual([
      { name: "config", secret: { secretName, defaultMode: 0o440 } },
    ]);
    const [mount] = container.volumeMounts;
    expect(settings.cloudConfig).toBe(`${mount.mountPath}/${CLOUD.file}`);
    const { fsGroup } = template.spec.securityContext;
    expect(fsGroup).toBe(65_532);
    const [secret] = readManifests(own.get(`${folder}/secret.example.yaml`) ?? "");
    expect(secret?.metadata.name).toBe(secretName);
    expect(Object.keys(Object(secret)["stringData"])).toEqual([CLOUD.file]);
  });

  test("lets it read Nodes, and change none", () => {
    const rules = [Object(manifests.find(({ kind }) => kind === "ClusterRole"))["rules"]].flat();
    const nodes = rules.filter(({ resources }) => JSON.stringify(resources).includes("nodes"));
    expect(nodes).toEqual([{ apiGroups: [""], resources: ["nodes"], verbs: ["list", "watch"] }]);
  });
});

test("renderFiles() has the files of each such controller in the registry", () => {
  const paths = [...renderFiles(DEFINITIONS, REGISTRY).keys()];
  for (const path of files.keys()) expect(paths).toContain(path);
  for (const text of files.values()) {
    expect(parseAllDocuments(text).flatMap(({ errors }) => errors)).toEqual([]);
  }
});
