/**
 * The manifests with which Ironic reaches the management controllers of machines.
 * @module
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { readRedfishSettings, REDFISH_FLAGS } from "../../lib/controllers/vino/redfish/flags.ts";
import { toEndpointSlice } from "../../lib/controllers/vino/redfish/leader_endpoint.ts";
import { ROOT } from "../support/sources.ts";

const FOLDER = join(ROOT, "deploy", "manifests", "vino");

function read(path: string): string {
  return readFileSync(join(FOLDER, path), "utf8");
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

function readOperations(): readonly Operation[] {
  const { patches } = parse(read("redfish/kustomization.yaml"));
  return patches.flatMap(({ patch }: { readonly patch: string }) => parse(patch));
}

/** The Deployment as kustomize makes it: all operations append to a list that there is. */
function patchDeployment(): Record<string, unknown> {
  const documents = parseAllDocuments(read("deployment.yaml")).map((one) => one.toJS());
  const deployment = documents.find(({ kind }) => kind === "Deployment");
  for (const { op, path, value } of readOperations()) {
    expect([op, path.endsWith("/-")]).toEqual(["add", true]);
    let at = deployment;
    for (const part of path.split("/").slice(1, -1)) at = at[part];
    expect(Array.isArray(at)).toBe(true);
    at.push(value);
  }
  return deployment;
}

const [service, role] = parseAllDocuments(read("redfish/service.yaml")).map((one) => one.toJS());

test("the component sets flags that fit together, and lead to its Service", () => {
  const { containers } = Object(patchDeployment()["spec"]).template.spec;
  const [{ args, env, ports, volumeMounts }] = containers;
  const entries = args
    .filter((arg: string) => arg.startsWith("--vino-redfish-"))
    .map((arg: string) => /^--([^=]+)=(.*)$/.exec(arg)?.slice(1));
  expect(env.at(-1)).toMatchObject({ name: "POD_IP" });
  const values: Record<string, string> = Object.fromEntries(entries);
  values["vino-redfish-pod-ip"] = "10.1.2.3";
  // Without a storage for ISOs there are no virtual media.
  const names = REDFISH_FLAGS.map(({ name }) => name).filter((name) => !name.includes("-iso-"));
  expect(Object.keys(values).toSorted()).toEqual(names.toSorted());
  for (const { name, findProblem } of REDFISH_FLAGS) {
    expect(findProblem(values[name] ?? "")).toBeUndefined();
  }
  const settings = readRedfishSettings(values);
  const { namespace, name } = service.metadata;
  const [{ port }] = service.spec.ports;
  expect(settings?.endpoint).toEqual({ namespace, service: name, ip: "10.1.2.3", port });
  expect(settings?.url.href).toBe(`https://${name}.${namespace}.svc:${port}/`);
  expect(ports.at(-1).containerPort).toBe(port);
  expect(settings?.certFile?.startsWith(`${volumeMounts.at(-1).mountPath}/`)).toBe(true);
});

test("the Service has no selector, and its port is that of the endpoint", () => {
  expect(service.spec.selector).toBeUndefined();
  const { name, namespace } = service.metadata;
  const endpoint = { namespace, service: name, ip: "10.1.2.3", port: 8_443 };
  expect(toEndpointSlice(endpoint, true)["ports"]).toEqual(service.spec.ports);
});

test("the Role allows only the objects that the leader writes", () => {
  const { name, namespace } = service.metadata;
  const slices = ["10.1.2.3", "fd00::1"].map(
    (ip) => toEndpointSlice({ namespace, service: name, ip, port: 1 }, true).metadata.name,
  );
  const group = { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"] };
  expect(role.rules).toEqual([
    { ...group, verbs: ["create"] },
    { ...group, resourceNames: slices, verbs: ["patch"] },
  ]);
});
