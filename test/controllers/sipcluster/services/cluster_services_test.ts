/**
 * The services of clusters on a simulated API server: what one service or one cluster does to another.
 * @module
 */
import { expect, test } from "bun:test";
import { TOLERATIONS_FLAG } from "../../../../lib/controllers/sipcluster/flags.ts";
import type {
  JumpHost,
  SipClusterSpec,
  SipServices,
} from "../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { HOST_LABELS, OAM_NETWORK } from "../../../../lib/simulator/metal3/hosts.ts";
import { until } from "../../../support/nodes/rig.ts";
import { HOSTS, SipStage, TENANT } from "../../../support/sipcluster/stage.ts";

const RACKS = [{ name: "r1", flavors: { "control-plane": 2, worker: 2 } }];
const READY = "True ReconciliationSucceeded";

function toSpec(services: SipServices, count = 1): SipClusterSpec {
  const labelSelector = { matchLabels: { [HOST_LABELS.flavor]: "control-plane" } };
  return { nodes: { ControlPlane: { labelSelector, count: { active: count } } }, services };
}

/** A cluster `a` with so many control planes behind a load balancer, when nothing happens any more. */
async function startBalanced(count: number): Promise<SipStage> {
  const stage = await SipStage.start(RACKS);
  const loadBalancer = { nodeInterfaceId: OAM_NETWORK, nodePort: 30_001 };
  stage.create("a", toSpec({ loadBalancerControlPlane: [loadBalancer] }, count));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  return stage;
}

/** The servers in the configuration of the load balancer before the control plane of cluster `a`. */
function readServers(stage: SipStage): readonly string[] {
  const name = "loadbalancer-controlplane-a";
  const map = stage.listOwned("configmaps").find(({ metadata }) => metadata.name === name);
  return String(Object(map?.["data"])["haproxy.cfg"]).match(/^ *server .+$/gm) ?? [];
}

function toJumpHost(nodePort: number, nodeInterfaceId: string = OAM_NETWORK): JumpHost {
  const image = "registry.example/jump-host:1";
  return { image, nodePort, nodeInterfaceId, nodeSSHPrivateKeys: "node-keys" };
}

test("a new service on a network that no host has takes no server from a load balancer", async () => {
  await using stage = await SipStage.start(RACKS);
  const loadBalancer = { nodeInterfaceId: OAM_NETWORK, nodePort: 30_001 };
  stage.create("a", toSpec({ loadBalancerControlPlane: [loadBalancer] }, 2));
  await stage.untilCondition("a", "Ready", READY);
  const before = readServers(stage);
  expect(before).toHaveLength(2);
  stage.change("a", {
    services: { jumpHost: [{ ...toJumpHost(30_002, "misspelt") }] },
  });
  const message = await stage.untilCondition("a", "ServicesReady", "False InfraServiceFailure");
  expect(message).toContain(`BareMetalHost ${HOSTS}/r1-control-plane-1 has no network "misspelt"`);
  await stage.untilQuiet();
  expect(readServers(stage)).toEqual(before);
});

test("a Secret with network data that is missing at a restart takes no server from a load balancer", async () => {
  await using stage = await SipStage.start(RACKS);
  const { objects } = stage.kubernetes;
  const loadBalancer = { nodeInterfaceId: OAM_NETWORK, nodePort: 30_001 };
  const services = { loadBalancerControlPlane: [loadBalancer], jumpHost: [toJumpHost(30_002)] };
  stage.create("a", toSpec(services, 2));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  const before = readServers(stage);
  expect(before).toHaveLength(2);
  await stage.stop();
  const writes = () => stage.kubernetes.requests.count({ verb: "patch", resource: "deployments" });
  const written = writes();
  objects.delete("secrets", { namespace: HOSTS, name: "r1-control-plane-1-networkdata" });
  await stage.run();
  const says = await stage.untilCondition("a", "ServicesReady", "True LastKnownAddresses");
  expect(says).toContain(`${HOSTS}/r1-control-plane-1 (no Secret with its network data: Secret `);
  expect(says).toContain("Secret r1-control-plane-1-networkdata)");
  await stage.untilQuiet();
  expect(readServers(stage)).toEqual(before);
  expect(writes()).toBe(written);
  expect(stage.read("a")?.status?.hosts?.map(({ addresses }) => addresses.length)).toEqual([1, 1]);
  await until("an Event tells of it", () =>
    stage.listEvents("a").some((event) => event.startsWith(`NetworkDataMissing ${says}`)),
  );
});

