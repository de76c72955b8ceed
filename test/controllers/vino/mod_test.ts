/**
 * The life of Vinos on a simulated API server, with a cloud in memory; rights, metrics and a controller that is off.
 * @module
 */
import { expect, test } from "bun:test";
import { breakHost, mendHost } from "../../../lib/simulator/metal3/hosts.ts";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { toMachineName } from "../../../lib/cloud/capabilities/machines.ts";
import type { VinoSpec } from "../../../lib/controllers/vino/resource/vino.ts";
import { until } from "../../support/nodes/rig.ts";
import { toEntry, toObject } from "../../support/vino/known.ts";
import { MachinesDouble, POOL, toDoubleHost } from "../../support/vino/machines_double.ts";
import { METAL, VinoStage } from "../../support/vino/stage.ts";
import { listFurtherRights, listRights, needAll, toPolicy } from "../../../lib/app/rights.ts";
import { type FlagValues, listOnByDefault } from "../../../lib/controllers/definition.ts";
import { vinoController } from "../../../lib/controllers/vino/definition.ts";
import { toEndpointSlice } from "../../../lib/controllers/vino/redfish/leader_endpoint.ts";
import { NAME } from "../../../lib/controllers/vino/words.ts";
import { HintingProvider } from "../../support/cloud/instances.ts";
import { toVinoSpec } from "../../support/vino/reconciler_rig.ts";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MANIFEST_CLOUDS } from "../../../deploy/clouds.ts";
import { renderFiles } from "../../../deploy/files.ts";
import { LEASE, toCloudPolicy } from "../../../deploy/names.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { createDemoWorld } from "../../../lib/simulator/xenorchestra/mod.ts";
import { startDemoServers } from "../../support/process/demo_servers.ts";
import { startLandfall } from "../../support/process/landfall_process.ts";
import { ROOT } from "../../support/sources.ts";
import { createVinoMetrics } from "../../../lib/controllers/vino/metrics.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { Right } from "../../../lib/kube/access/rights.ts";

const READY = "True ReconciliationSucceeded";

function toSpec(
  count: number,
  change: Partial<NonNullable<VinoSpec["xenOrchestra"]>> = {},
): VinoSpec {
  return {
    networks: [{ name: "oam" }],
    nodes: [
      {
        name: "worker",
        count,
        networkInterfaces: [{ name: "eth0", network: "oam" }],
      },
    ],
    xenOrchestra: {
      template: "debian",
      cpus: 2,
      memory: "4Gi",
      countPer: "Total",
      disks: [{ name: "root", size: "20Gi" }],
      ...change,
    },
  };
}

function startStage(): Promise<VinoStage<MachinesDouble>> {
  return VinoStage.start((clock) => {
    const cloud = new MachinesDouble();
    cloud.refreshIntervalMs = 2_000;
    cloud.clock = () => clock.monotonic();
    return cloud;
  });
}

/** Starts with a Vino `edge` whose machines are ready. */
async function startReady(spec: VinoSpec): Promise<VinoStage<MachinesDouble>> {
  const stage = await startStage();
  stage.create("edge", spec);
  await stage.untilCondition("edge", "Ready", READY);
  return stage;
}

test("a Vino waits for the first inventory, and says nothing before", async () => {
  const answer = Promise.withResolvers<void>();
  await using stage = await VinoStage.start((clock) => {
    const cloud = new MachinesDouble();
    cloud.refreshIntervalMs = 2_000;
    cloud.clock = () => clock.monotonic();
    const listInventory = cloud.listInventory.bind(cloud);
    cloud.listInventory = async (...question) => {
      await answer.promise;
      return await listInventory(...question);
    };
    return cloud;
  });
  stage.create("edge", toSpec(1));
  await stage.clock.sleep(5_000, AbortSignal.timeout(10_000));
  expect(stage.read("edge")?.status).toBeUndefined();
  answer.resolve();
  await stage.untilCondition("edge", "Ready", READY);
});

/** Waits until an inventory shows what is there now. */
async function untilInventory(cloud: MachinesDouble): Promise<void> {
  const { lists } = cloud;
  await until("an inventory came", () => cloud.lists > lists + 1);
}

