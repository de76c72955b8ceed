/**
 * Who may say which cluster has a host: only the status of the cluster, which tenants cannot write.
 * @module
 */
import { expect, test } from "bun:test";
import type { FlagValues } from "../../../lib/controllers/definition.ts";
import type {
  HostStatus,
  SipClusterSpec,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { JsonObject, ObjectName } from "../../../lib/simulator/kubernetes/mod.ts";
import {
  createHost,
  HOST_LABELS,
  OAM_NETWORK,
  planHosts,
} from "../../../lib/simulator/metal3/hosts.ts";
import { until } from "../../support/nodes/rig.ts";
import { toClaimLabels } from "../../support/sipcluster/hosts.ts";
import { toRackSpec } from "../../support/sipcluster/specs.ts";
import { HOSTS, SipStage, TENANT } from "../../support/sipcluster/stage.ts";

const RACKS = ["r1", "r2", "r3"].map((name) => ({
  name,
  flavors: { "control-plane": 1, worker: 1 },
}));
const READY = "True ReconciliationSucceeded";
const CLAIMED = "True LabelsWithoutRecord";
const CONSUMER: JsonObject = { consumerRef: { apiVersion: "v1", kind: "X", name: "x" } };
const EVIL = "evil";

function toSpec(controlPlanes: number, workers: number): SipClusterSpec {
  const { nodes, services } = toRackSpec({ controlPlanes, workers, nodePort: 30_001 });
  const image = "registry.example/jump-host:1";
  const place = { nodeInterfaceId: OAM_NETWORK, nodePort: 30_010 };
  const jumpHost = [{ image, ...place, nodeSSHPrivateKeys: "node-keys" }];
  return { ...(nodes && { nodes }), services: { ...services, jumpHost } };
}

/** A host of a tenant in her own namespace, with labels of her choice. */
function forge(
  { kubernetes: { objects } }: SipStage,
  path: ObjectName,
  { labels, spec = {} }: { readonly labels: Record<string, string>; readonly spec?: JsonObject },
): void {
  if (objects.get("namespaces", { name: EVIL }) === undefined) {
    objects.create("namespaces", { metadata: { name: EVIL } });
  }
  const networkData = JSON.stringify({
    networks: [{ id: OAM_NETWORK, type: "ipv4", ip_address: "203.0.113.66" }],
  });
  const metadata = { ...path, name: `${path.name}-data` };
  objects.create("secrets", { metadata, data: { networkData: btoa(networkData) } });
  const reference = { networkData: { name: metadata.name, namespace: path.namespace ?? "" } };
  objects.create("baremetalhosts", {
    metadata: { ...path, labels },
    spec: { online: true, ...reference, ...spec },
  });
}

/** Everything that Landfall made for a cluster, and which hosts have its labels. */
function describeWork(stage: SipStage): unknown {
  const owned = ["configmaps", "secrets", "deployments"].flatMap((plural) =>
    stage.listOwned(plural).map(({ metadata: { name }, data = null, spec = null }) => {
      return { plural, name, data, spec };
    }),
  );
  const own = stage.hosts.filter(({ metadata }) => metadata["namespace"] !== EVIL);
  return { owned, own: own.map(({ metadata }) => [metadata.name, metadata["labels"]]) };
}

const listReasons = (stage: SipStage, name: string): string[] =>
  stage.listEvents(name).map((event) => event.split(" ")[0] ?? "");

test("a tenant who labels hosts of her own namespace changes nothing for a cluster", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(2, 1));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  const before = describeWork(stage);
  const labels = toClaimLabels("a", { role: "ControlPlane" });
  for (const name of ["cp-1", "r1-control-plane-1", "registry.example.org"]) {
    forge(stage, { namespace: EVIL, name }, { labels, spec: CONSUMER });
  }
  const free = { [HOST_LABELS.flavor]: "control-plane" };
  forge(stage, { namespace: EVIL, name: "aaa-free" }, { labels: free });
  const says = await stage.untilCondition("a", "UnknownClaims", CLAIMED);
  expect(says).toContain("evil/cp-1 (its namespace is not allowed)");
  await stage.untilQuiet();
  expect(describeWork(stage)).toEqual(before);
  expect(stage.read("a")?.status?.hosts?.map(({ namespace }) => namespace)).toEqual([
    HOSTS,
    HOSTS,
    HOSTS,
  ]);
  const events = stage.kubernetes.objects.list("events", EVIL);
  expect(JSON.stringify(events)).toContain(
    "has the labels of the SIPCluster tenant/a, and is not in its status.hosts",
  );
  expect(listReasons(stage, "a")).not.toContain("HostReleased");
  // More is wanted than there is: the free host of the tenant is counted and not taken.
  stage.change("a", { nodes: { ControlPlane: { count: { active: 4 } } } });
  const short = await stage.untilCondition("a", "Scheduled", "False Unschedulable");
  expect(short).toContain("1 in a namespace that --sip-host-namespaces does not allow");
});

