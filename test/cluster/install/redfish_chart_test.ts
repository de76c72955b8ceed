/**
 * The chart with management controllers for the machines of Vinos, rendered by a real Helm.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { parseFlags } from "../../../lib/cli/flags/mod.ts";
import {
  readRedfishSettings,
  REDFISH_FLAGS,
  type RedfishSettings,
} from "../../../lib/controllers/vino/redfish/flags.ts";
import { toEndpointSlice } from "../../../lib/controllers/vino/redfish/leader_endpoint.ts";
import {
  type Manifest,
  readManifests,
  renderChart,
  renderNotes,
} from "../../support/deploy/deploy_tools.ts";
import { findHelm } from "../../support/kube/kubectl.ts";
import { readSource } from "../../support/sources.ts";

const helm = (await findHelm()) ?? "";
const RELEASE = { name: "landfall-vino", namespace: "kube-system" } as const;
const IP = "10.1.2.3";
const VALUES = {
  enabledControllers: ["vino"],
  existingConfigSecret: "landfall-vino",
  useDaemonSet: false,
  useHostNetwork: false,
};

interface Redfish {
  readonly tlsSecret?: string;
  readonly url?: string;
  readonly port?: number;
  readonly service?: object;
  readonly from?: readonly object[];
}

async function render(
  redfish: Redfish = {},
  { more = {}, release = RELEASE }: { more?: object; release?: typeof RELEASE } = {},
): Promise<Manifest[]> {
  const values = { ...VALUES, ...more, redfish: { enabled: true, ...redfish } };
  const { code, stdout, stderr } = await renderChart(helm, values, release);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return readManifests(stdout);
}

function find(objects: readonly Manifest[], kind: string, name: string): Manifest {
  const found = objects.find((one) => one.kind === kind && one.metadata.name === name);
  if (found === undefined) throw new Error(`There is no ${kind} ${name}`);
  return found;
}

function readPod(objects: readonly Manifest[]) {
  const { template } = Object(objects.find(({ kind }) => kind === "Deployment")?.spec);
  const { volumes, containers } = template.spec;
  return { volumes, ...containers[0] };
}

/** As the program reads what the chart wrote. */
function readSettings(objects: readonly Manifest[]): RedfishSettings | undefined {
  const { args: written, env } = readPod(objects);
  // The kubelet does this.
  const args = written.map((arg: string) => arg.replace("$(POD_IP)", IP));
  expect(parseFlags(args.slice(1)).warnings).toEqual([]);
  expect(env).toContainEqual({
    name: "POD_IP",
    valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } },
  });
  const pairs: [string, string][] = args
    .map((arg: string) => /^--(vino-redfish-[^=]+)=(.*)$/.exec(arg)?.slice(1))
    .filter(Boolean);
  const values = Object.fromEntries(pairs);
  for (const { name, findProblem } of REDFISH_FLAGS) {
    expect(findProblem(values[name] ?? "")).toBeUndefined();
  }
  return readRedfishSettings(values);
}