test("three machines are made, spread over hosts, published, and then left alone", async () => {
  await using stage = await startReady(toSpec(3));
  const { provider: cloud } = stage;
  expect(stage.listMachines("edge")).toEqual([
    "worker-0 Ready",
    "worker-1 Ready",
    "worker-2 Ready",
  ]);
  expect([...cloud.world.values()].map(({ hostId }) => hostId).toSorted()).toEqual([
    "h1",
    "h2",
    "h3",
  ]);
  expect(stage.listHosts()).toEqual(["edge-worker-0", "edge-worker-1", "edge-worker-2"]);
  expect(stage.read("edge")?.status?.counts).toEqual({
    wanted: 3,
    machines: 3,
    ready: 3,
    unwanted: 0,
    published: 3,
    summary: "3/3",
  });
  await stage.untilQuiet();
  const [calls, writes, lists] = [cloud.calls.length, stage.countWrites(), cloud.lists];
  await until("some inventories came", () => cloud.lists > lists + 3);
  expect(cloud.calls.slice(calls)).toEqual([]);
  expect(stage.countWrites()).toBe(writes);
});

test("Vinos whose machines would have the same host are no trouble to each other and to others", async () => {
  await using stage = await startStage();
  const held = Promise.withResolvers<void>();
  // The first one is in a step all the time.
  stage.provider.afterStep = ({ name }) => (name.includes("-a-worker-") ? held.promise : undefined);
  const [node] = toSpec(2).nodes ?? [];
  stage.create("edge", { ...toSpec(2), nodes: [{ ...node, name: "a-worker" }] });
  await until("it is in its step", () => stage.provider.running === 2);
  stage.create("edge-a", toSpec(2));
  stage.create("other", toSpec(2));
  await stage.untilCondition("other", "Ready", READY);
  const message = await stage.untilCondition("edge-a", "Ready", "False DecisionNeeded");
  expect(message).toContain("VinoMachine edge-a-worker-0 is not for this machine");
  held.resolve();
  await stage.untilCondition("edge", "Ready", READY);
  expect(stage.provider.world.size).toBe(4);
});

test("a Vino that deletes shrinks by its newest machine, with its host first", async () => {
  await using stage = await startReady(toSpec(3, { deletionPolicy: "Delete" }));
  const { provider: cloud } = stage;
  cloud.onStep = ({ kind }) => {
    if (kind === "detach") expect(stage.listHosts()).toEqual(["edge-worker-0", "edge-worker-1"]);
  };
  stage.change("edge", { nodes: [{ name: "worker", count: 2 }] });
  await stage.untilCondition("edge", "Ready", READY);
  await until("the machine is gone", () => cloud.world.size === 2);
  await until("the status lost it", () => stage.listMachines("edge").length === 2);
  expect(stage.listMachines("edge")).toEqual(["worker-0 Ready", "worker-1 Ready"]);
  expect(stage.listHosts()).toEqual(["edge-worker-0", "edge-worker-1"]);
  const told = stage.listEvents("edge-worker-2");
  expect(told.filter((one) => one.startsWith("MachineRemoved"))).toHaveLength(1);
});

test("a Vino that retains leaves machines that it does not want, and takes them again", async () => {
  await using stage = await startReady(toSpec(3));
  const { provider: cloud } = stage;
  const ids = [...cloud.world.values()].map(({ id }) => id);
  stage.change("edge", { nodes: [{ name: "worker", count: 1 }] });
  await until("hosts are gone", () => stage.listHosts().length === 1);
  await stage.untilCondition("edge", "Ready", READY);
  await until("it is told", () =>
    stage.listEvents("edge-worker-2").some((one) => one.startsWith("MachineKept")),
  );
  expect([...cloud.world.values()].map(({ id }) => id)).toEqual(ids);
  stage.change("edge", { nodes: [{ name: "worker", count: 3 }] });
  await until("hosts are back", () => stage.listHosts().length === 3);
  expect([...cloud.world.values()].map(({ id }) => id)).toEqual(ids);
});