test("labels that somebody adds are removed, unless the host is in use", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", toSpec(1, 1));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  const { objects } = stage.kubernetes;
  const labels = toClaimLabels("a");
  const read = (name: string): unknown =>
    objects.get("baremetalhosts", { namespace: HOSTS, name })?.metadata["labels"];
  stage.consume("r3-worker-1");
  for (const name of ["r2-worker-1", "r3-worker-1"]) {
    objects.patch("baremetalhosts", { namespace: HOSTS, name }, { metadata: { labels } });
  }
  const says = await stage.untilCondition("a", "UnknownClaims", CLAIMED);
  expect(says).toStartWith(
    `BareMetalHosts ${HOSTS}/r3-worker-1 (used by a consumer) have the labels`,
  );
  await stage.untilQuiet();
  expect(read("r2-worker-1")).not.toHaveProperty("sip.airshipit.org/cluster-name");
  expect(read("r3-worker-1")).toMatchObject(labels);
  stage.consume("r3-worker-1", false);
  await stage.untilCondition("a", "UnknownClaims", "False NoUnknownClaims");
  expect(read("r3-worker-1")).not.toHaveProperty("sip.airshipit.org/cluster-name");
  expect(stage.read("a")?.status?.hosts).toHaveLength(2);
});

/** A cluster that is served, with its controller stopped. */
async function startServed(flags: FlagValues = {}): Promise<SipStage> {
  const stage = await SipStage.start(RACKS, flags);
  stage.create("a", toSpec(2, 1));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  await stage.stop();
  return stage;
}

function setHosts(stage: SipStage, hosts: readonly HostStatus[] | null): void {
  const path = { namespace: TENANT, name: "a", subresource: "status" };
  const status = JSON.parse(JSON.stringify({ hosts }));
  stage.kubernetes.objects.patch("sipclusters", path, { status });
}

/** As a restore from a backup without status. */
function loseStatus(stage: SipStage): void {
  const path = { namespace: TENANT, name: "a", subresource: "status" };
  stage.kubernetes.objects.patch("sipclusters", path, { status: null });
}

/** As the original operator leaves it: it knew one condition, and no record. */
function setSipStatus(stage: SipStage, status: "True" | "False" = "True"): void {
  loseStatus(stage);
  const reason = status === "True" ? "ReconciliationSucceeded" : "Unschedulable";
  const ready = {
    type: "Ready",
    status,
    reason,
    message: "",
    lastTransitionTime: "2021-01-01T00:00:00Z",
  };
  const path = { namespace: TENANT, name: "a", subresource: "status" };
  stage.kubernetes.objects.patch("sipclusters", path, { status: { conditions: [ready] } });
}

/** A host of a stranger with the labels of a cluster, where Landfall has no right. */
function forgeForbidden(stage: SipStage): void {
  for (const verb of ["get", "patch"]) {
    stage.kubernetes.faults.deny({ verb, resource: "baremetalhosts", namespace: EVIL });
  }
  forge(stage, { namespace: EVIL, name: "aaa" }, { labels: toClaimLabels("a"), spec: CONSUMER });
}