test("a configuration that a person edits or deletes is right again within seconds, in a quiet cluster", async () => {
  await using stage = await startBalanced(2);
  const { objects } = stage.kubernetes;
  const before = readServers(stage);
  expect(before).toHaveLength(2);
  const path = { namespace: TENANT, name: "loadbalancer-controlplane-a" };
  objects.patch("configmaps", path, { data: { "haproxy.cfg": "# nothing" } });
  await until("it is as before", () => readServers(stage).join() === before.join(), 5_000);
  objects.delete("configmaps", path);
  await until("it is there again", () => readServers(stage).join() === before.join(), 5_000);
});

test("what a user of a jump host writes on its ConfigMap deletes nothing, and holds no deletion", async () => {
  await using stage = await SipStage.start(RACKS);
  const { objects } = stage.kubernetes;
  stage.create("a", toSpec({ jumpHost: [toJumpHost(30_001), toJumpHost(30_002)] }));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  const listSecrets = (): readonly string[] =>
    stage.listOwned("secrets").map(({ metadata }) => `${metadata.name} ${metadata.uid}`);
  const before = listSecrets();
  expect(before).toHaveLength(2);
  const requests = { namespace: TENANT, name: "jumphost-a-requests" };
  const named = before.map((text) => `Secret/${text.split(" ")[0]}`).join();
  objects.patch("configmaps", requests, {
    metadata: {
      annotations: { "landfall.dev/sip-unwatched": named },
      finalizers: ["example.org/mine"],
    },
  });
  stage.change("a", { nodes: { ControlPlane: { count: { active: 2 } } } });
  await until("the cluster was looked at", () => stage.listHosts("a").length === 2);
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  expect(listSecrets()).toEqual(before);
  stage.delete("a");
  await until("the cluster is gone", () => stage.read("a") === undefined);
  expect(stage.listOwned("configmaps").map(({ metadata }) => metadata.name)).toEqual([
    requests.name,
  ]);
});

test("a service whose ConfigMap has the name of another leaves no account behind", async () => {
  await using stage = await SipStage.start(RACKS);
  const { objects } = stage.kubernetes;
  objects.create("configmaps", { metadata: { namespace: TENANT, name: "jumphost-a" } });
  stage.create("a", toSpec({ jumpHost: [toJumpHost(30_001)] }));
  await stage.untilCondition("a", "ServicesReady", "False NameTaken");
  const listAccounts = (): number =>
    ["serviceaccounts", "roles", "rolebindings"].flatMap((plural) => stage.listOwned(plural))
      .length;
  expect(listAccounts()).toBe(0);
  objects.delete("configmaps", { namespace: TENANT, name: "jumphost-a" });
  stage.change("a", { services: { jumpHost: [toJumpHost(30_002)] } });
  await stage.untilCondition("a", "Ready", READY);
  expect(listAccounts()).toBe(3);
  await stage.stop();
  stage.change("a", { services: { jumpHost: null } });
  await stage.run();
  await until("they are gone", () => listAccounts() === 0);
});