test("a machine whose host is in use stays until it is not", async () => {
  await using stage = await startReady(toSpec(2, { deletionPolicy: "Delete" }));
  const { provider: cloud } = stage;
  stage.consume("edge-worker-0");
  stage.consume("edge-worker-1");
  stage.change("edge", { nodes: [{ name: "worker", count: 1 }] });
  const message = await stage.untilCondition("edge", "ContractionBlocked", "True HostsInUse");
  expect(message).toContain("edge-worker-1");
  expect(cloud.world.size).toBe(2);
  stage.consume("edge-worker-1", false);
  await until("it is gone", () => cloud.world.size === 1);
  await stage.untilCondition("edge", "ContractionBlocked", "False NothingBlocked");
  expect(stage.listHosts()).toEqual(["edge-worker-0"]);
});

test("a host in error shows in the Vino and its VinoMachine with metal3's message, until it is mended", async () => {
  await using stage = await startReady(toSpec(2));
  const host = { namespace: "metal", name: "edge-worker-1" };
  breakHost(stage.kubernetes.objects, host, "Failed to inspect: boot mode");
  const message = await stage.untilCondition("edge", "HostsHealthy", "False HostsInError");
  const what = "BareMetalHost edge-worker-1: Failed to inspect: boot mode";
  expect(message).toBe(`metal3 reports an error of 1 host. ${what}`);
  const read = (): string | undefined => stage.readEntries("edge")[1]?.message;
  const own = "metal3 reports an error of its BareMetalHost: Failed to inspect: boot mode";
  await until("the VinoMachine says it", () => read() === own);
  mendHost(stage.kubernetes.objects, host);
  await stage.untilCondition("edge", "HostsHealthy", "True NoHostInError");
  await until("the VinoMachine says nothing more", () => read() === undefined);
});

test("too many removals at once wait for a person, who confirms one spec", async () => {
  await using stage = await startReady(toSpec(6, { deletionPolicy: "Delete" }));
  const { provider: cloud } = stage;
  stage.change("edge", { nodes: [{ name: "worker", count: 1 }] });
  const message = await stage.untilCondition("edge", "ContractionBlocked", "True FleetLimit");
  const generation = stage.read("edge")?.metadata.generation;
  expect(message).toContain(`landfall.dev/confirm-removal=${generation}`);
  expect(await stage.untilCondition("edge", "Ready", "False FleetLimit")).toContain(message);
  stage.annotate("edge", { "landfall.dev/confirm-removal": "1" });
  const isSaid = (): boolean =>
    stage
      .listEvents("edge")
      .some((one) => one.includes('confirm-removal is "1", but the generation'));
  await until("the wrong confirmation is said", isSaid);
  await stage.untilQuiet();
  expect(stage.read("edge")?.status?.counts).toEqual({
    wanted: 1,
    machines: 6,
    ready: 1,
    unwanted: 5,
    published: 6,
    summary: "1/1",
  });
  expect(cloud.world.size).toBe(6);
  expect(stage.listHosts()).toHaveLength(6);
  stage.annotate("edge", { "landfall.dev/confirm-removal": String(generation) });
  await until("they are gone", () => cloud.world.size === 1);
  await stage.untilCondition("edge", "Ready", READY);
});

test.each(["Retain", "Delete"] as const)(
  "a deleted Vino with the policy %s ends",
  async (deletionPolicy) => {
    await using stage = await startReady(toSpec(3, { deletionPolicy }));
    const { provider: cloud } = stage;
    stage.consume("edge-worker-1");
    await until("the use is seen", () => stage.host("edge-worker-1") !== undefined);
    stage.delete("edge");
    await stage.untilCondition("edge", "Ready", "False UnableToDecommission");
    await until("free hosts are gone", () => stage.listHosts().length === 1);
    expect(stage.listHosts()).toEqual(["edge-worker-1"]);
    const isCounted = (): boolean => stage.read("edge")?.status?.counts?.published === 1;
    await until("the last host is counted", isCounted);
    const unwanted = deletionPolicy === "Retain" ? 3 : 1;
    await until("the last machines are counted", () => {
      return stage.read("edge")?.status?.counts?.unwanted === unwanted;
    });
    expect(stage.read("edge")?.status?.counts).toMatchObject({ wanted: 0, summary: "0/0" });
    const machines = await stage.untilCondition("edge", "MachinesReady", "False Progressing");
    expect(machines).toContain("BareMetalHost edge-worker-1 is used by");
    stage.consume("edge-worker-1", false);
    await until("the Vino is gone", () => stage.read("edge") === undefined);
    expect(stage.listHosts()).toEqual([]);
    expect(cloud.world.size).toBe(deletionPolicy === "Retain" ? 3 : 0);
  },
);