function withoutUids(stage: SipStage): readonly HostStatus[] {
  return (stage.read("a")?.status?.hosts ?? []).map(({ uid: _uid, ...host }) => host);
}

test.each([
  ["of an earlier version", (stage: SipStage) => setHosts(stage, withoutUids(stage))],
  ["of the original operator", (stage: SipStage) => setSipStatus(stage)],
  ["that was lost", loseStatus],
])("a cluster with a status %s adopts its hosts, once", async (_what, change) => {
  await using stage = await startServed();
  const before = { work: describeWork(stage), hosts: stage.read("a")?.status?.hosts };
  change(stage);
  await stage.run();
  await until("its hosts are recorded, with addresses", () => {
    const [host] = stage.read("a")?.status?.hosts ?? [];
    return host?.uid !== undefined && host.addresses.length > 0;
  });
  await stage.untilQuiet();
  const { hosts } = stage.read("a")?.status ?? {};
  expect({ work: describeWork(stage), hosts }).toEqual(before);
  const adopted = stage.listEvents("a").filter((event) => event.startsWith("HostsAdopted"));
  expect(adopted).toEqual([
    expect.stringContaining(`${HOSTS}/r1-control-plane-1, ${HOSTS}/r1-worker-1`),
  ]);
});

test("a cluster whose status was lost adopts no host that its selector does not match", async () => {
  await using stage = await startServed();
  const labels = toClaimLabels("a", { role: "ControlPlane" });
  const path = { namespace: HOSTS, name: "r3-worker-1" };
  stage.kubernetes.objects.patch("baremetalhosts", path, { metadata: { labels } });
  setHosts(stage, null);
  await stage.run();
  await until("its hosts are recorded", () => stage.read("a")?.status?.hosts?.length === 3);
  await until("the other one has no label", () => stage.listHosts("a").length === 3);
  expect(stage.listHosts("a").map((host) => host.split(" ")[0])).not.toContain("r3-worker-1");
});

test("hosts that were created again with their labels stay with their cluster", async () => {
  await using stage = await startServed();
  const before = stage.listHosts("a");
  setHosts(
    stage,
    (stage.read("a")?.status?.hosts ?? []).map((host) => ({ ...host, uid: "of-before" })),
  );
  await stage.run();
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilQuiet();
  expect(stage.listHosts("a")).toEqual(before);
  expect(stage.read("a")?.status?.hosts?.map(({ uid }) => uid)).not.toContain("of-before");
});

test("a cluster without a record changes nothing while the operator does not allow the namespace", async () => {
  await using stage = await startServed({ "sip-host-namespaces": "*" });
  setHosts(stage, withoutUids(stage));
  const before = describeWork(stage);
  stage.setFlags({});
  await stage.run();
  const message = await stage.untilCondition("a", "Ready", "False HostNamespaceNotAllowed");
  expect(message).toContain(`${HOSTS}/r1-control-plane-1`);
  expect(message).toContain(`add to --sip-host-namespaces: ${HOSTS}. If not, remove their labels`);
  await stage.untilQuiet();
  expect(describeWork(stage)).toEqual(before);
  stage.delete("a");
  expect(await stage.untilCondition("a", "Ready", "False UnableToDecommission")).toBe(message);
  // Also when it is looked at again.
  const annotations = { note: "again" };
  const path = { namespace: TENANT, name: "a" };
  stage.kubernetes.objects.patch("sipclusters", path, { metadata: { annotations } });
  await stage.stop();
  await stage.run();
  await stage.untilQuiet();
  expect(describeWork(stage)).toEqual(before);
  const forced = { "landfall.dev/force-release": "true" };
  stage.kubernetes.objects.patch("sipclusters", path, { metadata: { annotations: forced } });
  await until("it is gone", () => stage.read("a") === undefined);
  expect(stage.listTaken()).toEqual([]);
});