test("network data that comes late is followed within seconds, and costs nothing while all is well", async () => {
  await using stage = await SipStage.start([{ name: "r1", flavors: { "control-plane": 2 } }]);
  const { objects, requests } = stage.kubernetes;
  const path = { namespace: HOSTS, name: "r1-control-plane-1-networkdata" };
  const { data = {} } = Object(objects.get("secrets", path));
  objects.delete("secrets", path);
  const loadBalancer = { nodeInterfaceId: OAM_NETWORK, nodePort: 30_001 };
  stage.create("a", toSpec({ loadBalancerControlPlane: [loadBalancer] }, 2));
  await stage.untilCondition("a", "Scheduled", "False Unschedulable");
  await stage.untilQuiet();
  objects.create("secrets", { metadata: path, data });
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();

  const host = { namespace: HOSTS, name: "r1-control-plane-1" };
  objects.patch("secrets", path, { data: { networkData: btoa("networks: []") } });
  // Both change, so that the Secret is read.
  objects.patch("baremetalhosts", host, { spec: { description: "moved" } });
  stage.change("a", {
    services: { loadBalancerControlPlane: [{ ...loadBalancer, nodePort: 30_002 }] },
  });
  await until("it is no server", () => readServers(stage).length === 1);
  await stage.untilQuiet();
  objects.patch("secrets", path, { data });
  await until("it is one again", () => readServers(stage).length === 2);
  await stage.untilQuiet();

  const count = (): number => requests.count({ verb: "get", resource: "secrets" });
  // Longer than the pause between two looks. What is on its way may still end.
  const isOver = async (): Promise<boolean> => {
    const before = count();
    await stage.clock.sleep(2_500, AbortSignal.timeout(10_000));
    return count() === before;
  };
  await until("no Secret is read any more", isOver, 15_000);
});

test("a load balancer with an address that is not known at all stays as it is", async () => {
  await using stage = await startBalanced(2);
  const { objects } = stage.kubernetes;
  const before = readServers(stage);
  await stage.stop();
  objects.delete("secrets", { namespace: HOSTS, name: "r1-control-plane-1-networkdata" });
  const path = { namespace: TENANT, name: "a", subresource: "status" };
  objects.patch("sipclusters", path, { status: { hosts: null } });
  await stage.run();
  const says = await stage.untilCondition("a", "ServicesReady", "False AddressesUnknown");
  expect(says).toContain(`not known: ${HOSTS}/r1-control-plane-1 (no Secret with its network data`);
  await stage.untilCondition("a", "Ready", "False InfraServiceFailure");
  await stage.untilQuiet();
  expect(readServers(stage)).toEqual(before);
});

test("a template that is too much work changes nothing, and other clusters go on", async () => {
  await using stage = await SipStage.start(RACKS);
  const { objects } = stage.kubernetes;
  const loadBalancerControlPlane = [30_001, 30_002].map((nodePort) => {
    return { nodeInterfaceId: OAM_NETWORK, nodePort };
  });
  stage.create("a", toSpec({ loadBalancerControlPlane }));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  const before = readServers(stage);
  const name = "loadbalancercontrolplane";
  const variables = Array.from({ length: 40_000 }, (_, at) => `{{$v${at}:=.}}`).join("\n");
  objects.create("configmaps", {
    metadata: { namespace: TENANT, name },
    data: { "loadBalancerControlPlane.cfg": variables },
  });
  const message = await stage.untilCondition("a", "ServicesReady", "False TemplateTooLarge");
  expect(message).toContain(`ConfigMap ${name}: loadBalancerControlPlane.cfg, line `);
  await stage.untilQuiet();
  expect(readServers(stage)).toEqual(before);
  stage.create("b", { ...toSpec({ jumpHost: [toJumpHost(30_003)] }, 0) });
  await stage.untilCondition("b", "Ready", READY);
  stage.delete("a");
  await until("the cluster and its services are gone", () => stage.read("a") === undefined);
  expect(stage.listOwned("services").map(({ metadata }) => metadata.name)).toEqual(["jumphost-b"]);
});