test("a deleted Vino keeps more machines than may go at once until a person confirms it", async () => {
  await using stage = await startReady(toSpec(3, { deletionPolicy: "Delete" }));
  const { provider: cloud } = stage;
  stage.delete("edge", false);
  const message = await stage.untilCondition("edge", "Ready", "False UnableToDecommission");
  const generation = stage.read("edge")?.metadata.generation;
  expect(message).toStartWith(
    "The Vino is being deleted with the deletionPolicy Delete, so 3 of 3 machines would go with their disks, " +
      "and the limit is 1: Landfall removes none. To keep them, set deletionPolicy to Retain. ",
  );
  expect(message).toContain(`landfall.dev/confirm-removal=${generation}`);
  await stage.untilCondition("edge", "ContractionBlocked", "True FleetLimit");
  await stage.untilQuiet();
  expect(cloud.world.size).toBe(3);
  expect(stage.listHosts()).toHaveLength(3);
  stage.confirm("edge");
  await until("the Vino is gone", () => stage.read("edge") === undefined);
  expect(cloud.world.size).toBe(0);
  expect(stage.listHosts()).toEqual([]);
});

test("a Vino that is deleted with its namespace needs no confirmation, also if the namespace goes later", async () => {
  await using stage = await startReady(toSpec(3, { deletionPolicy: "Delete" }));
  const { objects } = stage.kubernetes;
  const path = { name: "metal" };
  objects.patch("namespaces", path, { metadata: { finalizers: ["test.example.org/kept"] } });
  stage.delete("edge", false);
  await stage.untilCondition("edge", "ContractionBlocked", "True FleetLimit");
  objects.delete("namespaces", path);
  await until("the Vino is gone", () => stage.read("edge") === undefined);
  expect(stage.provider.world.size).toBe(0);
});

test("a machine that was deleted by hand is made again, unless its host is in use", async () => {
  await using stage = await startReady(toSpec(2));
  const { provider: cloud } = stage;
  stage.consume("edge-worker-1");
  await untilInventory(cloud);
  const [free, used] = [...cloud.world.keys()].toSorted();
  const ids = new Set([...cloud.world.values()].map(({ id }) => id));
  cloud.world.delete(free ?? "");
  cloud.world.delete(used ?? "");
  await until("one is made again", () => cloud.world.size === 1);
  await stage.untilCondition("edge", "MachinesReady", "False DecisionNeeded");
  expect(stage.listMachines("edge")).toContain("worker-1 Blocked");
  expect([...cloud.world.keys()]).toEqual([free ?? ""]);
  stage.consume("edge-worker-1", false);
  await stage.untilCondition("edge", "Ready", READY);
  expect(cloud.world.size).toBe(2);
  expect([...cloud.world.values()].some(({ id }) => ids.has(id))).toBe(false);
});

test("a cloud that does not answer is said, and removes nothing", async () => {
  await using stage = await startReady(toSpec(2, { deletionPolicy: "Delete" }));
  const { provider: cloud } = stage;
  cloud.failure = new CloudError("unreachable", "connection refused");
  stage.change("edge", { nodes: [{ name: "worker", count: 3 }] });
  await stage.untilCondition("edge", "Ready", "False CloudUnreachable");
  stage.change("edge", { nodes: [{ name: "worker", count: 1 }] });
  await stage.untilQuiet();
  expect(cloud.world.size).toBe(2);
  cloud.failure = undefined;
  await until("one is gone", () => cloud.world.size === 1);
  await stage.untilCondition("edge", "Ready", READY);
});