test("a label of a tenant does not stop a cluster of an earlier version whose hosts are allowed", async () => {
  await using stage = await startServed();
  setHosts(stage, withoutUids(stage));
  forge(stage, { namespace: EVIL, name: "w" }, { labels: toClaimLabels("a"), spec: CONSUMER });
  await stage.run();
  await until(
    "its hosts are recorded",
    () => stage.read("a")?.status?.hosts?.[0]?.uid !== undefined,
  );
  await stage.untilCondition("a", "UnknownClaims", CLAIMED);
  expect(stage.read("a")?.status?.hosts).toHaveLength(3);
});

test("a cluster that is made again from a file without status and finalizer adopts its hosts", async () => {
  await using stage = await startServed();
  const { objects } = stage.kubernetes;
  const path = { namespace: TENANT, name: "a" };
  const before = stage.listHosts("a");
  for (const { metadata } of stage.hosts) {
    if (before.some((host) => host.startsWith(`${metadata.name} `))) stage.consume(metadata.name);
  }
  objects.delete("sipclusters", path);
  objects.patch("sipclusters", path, { metadata: { finalizers: null } });
  stage.create("a", toSpec(2, 1));
  await stage.run();
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.listHosts("a")).toEqual(before);
  expect(stage.read("a")?.status?.hosts).toHaveLength(3);
  expect(listReasons(stage, "a")).toContain("HostsAdopted");
});

test("a cluster of the original operator adopts hosts in use that the selector does not match any more", async () => {
  await using stage = await startServed();
  const path = { namespace: HOSTS, name: "r1-worker-1" };
  stage.consume("r1-worker-1");
  const labels = { [HOST_LABELS.flavor]: "other" };
  stage.kubernetes.objects.patch("baremetalhosts", path, { metadata: { labels } });
  setSipStatus(stage);
  await stage.run();
  await until("its hosts are recorded", () => stage.read("a")?.status?.hosts?.length === 3);
  await stage.untilQuiet();
  expect(stage.listHosts("a")).toContain("r1-worker-1 Worker");
});

test("a deletion waits for hosts in use with the labels of the cluster, also if its spec is invalid", async () => {
  await using stage = await startServed();
  stage.consume("r1-worker-1");
  setHosts(stage, null);
  stage.change("a", { nodes: { Worker: { count: { active: -1 } } } });
  stage.delete("a");
  await stage.run();
  await stage.untilCondition("a", "Ready", "False UnableToDecommission");
  await stage.untilQuiet();
  expect(stage.listOwned("deployments")).not.toEqual([]);
});

test("a new cluster is not stopped by labels that were there before it", async () => {
  await using stage = await SipStage.start(RACKS);
  forge(stage, { namespace: EVIL, name: "w" }, { labels: toClaimLabels("a"), spec: CONSUMER });
  stage.create("a", toSpec(1, 1));
  await stage.untilCondition("a", "Ready", READY);
  await stage.untilCondition("a", "UnknownClaims", CLAIMED);
});

test.each([
  ["was labelled", toClaimLabels("a"), true],
  ["was not labelled, and something else uses it", {}, false],
])("a host that was to be taken when the process ended, and %s", async (_what, labels, isOwn) => {
  await using stage = await startServed();
  const { objects } = stage.kubernetes;
  const path = { namespace: HOSTS, name: "r3-worker-1" };
  const { uid } = objects.get("baremetalhosts", path)?.metadata ?? {};
  const host = {
    uid: String(uid),
    ...path,
    role: "Worker",
    standby: false,
    addresses: [],
  } as const;
  setHosts(stage, [...(stage.read("a")?.status?.hosts ?? []), { ...host, pending: true }]);
  objects.patch("baremetalhosts", path, { metadata: { labels } });
  stage.consume("r3-worker-1");
  await stage.run();
  await until("nothing is pending", () => {
    const { hosts = [] } = stage.read("a")?.status ?? {};
    return hosts.every(({ pending }) => pending !== true);
  });
  await stage.untilQuiet();
  const names = stage.read("a")?.status?.hosts?.map(({ name }) => name);
  expect(names?.includes("r3-worker-1")).toBe(isOwn);
});