test("a cluster answers no requests to the jump host of another one whose objects have the same names", async () => {
  await using stage = await SipStage.start(RACKS);
  const { objects } = stage.kubernetes;
  stage.create("a", toSpec({ jumpHost: [toJumpHost(30_002)] }));
  stage.create("a-2", toSpec({ jumpHost: [toJumpHost(30_001)] }));
  await stage.untilCondition("a-2", "Ready", READY);
  stage.change("a", {
    services: { jumpHost: [{ ...toJumpHost(30_002) }, { ...toJumpHost(30_003) }] },
  });
  await stage.untilCondition("a", "ServicesReady", "False NameTaken");
  // Only cluster `a` looks at requests now.
  stage.change("a-2", { nodes: { ControlPlane: { count: { active: -1 } } } });
  await stage.untilCondition("a-2", "Ready", "False InvalidSpec");
  const [host = ""] = stage.listHosts("a").map((text) => text.split(" ")[0] ?? "");
  const key = "request.00000000-0000-4000-8000-000000000001";
  const request = JSON.stringify({ host: `${HOSTS}/${host}`, time: Date.now() / 1_000 });
  const requests = { namespace: TENANT, name: "jumphost-a-2-requests" };
  objects.patch("configmaps", requests, { data: { [key]: request } });
  stage.change("a", { nodes: { ControlPlane: { count: { active: 0 } } } });
  await until("cluster a was looked at", () => stage.listHosts("a").length === 0);
  await stage.untilQuiet();
  expect(objects.get("configmaps", requests)?.["data"]).toEqual({ [key]: request });
});

test("a jump host whose Secret is refused stops no other service, and the conditions name it", async () => {
  await using stage = await SipStage.start(RACKS);
  const { faults } = stage.kubernetes;
  faults.refuse({ verb: "create", resource: "secrets", status: 403, message: "exceeded quota" });
  const loadBalancer = { nodeInterfaceId: OAM_NETWORK, nodePort: 30_001 };
  const services = { loadBalancerControlPlane: [loadBalancer], jumpHost: [toJumpHost(30_002)] };
  stage.create("a", toSpec(services));
  const message = await stage.untilCondition("a", "ServicesReady", "False InfraServiceFailure");
  expect(message).toContain("exceeded quota");
  expect(stage.listOwned("services").map(({ metadata }) => metadata.name)).toEqual([
    "loadbalancer-controlplane-a",
  ]);
});

test("a cluster whose Secrets cannot be read any more is not said to be ready", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec({ jumpHost: [toJumpHost(30_001)] }, 0));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  await stage.stop();
  const allow = stage.kubernetes.faults.deny({ verb: "get", resource: "secrets" });
  await stage.run();
  await stage.untilCondition("a", "ServicesReady", "False InfraServiceFailure");
  await stage.untilCondition("a", "Ready", "False InfraServiceFailure");
  allow();
});

test("a cluster whose hosts' Secrets cannot be read any more says that, and keeps its servers", async () => {
  await using stage = await SipStage.start(RACKS);
  const loadBalancer = { nodeInterfaceId: OAM_NETWORK, nodePort: 30_001 };
  stage.create("a", toSpec({ loadBalancerControlPlane: [loadBalancer] }));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  const before = readServers(stage);
  await stage.stop();
  const allow = stage.kubernetes.faults.deny({ verb: "get", resource: "secrets" });
  await stage.run();
  await stage.untilCondition("a", "Scheduled", "False UnableToReadNetworkData");
  const says = await stage.untilCondition("a", "Ready", "False UnableToReadNetworkData");
  expect(says).toContain("secrets");
  expect(readServers(stage)).toEqual(before);
  allow();
  await stage.untilCondition("a", "Ready", READY);
});

test("the status shows the node ports that Kubernetes gave, and none that it refused", async () => {
  await using stage = await SipStage.start(RACKS);
  const toServices = (...ports: readonly number[]) => ({
    loadBalancerControlPlane: ports.map((nodePort) => ({ nodeInterfaceId: OAM_NETWORK, nodePort })),
  });
  const listEndpoints = (name: string) =>
    (stage.read(name)?.status?.endpoints ?? []).map(
      ({ service, nodePort }) => `${service} ${nodePort}`,
    );
  stage.create("a", toSpec(toServices(30_001, 30_002)));
  await stage.untilCondition("a", "Ready", READY);
  const both = ["loadBalancerControlPlane 30001", "loadBalancerControlPlane[1] 30002"];
  await until("both are shown", () => listEndpoints("a").length === 2);
  expect(listEndpoints("a")).toEqual(both);

  stage.create("b", toSpec(toServices(30_001)));
  const taken = await stage.untilCondition("b", "ServicesReady", "False NodePortUnavailable");
  expect(taken).toContain("by Service loadbalancer-controlplane-a. To swap ports, give one of");
  expect(listEndpoints("b")).toEqual([]);

  stage.change("a", { services: toServices(30_002, 30_001) });
  await stage.untilCondition("a", "ServicesReady", "False NodePortUnavailable");
  await stage.untilQuiet();
  expect(listEndpoints("a")).toEqual(both);
});