test("a lost pool removes and makes nothing", async () => {
  await using stage = await startReady(toSpec(2));
  const { provider: cloud } = stage;
  await untilInventory(cloud);
  const world = new Map(cloud.world);
  cloud.pools = [{ ...POOL, isComplete: false }];
  cloud.hosts = [];
  cloud.world.clear();
  const calls = cloud.calls.length;
  await stage.untilCondition("edge", "Ready", "False CloudUnreachable");
  await stage.untilQuiet();
  expect(cloud.calls.slice(calls).filter((one) => !one.startsWith("look"))).toEqual([]);
  expect(stage.listHosts()).toHaveLength(2);
  for (const [name, machine] of world) cloud.world.set(name, machine);
  cloud.pools = [POOL];
  cloud.hosts = ["h1", "h2", "h3"].map((id) => toDoubleHost(id));
  await stage.untilCondition("edge", "Ready", READY);
  expect(cloud.calls.slice(calls).filter((one) => !one.startsWith("look"))).toEqual([]);
});

test("a machine that fails waits by itself, and others go on", async () => {
  await using stage = await startStage();
  const { provider: cloud } = stage;
  cloud.onStep = ({ name, kind }) => {
    if (kind === "configure" && name.endsWith("-1")) throw new CloudError("protocol", "SR is full");
  };
  stage.create("edge", toSpec(3));
  const message = await stage.untilCondition("edge", "MachinesReady", "False MachineFailure");
  expect(message).toContain("SR is full");
  await until("others are ready", () => stage.listHosts().length === 2);
  cloud.onStep = () => undefined;
  await stage.untilCondition("edge", "Ready", READY);
});

const { clusterRules } = toPolicy(
  listRights({ registry: [vinoController], controllers: new Set([NAME]), hasSecurePort: false }),
);

function listVerbs(resource: string): readonly string[] {
  const rules = clusterRules.filter(({ resources }) => resources.includes(resource));
  return rules.flatMap(({ verbs }) => verbs).toSorted();
}

test("the controller never lists, watches or deletes Secrets", () => {
  expect(listVerbs("secrets")).toEqual(["create", "get", "patch"]);
});

test("the controller writes Vinos, their hosts and pools, and deletes only hosts", () => {
  expect(listVerbs("vinoes")).toEqual(["get", "list", "patch", "watch"]);
  expect(listVerbs("vinoes/status")).toEqual(["patch"]);
  expect(listVerbs("ippools")).toEqual(["create", "list", "patch", "watch"]);
  expect(listVerbs("baremetalhosts")).toEqual([
    "create",
    "delete",
    "get",
    "list",
    "patch",
    "watch",
  ]);
});

test("the controller changes no Node, and no kind", () => {
  expect(listVerbs("nodes").filter((verb) => !["list", "watch", "get"].includes(verb))).toEqual([]);
  const resources = clusterRules.flatMap((rule) => rule.resources);
  expect(resources.filter((one) => /customresource|role|\*/.test(one))).toEqual([]);
});

const listVinoRights = (flags: FlagValues): readonly Right[] =>
  vinoController.listRights({ settings: undefined, flags });

test.each([
  ["10.0.0.7", "10.0.0.7"],
  ["fd00::7", "fd00::7"],
  // As an administrator checks it, who does not know the address of the Pod.
  ["", "10.0.0.7"],
])("vinoController allows the slice that the leader writes, with the address %p", (given, ip) => {
  const flags = {
    "vino-redfish-address": "0.0.0.0:8443",
    "vino-redfish-service": "metal/redfish",
    "vino-redfish-pod-ip": given,
  };
  const endpoint = { namespace: "metal", service: "redfish", ip, port: 8_443 };
  const { name } = toEndpointSlice(endpoint, true).metadata;
  const slices = { group: "discovery.k8s.io", resource: "endpointslices", namespace: "metal" };
  const rights = listVinoRights(flags).slice(listVinoRights({}).length);
  expect(rights.map(({ access }) => access)).toEqual([
    { ...slices, verb: "create" },
    { ...slices, name, verb: "patch" },
  ]);
  expect(rights.every(({ mandatory }) => mandatory)).toBe(true);
});