test("a cluster may always take hosts of its own namespace, and by default no others", async () => {
  await using stage = await SipStage.start(RACKS, { "sip-host-namespaces": "" });
  const plans = planHosts(TENANT, [{ name: "own", flavors: { "control-plane": 1, worker: 1 } }]);
  for (const plan of plans) createHost(stage.kubernetes.objects, plan);
  stage.create("a", toSpec(1, 1));
  await stage.untilCondition("a", "Ready", READY);
  expect(stage.read("a")?.status?.hosts?.map(({ namespace }) => namespace)).toEqual([
    TENANT,
    TENANT,
  ]);
});

test("a paused host gets its labels back when it is not paused any more, and the Event says so", async () => {
  await using stage = await startServed();
  await stage.run();
  const { objects } = stage.kubernetes;
  const path = { namespace: HOSTS, name: "r1-worker-1" };
  const change = (metadata: JsonObject): void => {
    objects.patch("baremetalhosts", path, { metadata });
  };
  change({
    annotations: { "baremetalhost.metal3.io/paused": "" },
    labels: { "sip.airshipit.org/cluster-name": null },
  });
  await until("an Event says when", () =>
    stage
      .listEvents("a")
      .some((event) => /^HostUnlabelled .* when the host is not paused/.test(event)),
  );
  await stage.untilQuiet();
  expect(stage.listHosts("a")).toHaveLength(2);
  change({ annotations: { "baremetalhost.metal3.io/paused": null } });
  await until("it has its labels", () => stage.listHosts("a").length === 3);
});

test("a stranger's host with the labels of a cluster does not stop its deletion, forced or not", async () => {
  await using stage = await startServed();
  await stage.run();
  forgeForbidden(stage);
  await stage.untilCondition("a", "UnknownClaims", CLAIMED);
  stage.consume("r1-worker-1");
  stage.delete("a");
  const says = await stage.untilCondition("a", "Ready", "False UnableToDecommission");
  expect(says).toContain(`${HOSTS}/r1-worker-1 (used by a consumer)`);
  expect(says).not.toContain(EVIL);
  stage.annotate("a", { "landfall.dev/force-release": "true" });
  await until("it is gone", () => stage.read("a") === undefined);
  expect(stage.listTaken()).toEqual(["aaa"]);
});

test("a deletion does not wait for a labelled host of an allowed namespace where a right is missing", async () => {
  await using stage = await SipStage.start(RACKS, { "sip-host-namespaces": `${HOSTS},${EVIL}` });
  stage.create("a", toSpec(1, 1));
  await stage.untilCondition("a", "Ready", READY);
  forgeForbidden(stage);
  await stage.untilCondition("a", "UnknownClaims", CLAIMED);
  stage.annotate("a", { "landfall.dev/force-release": "true" });
  stage.delete("a");
  await until("it is gone", () => stage.read("a") === undefined);
  expect(stage.listTaken()).toEqual(["aaa"]);
});

const INVALID = { nodes: { Worker: { count: { active: -1 } } } } as const;

test.each<[string, string, (stage: SipStage) => () => void]>([
  [
    "could not read network data",
    "False UnableToReadNetworkData",
    (stage) => {
      const allow = stage.kubernetes.faults.deny({
        verb: "get",
        resource: "secrets",
        namespace: HOSTS,
      });
      stage.create("a", toSpec(1, 1));
      return allow;
    },
  ],
  [
    "had an invalid spec",
    "False InvalidSpec",
    (stage) => {
      stage.create("a", { ...toSpec(1, 1), ...INVALID });
      return () => stage.change("a", toSpec(1, 1));
    },
  ],
])(
  "a stranger's labels do not stop a new cluster that %s at first",
  async (_what, refusal, begin) => {
    await using stage = await SipStage.start(RACKS);
    const mend = begin(stage);
    await stage.untilCondition("a", "Ready", refusal);
    forgeForbidden(stage);
    await stage.untilQuiet();
    mend();
    await stage.untilCondition("a", "Ready", READY);
    stage.delete("a");
    await until("it is gone", () => stage.read("a") === undefined);
  },
);