const CONTROL_PLANE = ["control-plane", "master"].map((role) => {
  return { key: `node-role.kubernetes.io/${role}`, operator: "Exists", effect: "NoSchedule" };
});
const LOST = ["not-ready", "unreachable"].map((state) => {
  const key = `node.kubernetes.io/${state}`;
  return { key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 30 };
});
const EDGE = [
  { key: "edge.example.org/pool", operator: "Equal", value: "lb", effect: "NoExecute" },
  { key: "edge", operator: "Exists" },
];

test.each([
  ["the operator says nothing", {}, CONTROL_PLANE],
  ["a list", { "sip-tolerations": "edge.example.org/pool=lb:NoExecute, edge" }, EDGE],
  [
    "one of its own besides",
    { "sip-tolerations": "control-plane,edge" },
    [...CONTROL_PLANE, { key: "edge", operator: "Exists" }],
  ],
  ["an empty list", { "sip-tolerations": "" }, []],
])("Pods of services run on the Nodes that the operator allows: %s", async (_, flags, wanted) => {
  await using stage = await SipStage.start(RACKS, flags);
  const loadBalancer = { nodeInterfaceId: OAM_NETWORK, nodePort: 30_001 };
  const services = { loadBalancerControlPlane: [loadBalancer], jumpHost: [toJumpHost(30_002)] };
  stage.create("a", toSpec(services));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  const found = stage.listOwned("deployments").map((one) => {
    return [one.metadata.name, Object(one).spec.template.spec.tolerations];
  });
  expect(Object.fromEntries(found)).toEqual({
    // The API server stores no empty list.
    "loadbalancer-controlplane-a": wanted.length > 0 ? wanted : undefined,
    "jumphost-a": [...wanted, ...LOST],
  });
});

test.each([
  ["", true],
  ["a", true],
  ["a:NoSchedule", true],
  ["example.org/a=b:NoExecute,c=:PreferNoSchedule", true],
  ["a:Never", false],
  ["-a", false],
  ["a=b=c", false],
  ["a:NoSchedule:x", false],
  ["=b:NoSchedule", false],
])("--sip-tolerations=%s: is it accepted? %p", (text, isAccepted) => {
  expect(TOLERATIONS_FLAG.findProblem(text) === undefined).toBe(isAccepted);
});

test("a right that is missing in one namespace is named there, and stops no cluster elsewhere", async () => {
  await using stage = await SipStage.start(RACKS);
  const { faults, objects } = stage.kubernetes;
  const loadBalancer = { nodeInterfaceId: OAM_NETWORK, nodePort: 0 };
  const names = { configSecret: "dex-config", tlsSecret: "dex-tls" };
  const auth = { nodePort: 0, issuerURL: "https://dex.example.org", ...names };
  const elsewhere = { namespace: "elsewhere", name: "b" };
  objects.create("namespaces", { metadata: { name: elsewhere.namespace } });
  for (const verb of ["get", "create", "patch"])
    faults.deny({ verb, resource: "secrets", namespace: TENANT });
  stage.create("a", toSpec({ loadBalancerControlPlane: [loadBalancer], auth: [auth] }));
  const message = await stage.untilCondition("a", "ServicesReady", "False Forbidden");
  expect(message).toContain(`in the namespace "${TENANT}"`);
  expect(message).toContain(`To let Landfall work in namespace ${TENANT}, bind its ClusterRole`);
  stage.create("b", toSpec({ loadBalancerControlPlane: [loadBalancer] }), elsewhere);
  await until("the other one is ready", () => {
    const found = objects.get("sipclusters", elsewhere);
    return JSON.stringify(found?.["status"] ?? "").includes("ReconciliationSucceeded");
  });
});