test("vinoController needs no more without the Service, or without Redfish", () => {
  const plain = listVinoRights({});
  expect(listVinoRights({ "vino-redfish-address": "0.0.0.0:8443" })).toEqual(plain);
  expect(listVinoRights({ "vino-redfish-service": "metal/redfish" })).toEqual(plain);
});

test("a Vino says that the cloud cannot make machines, gets no finalizer, and can be deleted", async () => {
  await using stage = await VinoStage.start(() => new HintingProvider());
  stage.create("edge", toVinoSpec(3));
  const message = await stage.untilCondition("edge", "Ready", "False CloudWithoutMachines");
  expect(message).toBe("The cloud test cannot make and destroy machines");
  await stage.untilCondition("edge", "MachinesReady", "False CloudWithoutMachines");
  await stage.untilQuiet();
  expect(stage.read("edge")?.metadata.finalizers ?? []).toEqual([]);
  const writes = stage.countWrites();
  stage.delete("edge");
  await until("it is gone", () => stage.read("edge") === undefined);
  expect(stage.countWrites()).toBe(writes);
});

test("a Vino that another cloud served stays, keeps its records, and says why", async () => {
  await using stage = await VinoStage.start(() => new HintingProvider());
  const { objects } = stage.kubernetes;
  stage.create("edge", toVinoSpec(1), { finalizers: ["vino.airshipit.org"] });
  const { uid = "" } = stage.read("edge")?.metadata ?? {};
  const owner = { namespace: METAL, name: "edge", uid };
  const name = toMachineName({ owner, role: "worker", index: 0 });
  const { metadata, spec } = toObject(toEntry("worker", 0, { name }), owner);
  objects.create("vinomachines", JSON.parse(JSON.stringify({ metadata, spec })));
  const path = { namespace: METAL, name: "edge-worker-0", subresource: "status" };
  objects.patch("vinomachines", path, { status: { state: "Ready", record: "vm-1" } });
  stage.delete("edge");
  await stage.untilCondition("edge", "Ready", "False UnableToDecommission");
  expect(stage.readEntries("edge")).toMatchObject([{ name, state: "Ready", record: "vm-1" }]);
});

test("a Vino with a wrong spec says what is wrong with that", async () => {
  await using stage = await VinoStage.start(() => new HintingProvider());
  stage.create("edge", { ...toVinoSpec(1), xenOrchestra: { cpus: 0 } });
  await stage.untilCondition("edge", "Ready", "False InvalidSpec");
});

test("a Vino that another program holds at its end is left alone", async () => {
  await using stage = await VinoStage.start(() => new HintingProvider());
  stage.create("edge", toVinoSpec(1), { finalizers: ["example.org/other"] });
  await stage.untilCondition("edge", "Ready", "False CloudWithoutMachines");
  const writes = stage.countWrites();
  stage.delete("edge");
  await stage.untilQuiet();
  expect(stage.countWrites()).toBe(writes);
});

/** What the registry needs to know, for flags, pages and rights. */
const OF_THE_REGISTRY = [
  "lib/controllers/vino/definition.ts",
  "lib/controllers/vino/flags.ts",
  "lib/controllers/vino/hosts/word_table.ts",
  "lib/controllers/vino/hosts/words.ts",
  "lib/controllers/vino/redfish/flags.ts",
  "lib/controllers/vino/redfish/words.ts",
  "lib/controllers/vino/resource/ip_pool.ts",
  "lib/controllers/vino/resource/vino.ts",
  "lib/controllers/vino/resource/vino_machine.ts",
  "lib/controllers/vino/rights.ts",
  "lib/controllers/vino/words.ts",
];
/** Of kinds that only this controller and sipcluster have. */
const KINDS = /vino|ippool|sipcluster|baremetalhost/i;

/** Lists the files of the program that were loaded, when the program ends. */
const LIST_LOADED = `process.on("exit", () => console.error(Object.keys(require.cache)
  .map((path) => "loaded " + path).join("\\n")));\n`;