test("a cluster that was refused at first adopts no host that its selector does not match", async () => {
  await using stage = await SipStage.start(RACKS);
  stage.create("a", { ...toSpec(1, 1), ...INVALID });
  await stage.untilCondition("a", "Ready", "False InvalidSpec");
  const labels = toClaimLabels("a", { role: "ControlPlane" });
  const path = { namespace: HOSTS, name: "r3-worker-1" };
  stage.kubernetes.objects.patch("baremetalhosts", path, { metadata: { labels } });
  stage.consume("r3-worker-1");
  stage.change("a", toSpec(1, 1));
  const says = await stage.untilCondition("a", "UnknownClaims", CLAIMED);
  expect(says).toContain("r3-worker-1");
  expect(stage.read("a")?.status?.hosts?.map(({ name }) => name)).not.toContain("r3-worker-1");
});

test.each([
  ["had hosts for", "True", "False HostNamespaceNotAllowed"],
  ["had no hosts for", "False", "False Unschedulable"],
] as const)(
  "a cluster that the original operator %s, with labelled hosts only where none are allowed",
  async (_what, ready, expected) => {
    await using stage = await startServed({ "sip-host-namespaces": "*" });
    stage.setFlags({ "sip-host-namespaces": "" });
    setSipStatus(stage, ready);
    const before = describeWork(stage);
    await stage.run();
    await stage.untilCondition("a", "Ready", expected);
    await stage.untilQuiet();
    await stage.untilCondition("a", "Ready", expected);
    if (ready === "True") expect(describeWork(stage)).toEqual(before);
    // The status names no host, so nothing holds the deletion.
    stage.delete("a");
    await until("it is gone", () => stage.read("a") === undefined);
  },
);

test("a cluster that the original operator had hosts for gets them when their namespace is allowed", async () => {
  await using stage = await startServed({ "sip-host-namespaces": "*" });
  const before = describeWork(stage);
  setSipStatus(stage);
  // Not even the selector of the spec has to match: SIP chose them.
  stage.change("a", { nodes: { Worker: { labelSelector: { matchLabels: { flavor: "other" } } } } });
  const restart = async (namespaces: string): Promise<void> => {
    await stage.stop();
    stage.setFlags({ "sip-host-namespaces": namespaces });
    await stage.run();
  };
  // A spec that Landfall refuses does not make it forget.
  stage.change("a", { nodes: { Worker: { count: { active: -1 } } } });
  for (const namespaces of ["", "elsewhere"]) {
    await restart(namespaces);
    await stage.untilCondition("a", "Ready", "False HostNamespaceNotAllowed");
    await stage.untilQuiet();
    expect(describeWork(stage)).toEqual(before);
    stage.change("a", { nodes: { Worker: { count: { active: 1 } } } });
  }
  await restart(HOSTS);
  await until("its hosts are recorded", () => stage.read("a")?.status?.hosts?.length === 3);
  expect(listReasons(stage, "a")).toContain("HostsAdopted");
  expect(stage.listHosts("a")).toContain("r1-worker-1 Worker");
});