describe.skipIf(helm === "")("deploy/chart with redfish", () => {
  test("has what the component of the manifests has", async () => {
    const objects = await render({ tlsSecret: "landfall-vino-redfish-tls" });
    for (const written of readManifests(
      await readSource("deploy/manifests/vino/redfish/service.yaml"),
    )) {
      const { name, namespace } = written.metadata;
      const { metadata, ...rendered } = find(objects, written.kind, name);
      expect(metadata.namespace).toBe(namespace);
      const { metadata: _, ...wanted } = written;
      expect(rendered).toEqual(wanted);
    }
    const component = await readSource("deploy/manifests/vino/redfish/kustomization.yaml");
    const flags = component.match(/--vino-redfish-[^\s"]+/g);
    expect(readPod(objects).args.filter((arg: string) => arg.includes("redfish"))).toEqual(flags);
  });

  test("sets flags that lead to its Service, whose port is that of the pods and of the endpoint", async () => {
    const objects = await render({ port: 9_443 });
    const settings = readSettings(objects);
    expect(settings?.url.href).toBe("https://landfall-vino-redfish.kube-system.svc:9443/");
    const name = "landfall-vino-redfish";
    const endpoint = { namespace: "kube-system", service: name, ip: IP, port: 9_443 };
    expect(settings?.endpoint).toEqual(endpoint);
    const service = find(objects, "Service", name);
    expect(service.spec?.["ports"]).toEqual(toEndpointSlice(endpoint, true)["ports"]);
    expect(service.spec?.["selector"]).toBeUndefined();
    expect(readPod(objects).ports.at(-1)).toMatchObject({ name: "redfish", containerPort: 9_443 });
  });

  test("mounts the certificate where its flags look for it, or leaves that to Landfall", async () => {
    const objects = await render({ tlsSecret: "mine" });
    const { certFile, keyFile } = readSettings(objects) ?? {};
    const { volumes, volumeMounts } = readPod(objects);
    const { name, mountPath } = volumeMounts.at(-1);
    expect([certFile, keyFile]).toEqual([`${mountPath}/tls.crt`, `${mountPath}/tls.key`]);
    expect(volumes.find((one: { name: string }) => one.name === name)).toMatchObject({
      secret: { secretName: "mine" },
    });
    const without = await render();
    expect(readSettings(without)).not.toHaveProperty("certFile");
    expect(readPod(without).volumes).toHaveLength(1);
  });

  test("names the URL that values set, and opens the Service as they say", async () => {
    const url = "https://bmc.example.org:9443";
    const service = { type: "NodePort", annotations: { "example.org/a": "b" } };
    const objects = await render({ url, service });
    expect(readSettings(objects)?.url.href).toBe(`${url}/`);
    expect(find(objects, "Service", "landfall-vino-redfish")).toMatchObject({
      metadata: { annotations: service.annotations },
      spec: { type: "NodePort" },
    });
  });

  test("gives the rights to the endpoints of its own Service alone, by a name that fits", async () => {
    const release = { name: "a".repeat(53), namespace: "clouds" } as never;
    const objects = await render({}, { release });
    const { endpoint } = readSettings(objects) ?? {};
    const { service = "", namespace = "" } = endpoint ?? {};
    expect(namespace).toBe("clouds");
    const slices = [IP, "fd00::1"].map(
      (ip) => toEndpointSlice({ service, namespace, ip, port: 1 }, true).metadata.name,
    );
    for (const name of slices) expect(String(name).length).toBeLessThanOrEqual(63);
    const role = find(objects, "Role", service);
    expect(role.metadata.namespace).toBe("clouds");
    const group = { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"] };
    expect(role["rules"]).toEqual([
      { ...group, verbs: ["create"] },
      { ...group, resourceNames: slices, verbs: ["patch"] },
    ]);
    expect(find(objects, "RoleBinding", service)["subjects"]).toEqual([
      { kind: "ServiceAccount", name: readAccount(objects), namespace: "clouds" },
    ]);
  });

  test("lets its clients through the NetworkPolicy, and no others", async () => {
    const from = [
      { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ironic" } } },
    ];
    const objects = await render({ from }, { more: { networkPolicy: { enabled: true } } });
    const policy = objects.find(({ kind }) => kind === "NetworkPolicy");
    expect(policy?.spec?.["ingress"]).toEqual([
      { ports: [{ port: "https", protocol: "TCP" }] },
      { ports: [{ port: "redfish", protocol: "TCP" }], from },
    ]);
  });

  test("adds nothing while it is off, whatever its other values", async () => {
    const values = { ...VALUES, redfish: { tlsSecret: "mine", port: 1 } };
    const [off, none] = [values, VALUES].map(async (one) => (await renderChart(helm, one)).stdout);
    expect(await off).toBe(String(await none));
  });

  test("says after the installation how to see which replica serves", async () => {
    const notes = await renderNotes(helm, { ...VALUES, redfish: { enabled: true } });
    expect(notes).toContain("endpointslices -l kubernetes.io/service-name=landfall-redfish");
  });

  test.each<[string, object, string]>([
    ["no controller of Vinos", { enabledControllers: [] }, "needs the controller vino"],
    [
      "a flag that it sets",
      { extraArgs: ["--vino-redfish-url=https://a"] },
      "--vino-redfish-url: redfish.enabled sets it",
    ],
    ["a URL without TLS", { redfish: { enabled: true, url: "http://a" } }, "at '/redfish/url'"],
    ["a URL with a path", { redfish: { enabled: true, url: "https://a/b" } }, "at '/redfish/url'"],
    ["no port", { redfish: { enabled: true, port: 0 } }, "at '/redfish/port'"],
  ])("refuses %s, and says which", async (_title, more, word) => {
    const values = { ...VALUES, redfish: { enabled: true }, ...more };
    const { code, stderr } = await renderChart(helm, values);
    expect(code).not.toBe(0);
    expect(stderr).toContain(word);
  });
});

function readAccount(objects: readonly Manifest[]): unknown {
  return objects.find(({ kind }) => kind === "ServiceAccount")?.metadata.name;
}