test("a process without it loads none of its code, and asks Kubernetes for none of its objects", async () => {
  const { cloud, kubernetes, folder, kubeconfig, stop } = await startDemoServers();
  const nodes = Array.from(createDemoWorld().machines.keys());
  const [preload, settings] = [join(folder, "preload.ts"), join(folder, "settings.yaml")];
  await writeFile(preload, LIST_LOADED);
  await writeFile(settings, `url: ${cloud.url}\ntoken: ${cloud.token}\n`);
  const command = [process.execPath, "--preload", preload, join(ROOT, "main.ts")];
  const landfall = startLandfall({ name: "source", command }, [
    `--cloud-config=${settings}`,
    `--kubeconfig=${kubeconfig}`,
    "--controllers=*",
    "--secure-port=0",
    "--debug-address=127.0.0.1:0",
  ]);
  const [name = ""] = nodes;
  const spec = (): string => JSON.stringify(kubernetes.objects.getNode(name)?.["spec"]);
  await until("a Node is initialised", () => spec().includes("xenorchestra://"), 15_000);
  const { code, stderr } = await landfall.stop();
  const asked = kubernetes.requests.entries.map(({ resource }) => String(resource));
  await stop();
  expect(code).toBe(0);
  expect(asked).toContain("nodes");
  expect(asked.filter((resource) => KINDS.test(resource))).toEqual([]);
  const loaded = [...stderr.matchAll(/^loaded (.*)$/gm)].map(([, path = ""]) =>
    path.replace(`${ROOT}/`, ""),
  );
  expect(loaded).toContain("lib/controllers/node/mod.ts");
  const own = loaded.filter((path) => path.startsWith("lib/controllers/vino/"));
  expect(own.sort()).toEqual(OF_THE_REGISTRY);
  const making = loaded.filter((path) => path.startsWith("lib/providers/xenorchestra/machines/"));
  expect(making).toEqual([]);
}, 30_000);

test("* does not choose it, and no manifest of a cloud starts it or grants its rights", () => {
  expect(listOnByDefault(CONTROLLERS).map(({ name }) => name)).not.toContain(NAME);
  const further = listFurtherRights(needAll(LEASE), NAME).map(({ access }) => access.resource);
  expect(further).toEqual(expect.arrayContaining(["vinoes", "ippools", "secrets"]));
  for (const cloud of MANIFEST_CLOUDS) {
    expect(JSON.stringify(toCloudPolicy(cloud).clusterRules)).not.toMatch(KINDS);
    expect(JSON.stringify(toCloudPolicy(cloud).clusterRules)).not.toContain("secrets");
  }
  const files = [...renderFiles()].filter(([path]) =>
    /^(manifests\/(?!vino\/|sipcluster\/)|static-pod\/)/.test(path),
  );
  expect(files.length).toBeGreaterThan(8);
  for (const [path, text] of files) expect(text, path).not.toMatch(KINDS);
});

test("the chart has its rights only behind a condition that names it", () => {
  const rules = renderFiles().get("chart/templates/_rules.tpl") ?? "";
  const blocks = rules.split("{{- if ").filter((block) => /vinoes|landfall-vino\]/.test(block));
  expect(blocks.length).toBe(2);
  for (const block of blocks) expect(block).toStartWith(`or (has "${NAME}" `);
});

test("createVinoMetrics() counts changes of machines, and Vinos and machines by state", () => {
  const registry = new MetricsRegistry();
  const metrics = createVinoMetrics(registry);
  // An alert needs a rise, so the first one must be one.
  expect(registry.render()).toContain('landfall_vino_machine_changes_total{change="vanished"} 0');
  metrics.countMachine("created");
  metrics.countMachine("created");
  metrics.readFrom({
    listStates: () => ["ready", "waiting", "ready"],
    listMachineStates: () => ["Ready", "Creating", "Ready"],
  });
  const text = registry.render();
  expect(text).toContain('landfall_vino_machine_changes_total{change="created"} 2');
  expect(text).toContain('landfall_vinos{state="ready"} 2');
  expect(text).toContain('landfall_vinos{state="deleting"} 0');
  expect(text).toContain('landfall_vino_machines{state="Ready"} 2');
  expect(text).toContain('landfall_vino_machines{state="Blocked"} 0');
});