test("a cluster that comes back before its hosts adopts them, once", async () => {
  await using stage = await SipStage.start([]);
  stage.create("a", toRackSpec({ controlPlanes: 0, workers: 2, nodePort: 30_001 }));
  await stage.untilCondition("a", "Scheduled", "False Unschedulable");
  const { objects } = stage.kubernetes;
  for (const plan of planHosts(HOSTS, [{ name: "own", flavors: { worker: 2 } }])) {
    createHost(objects, { ...plan, labels: { ...plan.labels, ...toClaimLabels("a") } });
    stage.consume(plan.name);
    await stage.untilQuiet();
  }
  await stage.untilCondition("a", "Scheduled", "True HostsLabelled");
  const readNames = (): unknown => stage.read("a")?.status?.hosts?.map(({ name }) => name);
  await until("both are recorded", () => stage.read("a")?.status?.hosts?.length === 2);
  expect(readNames()).toEqual(["own-worker-1", "own-worker-2"]);
  // It had hosts: now its labels say nothing, although its record is empty.
  for (const name of ["own-worker-1", "own-worker-2"]) stage.consume(name, false);
  stage.change("a", { nodes: { Worker: { count: { active: 0 } } } });
  await until("its record is empty", () => stage.read("a")?.status?.hosts?.length === 0);
  await stage.untilQuiet();
  stage.consume("own-worker-1");
  const path = { namespace: HOSTS, name: "own-worker-1" };
  objects.patch("baremetalhosts", path, { metadata: { labels: toClaimLabels("a") } });
  await stage.untilCondition("a", "UnknownClaims", CLAIMED);
  expect(readNames()).toEqual([]);
});

test("a status from a backup that names a host which others use takes and gives back nothing", async () => {
  await using stage = await startServed();
  const before = { work: describeWork(stage), hosts: stage.read("a")?.status?.hosts ?? [] };
  const path = { namespace: HOSTS, name: "r3-worker-1" };
  const uid = String(stage.kubernetes.objects.get("baremetalhosts", path)?.metadata.uid);
  stage.consume(path.name);
  const host = { uid, ...path, role: "Worker", standby: false, addresses: [] } as const;
  setHosts(stage, [...before.hosts, host]);
  await stage.run();
  const says = await stage.untilCondition("a", "ContractionBlocked", "True HostsInUse");
  expect(says).toContain(`${HOSTS}/r3-worker-1 (Worker, in doubt)`);
  expect(await stage.untilCondition("a", "Scheduled", "True HostsLabelled")).toContain(
    `In status.hosts, in use, and without labels: ${HOSTS}/r3-worker-1. Landfall leaves it as it is. If`,
  );
  await stage.untilQuiet();
  expect(stage.listHosts("a")).not.toContain("r3-worker-1 Worker");
  expect(stage.listHosts("a")).toContain("r1-worker-1 Worker");
  expect(listReasons(stage, "a")).toContain("HostUnlabelled");
  expect(listReasons(stage, "a")).not.toContain("HostReleased");
  setHosts(stage, before.hosts);
  await stage.untilCondition("a", "ContractionBlocked", "False NothingBlocked");
  await stage.untilQuiet();
  expect(describeWork(stage)).toEqual(before.work);
});

test("a host in use gets its labels back that it lost while no process ran", async () => {
  await using stage = await startServed();
  const before = stage.listHosts("a");
  stage.consume("r1-worker-1");
  const path = { namespace: HOSTS, name: "r1-worker-1" };
  const labels = { "sip.airshipit.org/cluster-name": null };
  stage.kubernetes.objects.patch("baremetalhosts", path, { metadata: { labels } });
  expect(stage.listHosts("a")).not.toEqual(before);
  await stage.run();
  await until("they are back", () => Bun.deepEquals(stage.listHosts("a"), before));
});

test("a host in use gets its labels back if Landfall saw it with them", async () => {
  await using stage = await startServed();
  stage.consume("r1-worker-1");
  await stage.run();
  const before = stage.listHosts("a");
  const path = { namespace: HOSTS, name: "r1-worker-1" };
  const labels = { "sip.airshipit.org/cluster-name": "b" };
  await stage.untilQuiet();
  stage.kubernetes.objects.patch("baremetalhosts", path, { metadata: { labels } });
  await until("they are back", () => stage.listHosts("a").length === before.length);
});
