/**
 * The life of Vinos with the provider of Xen Orchestra and a simulated Xen Orchestra behind it.
 * @module
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import type { XoRecord } from "../../../lib/simulator/xenorchestra/mod.ts";
import type { VinoDisk, VinoSpec } from "../../../lib/controllers/vino/resource/vino.ts";
import {
  type MachineEntry,
  VINO_MACHINES,
} from "../../../lib/controllers/vino/resource/vino_machine.ts";
import type { BareMetalHost } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { ROLE, USER } from "../../providers/xenorchestra/machines/rig.ts";
import { readExtent } from "../../support/extent.ts";
import { until } from "../../support/nodes/rig.ts";
import { toEntry, toObject } from "../../support/vino/known.ts";
import { METAL } from "../../support/vino/stage.ts";
import {
  startXenOrchestraStage,
  toXenOrchestraSpec,
  type XenOrchestraStage,
} from "../../support/vino/xen_orchestra_stage.ts";
import { findCondition } from "../../../lib/controllers/kinds/conditions.ts";
import { longTest } from "../../support/long_tests.ts";

const READY = "True ReconciliationSucceeded";
const TIMEOUT_MS = 20_000;
setDefaultTimeout(TIMEOUT_MS);

/** Starts with a Vino `edge` whose machines are ready. */
async function startReady(
  spec: VinoSpec,
  options?: Parameters<typeof startXenOrchestraStage>[0],
): Promise<XenOrchestraStage> {
  const rig = await startXenOrchestraStage(options);
  rig.stage.create("edge", spec);
  await rig.stage.untilCondition("edge", "Ready", READY);
  return rig;
}

/** Requests that change something. @param isOther Which routes do not count */
function countChanges(
  { simulator }: XenOrchestraStage,
  isOther: (route: string) => boolean = () => false,
): number {
  const changes = [...simulator.requests.byRoute].filter(
    ([route]) => !route.startsWith("GET ") && !isOther(route),
  );
  return changes.reduce((sum, [, count]) => sum + count, 0);
}

function listAddresses({ stage }: XenOrchestraStage): (string | undefined)[] {
  return stage.readEntries("edge").map(({ address }) => address);
}

test("three VMs are made once, published with their addresses, and then left alone", async () => {
  await using rig = await startReady(toXenOrchestraSpec(3));
  const { stage } = rig;
  expect(rig.listVms()).toEqual(["worker-0 Running", "worker-1 Running", "worker-2 Running"]);
  expect(listAddresses(rig)).toEqual(["192.0.2.10", "192.0.2.11", "192.0.2.12"]);
  expect(stage.listHosts()).toEqual(["edge-worker-0", "edge-worker-1", "edge-worker-2"]);
  expect(stage.host("edge-worker-0")).toMatchObject({
    metadata: {
      labels: {
        "vino.airshipit.org/role": "worker",
        "vino.airshipit.org/network.oam": "",
      },
    },
    spec: {
      online: false,
      externallyProvisioned: true,
      networkData: { name: "edge-worker-0-network-data" },
    },
  });
  // Who waits for a host must never see one without its place.
  const hosts: readonly BareMetalHost[] = JSON.parse(JSON.stringify(stage.hosts));
  const places = hosts.map(({ metadata: { labels = {} } }) => [
    labels["topology.kubernetes.io/zone"],
    labels["topology.k8s.xenorchestra/host_id"],
    labels["vino.airshipit.org/host"],
  ]);
  expect(places).toEqual(places.map(([zone]) => [zone, zone, zone]));
  expect(places[0]?.[0]).toBeOneOf(Object.values(rig.site.hostIds));
  const listChanges = (): object =>
    Object.fromEntries(
      [...rig.simulator.requests.byRoute].filter(([route]) => !route.startsWith("GET ")),
    );
  const changes = listChanges();
  // What writes at each inventory never gets through here.
  let writes = stage.countWrites();
  let since = rig.simulator.requests.count("GET /hosts");
  const isAtRest = (): boolean => {
    const lists = rig.simulator.requests.count("GET /hosts");
    if (stage.countWrites() !== writes) [writes, since] = [stage.countWrites(), lists];
    return lists > since + 3;
  };
  await until("several inventories came without a write", isAtRest, 15_000);
  expect(listChanges()).toEqual(changes);
  const patches = { verb: "patch", resource: "baremetalhosts" };
  expect(stage.kubernetes.requests.count(patches)).toBe(0);
  // An object says from its first moment on where its machine starts.
  expect(stage.kubernetes.requests.count({ verb: "patch", resource: "vinomachines" })).toBe(0);
});

test("a machine that waits for its first start is published with the place where it starts", async () => {
  await using rig = await startXenOrchestraStage();
  const { stage } = rig;
  await stage.stop();
  const url = "https://redfish.example.org";
  stage.setFlags({ "vino-redfish-address": "127.0.0.1:0", "vino-redfish-url": url });
  await stage.run();
  const spec = toXenOrchestraSpec(1, { boot: "Network" });
  const credentials = { username: "admin", password: "not a secret" };
  stage.create("edge", { ...spec, bmcCredentials: credentials });
  await until("the host is published", () => stage.listHosts().length === 1, 15_000);
  expect(rig.listVms()).toEqual(["worker-0 Halted"]);
  const host: BareMetalHost = JSON.parse(JSON.stringify(stage.host("edge-worker-0")));
  const { labels = {} } = host.metadata;
  expect(labels["topology.kubernetes.io/zone"]).toBeOneOf(Object.values(rig.site.hostIds));
  expect(labels["vino.airshipit.org/host"]).toBe(labels["topology.kubernetes.io/zone"]);
});

/** Room for many addresses and disks. */
function toLargeSpec({ simulator }: XenOrchestraStage, count: number): VinoSpec {
  const { state } = simulator;
  for (const sr of state.list("srs")) state.put("srs", { ...sr, size: 2 ** 50 });
  const spec = toXenOrchestraSpec(count);
  const addresses = { staticAllocationStart: "10.64.0.10", staticAllocationStop: "10.64.9.1" };
  const oam = { name: "oam", subnet: "10.64.0.0/16", ...addresses };
  return { ...spec, networks: [oam, { name: "pxe" }] };
}

// The clock is 25 times as fast as requests, so there are as many more inventories between them.
test.each(
  readExtent() === "all"
    ? [
        [20, 12],
        [100, 10],
      ]
    : [[20, 12]],
)(
  "%d machines are made, marked and started once, with few requests, although reads are as late as can be",
  async (count, requestsMax) => {
    await using rig = await startXenOrchestraStage({ lag: { minMs: 250, maxMs: 250, seed: 1 } });
    const { stage, simulator } = rig;
    stage.create("edge", toLargeSpec(rig, count));
    await stage.untilCondition("edge", "Ready", READY, 4 * TIMEOUT_MS);
    const toCounts = (...routes: readonly string[]): number[] =>
      routes.map((route) => simulator.requests.count(route));
    const made = ["POST /pools/{id}/actions/create_vm", "POST /srs/{id}/vdis", "POST /vbds"];
    expect(toCounts(...made)).toEqual([count, count, count]);
    const wrong = ["DELETE /vms/{id}", "DELETE /vdis/{id}", "POST /vifs", "POST /vdis"];
    expect(toCounts(...wrong)).toEqual([0, 0, 0, 0]);
    expect(toCounts("DELETE /vms/{id}/tags/vino%3Astart")).toEqual([count]);
    expect(rig.listVms()).toHaveLength(count);
    expect(simulator.requests.total / count).toBeLessThanOrEqual(requestsMax);
  },
  4 * TIMEOUT_MS,
);

longTest(
  "Vinos whose machines are made at the same time share what is read for them",
  async () => {
    await using rig = await startXenOrchestraStage();
    const { stage, simulator } = rig;
    // As a real one, it takes time to answer: what is asked meanwhile is asked together.
    simulator.faults.set({ kind: "delay", ms: 50 });
    const names = Array.from({ length: 6 }, (_, at) => `edge-${at}`);
    const spec = toLargeSpec(rig, 2);
    for (const name of names) stage.create(name, spec);
    for (const name of names) await stage.untilCondition(name, "Ready", READY, 4 * TIMEOUT_MS);
    expect(rig.listVms()).toHaveLength(2 * names.length);
    // Alone, each Vino needs about four of them.
    expect(simulator.requests.count("GET /vdis")).toBeLessThanOrEqual(3 * names.length);
  },
  4 * TIMEOUT_MS,
);

test("while VMs are being made, only their tasks are read, every two seconds", async () => {
  await using rig = await startXenOrchestraStage();
  const { stage, simulator } = rig;
  stage.clock.setPace(4);
  simulator.cloud.hypervisor.operationMs = 600;
  stage.create("edge", toXenOrchestraSpec(4));
  await stage.untilCondition("edge", "Ready", READY);
  const { requests } = simulator;
  expect(requests.count("GET /tasks")).toBeLessThanOrEqual(20);
  expect(requests.count("GET /vdis")).toBeLessThan(requests.count("GET /tasks"));
});

test("a Vino shrinks, grows and goes, and leaves nothing but what was there before", async () => {
  await using rig = await startXenOrchestraStage();
  const { stage } = rig;
  const before = rig.count();
  stage.create("edge", toXenOrchestraSpec(3, { deletionPolicy: "Delete" }));
  await stage.untilCondition("edge", "Ready", READY);
  stage.change("edge", { nodes: [{ ...toXenOrchestraSpec(2).nodes?.[0] }] });
  await until("one VM is gone", () => rig.listVms().length === 2, 15_000);
  await stage.untilCondition("edge", "Ready", READY);
  await until("its object is gone", () => stage.listMachines("edge").length === 2);
  expect(listAddresses(rig)).toEqual(["192.0.2.10", "192.0.2.11"]);
  stage.change("edge", { nodes: [{ ...toXenOrchestraSpec(3).nodes?.[0] }] });
  await until("there are three again", () => stage.listHosts().length === 3, 15_000);
  await stage.untilCondition("edge", "Ready", READY);
  expect(listAddresses(rig)).toEqual(["192.0.2.10", "192.0.2.11", "192.0.2.12"]);
  stage.delete("edge");
  await until("the Vino is gone", () => stage.read("edge") === undefined, 15_000);
  expect(rig.count()).toEqual(before);
  expect(stage.listHosts()).toEqual([]);
  expect(stage.listPoolOwners()).toEqual([]);
});

/** Writes a VinoMachine as a tenant could who may write them. */
function forge({ stage }: XenOrchestraStage, entry: MachineEntry, vinoUid?: string): void {
  const { uid = "" } = stage.read("edge")?.metadata ?? {};
  const owner = { namespace: METAL, name: "edge", uid: vinoUid ?? uid };
  const { metadata, spec, status } = JSON.parse(JSON.stringify(toObject(entry, owner)));
  const { objects } = stage.kubernetes;
  objects.create(VINO_MACHINES.plural, { metadata, spec });
  const path = { namespace: METAL, name: metadata.name, subresource: "status" };
  objects.patch(VINO_MACHINES.plural, path, { status });
}

longTest.each<[string, (prefix: string, victim: XoRecord) => Partial<MachineEntry>]>([
  ["has its name", (_prefix, victim) => ({ name: String(victim["name_label"]) })],
  ["has its ID", (prefix) => ({ name: `${prefix}worker-1` })],
  ["is of another number", (prefix) => ({ name: `${prefix}worker-2` })],
])(
  "a VinoMachine that %s makes nobody delete or adopt the VM of others",
  async (_what, toChange) => {
    await using rig = await startXenOrchestraStage();
    const { stage, simulator } = rig;
    const before = rig.count();
    stage.create("edge", toXenOrchestraSpec(1, { deletionPolicy: "Delete" }));
    await stage.untilCondition("edge", "Ready", READY);
    const [own] = stage.readEntries("edge");
    const prefix = own?.name.replace("worker-0", "") ?? "";
    const victim = simulator.state
      .list("vms")
      .find((vm) => !String(vm["name_label"]).startsWith("vino-"));
    if (victim === undefined) throw new Error("there are VMs of others");
    const links = simulator.state.list("vbds").filter((vbd) => vbd["VM"] === victim.id);
    const disks = links.map((vbd) => vbd["VDI"]);
    const record = { v: 1, vm: victim.id, pool: rig.site.poolIds.paris, disks, at: 1, task: "t" };
    const state = {
      state: "Removing",
      machineId: victim.id,
      record: JSON.stringify(record),
    } as const;
    const name = toEntry("worker", 1).name;
    const text = JSON.stringify(victim);
    forge(rig, { name, role: "worker", index: 1, ...state, ...toChange(prefix, victim) });
    stage.change("edge", { xenOrchestra: { memory: "5Gi" } });
    await stage.untilCondition("edge", "MachinesDiffer", "True StopNeeded");
    stage.delete("edge");
    await until("the Vino is gone", () => stage.read("edge") === undefined, 15_000);
    expect(rig.count()).toEqual(before);
    expect(JSON.stringify(simulator.state.list("vms").find(({ id }) => id === victim.id))).toBe(
      text,
    );
  },
);

test("a machine is not made while a VinoMachine of something else has the place of its record", async () => {
  await using rig = await startReady(toXenOrchestraSpec(1));
  const { stage } = rig;
  forge(rig, toEntry("worker", 1), "another");
  stage.change("edge", { nodes: [{ ...toXenOrchestraSpec(2).nodes?.[0] }] });
  const message = await stage.untilCondition("edge", "Ready", "False DecisionNeeded");
  expect(message).toContain("VinoMachine edge-worker-1 is not for this machine");
  expect(rig.listVms()).toEqual(["worker-0 Running"]);
  const path = { namespace: METAL, name: "edge-worker-1" };
  const { objects } = stage.kubernetes;
  objects.patch(VINO_MACHINES.plural, path, { metadata: { finalizers: [] } });
  objects.delete(VINO_MACHINES.plural, path);
  await stage.untilCondition("edge", "Ready", READY);
  expect(rig.listVms()).toEqual(["worker-0 Running", "worker-1 Running"]);
});

test("a VinoMachine that a person deletes stays until the Vino does not want its machine", async () => {
  await using rig = await startReady(toXenOrchestraSpec(2, { deletionPolicy: "Delete" }));
  const { stage } = rig;
  stage.kubernetes.objects.delete(VINO_MACHINES.plural, {
    namespace: METAL,
    name: "edge-worker-1",
  });
  const isTold = (): boolean =>
    stage.listEvents("edge-worker-1").some((one) => one.startsWith("DeletionWaits"));
  await until("it is told", isTold);
  expect(stage.listMachines("edge")).toEqual(["worker-0 Ready", "worker-1 Ready"]);
  expect(rig.listVms()).toHaveLength(2);
  stage.change("edge", { nodes: [{ ...toXenOrchestraSpec(1).nodes?.[0] }] });
  await until("it is gone", () => stage.listMachines("edge").length === 1, 15_000);
  expect(rig.listVms()).toEqual(["worker-0 Running"]);
});

test("VinoMachines go when the finalizer of their Vino was taken away", async () => {
  await using rig = await startReady(toXenOrchestraSpec(2));
  const { stage } = rig;
  const { objects } = stage.kubernetes;
  objects.patch("vinoes", { namespace: METAL, name: "edge" }, { metadata: { finalizers: [] } });
  stage.delete("edge");
  await until("they are gone", () => stage.listMachines("edge").length === 0, 15_000);
  expect(rig.listVms()).toHaveLength(2);
});

test("a deleted Vino that retains leaves its VMs, and their addresses stay taken", async () => {
  await using rig = await startReady(toXenOrchestraSpec(2));
  const { stage } = rig;
  const vms = rig.count();
  stage.delete("edge");
  await until("the Vino is gone", () => stage.read("edge") === undefined, 15_000);
  expect(rig.count()).toEqual(vms);
  expect(stage.listHosts()).toEqual([]);
  stage.create("edge", toXenOrchestraSpec(1));
  await stage.untilCondition("edge", "Ready", READY);
  expect(listAddresses(rig)).toEqual(["192.0.2.12"]);
});

test("CPUs change, a disk grows, and a template that does not exist is said", async () => {
  await using rig = await startReady(toXenOrchestraSpec(1));
  const { stage } = rig;
  stage.change("edge", {
    xenOrchestra: {
      disks: [
        { name: "root", size: "20Gi" },
        { name: "data", size: "8Gi", sr: "fast" },
      ],
    },
  });
  await stage.untilQuiet();
  const sizes = rig.simulator.state.list("vdis").map(({ size }) => size);
  expect(sizes).toContain(8 * 1024 ** 3);
  stage.create("other", toXenOrchestraSpec(1, { template: "nothing" }));
  const message = await stage.untilCondition("other", "MachinesReady", "False DecisionNeeded");
  expect(message).toContain("nothing");
});

test("a network that does not exist and a disk that cannot shrink wait for a person; machines stay", async () => {
  await using rig = await startXenOrchestraStage();
  const { stage, site } = rig;
  const paris = `pool "paris" (${site.poolIds.paris})`;
  stage.create("edge", toXenOrchestraSpec(1));
  await stage.untilCondition("edge", "Ready", READY);
  const isNote = (route: string): boolean => route.includes("/tags/");
  const changes = countChanges(rig, isNote);
  stage.change("edge", { xenOrchestra: { networks: { pxe: "prov-net" } } });
  const network = await stage.untilCondition("edge", "MachinesReady", "False DecisionNeeded");
  expect(network).toContain(`interface eth1: ${paris} has no network "prov-net". Correct`);
  expect(network).not.toContain("remove");
  const ready = stage.read("edge")?.status?.conditions?.find(({ type }) => type === "Ready");
  expect(ready).toMatchObject({ status: "False", message: network });
  expect(stage.listMachines("edge")).toEqual(["worker-0 Ready"]);
  const disks = [
    { name: "root", size: "19Gi" },
    { name: "data", size: "5Gi", sr: "fast" },
  ];
  stage.change("edge", { xenOrchestra: { networks: { pxe: "provisioning" }, disks } });
  const disk = await stage.untilCondition("edge", "MachinesReady", "False DecisionNeeded");
  expect(disk).toContain("disk root has 20Gi, and a disk cannot shrink to 19Gi");
  disks[0] = { name: "root", size: "20Gi" };
  stage.change("edge", { xenOrchestra: { disks } });
  await stage.untilCondition("edge", "Ready", READY);
  expect(countChanges(rig, isNote)).toBe(changes);
});

/** What the host of the only machine says: CPUs, sizes of disks in GiB, interfaces, and networks by its labels. */
function readDetails({ stage }: XenOrchestraStage): object {
  const host: BareMetalHost = JSON.parse(JSON.stringify(stage.host("edge-worker-0")));
  const { annotations = {}, labels = {} } = host.metadata;
  const text = annotations["inspect.metal3.io/hardwaredetails"];
  const { cpu, storage, nics } = JSON.parse(text ?? "null") ?? {};
  return {
    cpus: cpu?.count,
    sizes: storage?.map(({ sizeBytes }: { sizeBytes: number }) => sizeBytes / 1024 ** 3),
    nics: nics?.map(({ name }: { name: string }) => name),
    networks: Object.keys(labels).flatMap(
      (key) => /^vino\.airshipit\.org\/network\.(.*)/.exec(key)?.[1] ?? [],
    ),
  };
}

test("a disk that the spec gets is made and attached while the machine runs, and the host says so", async () => {
  await using rig = await startReady(
    toXenOrchestraSpec(1, { disks: [{ name: "root", size: "20Gi" }] }),
  );
  const { stage } = rig;
  const { vm } = findInterfaces(rig);
  stage.change("edge", {
    xenOrchestra: {
      disks: [
        { name: "root", size: "20Gi" },
        { name: "data", size: "8Gi", sr: "fast" },
      ],
    },
  });
  await stage.untilCondition("edge", "MachinesDiffer", "False NothingDiffers");
  const hasBoth = (): boolean => Bun.deepEquals(Object(readDetails(rig)).sizes, [20, 8]);
  await until("the host says what the machine has", hasBoth, 15_000);
  await stage.untilCondition("edge", "Ready", READY);
  expect(findInterfaces(rig).vm).toMatchObject({ id: vm.id, power_state: "Running" });
  expect(stage.listEvents("edge-worker-0").join("\n")).toMatch(
    /MachineChanged .*: add disk data to vino-\w+-worker-0/,
  );
});

test("a host says which disks its machine has from its template", async () => {
  await using rig = await startReady(toXenOrchestraSpec(1, { disks: [] }));
  expect(readDetails(rig)).toMatchObject({ sizes: [10] });
});

test("a host says what its machine has now, and nothing any more that metal3 has read", async () => {
  await using rig = await startXenOrchestraStage();
  const { stage, simulator } = rig;
  const spec = toXenOrchestraSpec(1);
  const [worker] = spec.nodes ?? [];
  const interfaces = worker?.networkInterfaces ?? [];
  stage.create("edge", {
    ...spec,
    nodes: [{ ...worker, name: "worker", networkInterfaces: interfaces.slice(0, 1) }],
  });
  await stage.untilCondition("edge", "Ready", READY);
  const before = { cpus: 4, sizes: [20, 5], nics: ["eth0"], networks: ["oam"] };
  expect(readDetails(rig)).toEqual(before);
  // A network that does not exist is no network of the machine.
  stage.change("edge", {
    nodes: [{ ...worker, networkInterfaces: interfaces }],
    xenOrchestra: { networks: { pxe: "prov-net" } },
  });
  await stage.untilCondition("edge", "MachinesReady", "False DecisionNeeded");
  await stage.untilQuiet();
  expect(readDetails(rig)).toEqual(before);
  const disks = [
    { name: "root", size: "20Gi" },
    { name: "data", size: "8Gi", sr: "fast" },
  ];
  stage.change("edge", { xenOrchestra: { networks: { pxe: "provisioning" }, cpus: 8, disks } });
  await stage.untilQuiet();
  expect(readDetails(rig)).toEqual(before);
  const vm = simulator.state
    .list("vms")
    .find(({ name_label: name }) => String(name).endsWith("-worker-0"));
  simulator.state.setPower(vm?.id ?? "", "Halted");
  const after = { cpus: 8, sizes: [20, 8], nics: ["eth0", "eth1"], networks: ["oam", "pxe"] };
  const isAfter = (): boolean => Bun.deepEquals(readDetails(rig), after);
  await until("the host says what the machine has now", isAfter, 15_000);
  stage.kubernetes.objects.patch(
    "baremetalhosts",
    { namespace: "metal", name: "edge-worker-0" },
    { metadata: { annotations: { "inspect.metal3.io/hardwaredetails": null } } },
  );
  stage.change("edge", { xenOrchestra: { cpus: 2 } });
  await until("the CPUs have changed", () => {
    const now = simulator.state.read("vms", vm?.id ?? "");
    return JSON.stringify(now?.["CPUs"]).includes("2");
  });
  await stage.untilQuiet();
  expect(readDetails(rig)).toMatchObject({ cpus: undefined, networks: ["oam", "pxe"] });
});

test("a pool that is lost while VMs are made loses none of them and makes none twice", async () => {
  await using rig = await startXenOrchestraStage();
  const { stage, simulator, site } = rig;
  const before = rig.count();
  stage.create("edge", toXenOrchestraSpec(3, { deletionPolicy: "Delete" }));
  await until("a VM is there", () => rig.listVms().length > 0, 15_000);
  simulator.state.losePool(site.poolIds.paris, {});
  await stage.clock.sleep(25_000, AbortSignal.timeout(10_000));
  simulator.state.restorePool(site.poolIds.paris);
  await stage.untilCondition("edge", "Ready", READY, 25_000);
  expect(rig.listVms()).toHaveLength(3);
  expect(rig.count()["vm-templates"]).toBe(before["vm-templates"]);
}, 40_000);

test.each(["Retain", "Delete"] as const)(
  "a Vino whose machines were never begun gives their addresses back, with the policy %s",
  async (deletionPolicy) => {
    await using rig = await startXenOrchestraStage();
    const { stage } = rig;
    stage.create("edge", toXenOrchestraSpec(2, { template: "nothing", deletionPolicy }));
    await stage.untilCondition("edge", "MachinesReady", "False DecisionNeeded");
    expect(stage.listPoolOwners()).toHaveLength(2);
    stage.change("edge", { nodes: [{ ...toXenOrchestraSpec(1).nodes?.[0] }] });
    await until("one address is free", () => stage.listPoolOwners().length === 1);
    stage.delete("edge");
    await until("the Vino is gone", () => stage.read("edge") === undefined, 15_000);
    expect(stage.listPoolOwners()).toEqual([]);
  },
);

test("a Vino that retains ends although a role hides its VMs, and names what stays", async () => {
  await using rig = await startXenOrchestraStage({ users: [{ ...USER, privileges: ROLE }] });
  const { stage, simulator } = rig;
  stage.create("edge", toXenOrchestraSpec(2, { pool: rig.site.poolIds.paris }));
  await stage.untilCondition("edge", "Ready", READY);
  const hiding = ROLE.map((one) =>
    one.resource === "vm" && one.action === "read"
      ? { ...one, selector: "name_label:database" }
      : one,
  );
  simulator.auth.setPrivileges(USER.username, hiding);
  await stage.untilCondition("edge", "Ready", "False DecisionNeeded");
  stage.delete("edge");
  await until("the Vino is gone", () => stage.read("edge") === undefined, 15_000);
  expect(rig.listVms()).toEqual(["worker-0 Running", "worker-1 Running"]);
  expect(stage.listPoolOwners()).toHaveLength(2);
  expect(stage.listHosts()).toEqual([]);
  const listEnds = (): string[] =>
    stage.listEvents("edge").filter((one) => /^(MachineKept|Unable)/.test(one));
  await until("an Event says what stays", () => listEnds().length > 0, 15_000);
  expect(listEnds()).toEqual([
    expect.stringMatching(/^MachineKept The Vino ends\. .*: vino-\w+-worker-0, vino-\w+-worker-1$/),
  ]);
});

test("a host that gets the tag of a Vino gets its machines with the next inventory", async () => {
  await using rig = await startXenOrchestraStage();
  const { stage, simulator, site } = rig;
  const hosts = { tags: ["vino"] };
  stage.create("edge", toXenOrchestraSpec(1, { countPer: "Host", hosts }));
  const message = await stage.untilCondition("edge", "Ready", "False HostsNotFound");
  expect(message).toContain('pool paris shows no host with tag "vino"');
  const id = site.hostIds["xcp-par-2"];
  simulator.state.put("hosts", { ...simulator.state.read("hosts", id), id, tags: ["vino"] });
  await stage.untilCondition("edge", "Ready", READY);
  expect(rig.listVms()).toEqual(["worker-0 Running"]);
});

/** The only VM, and its interfaces. */
function findInterfaces({ simulator: { state } }: XenOrchestraStage): {
  readonly vm: XoRecord;
  readonly vifs: readonly XoRecord[];
} {
  const vm = state.list("vms").find((one) => String(one["name_label"]).endsWith("worker-0"));
  if (vm === undefined) throw new Error("Cannot test: there is no VM");
  return { vm, vifs: [...state.list("vifs")].filter((one) => one["$VM"] === vm.id) };
}

const listMacs = (rig: XenOrchestraStage): string[] =>
  findInterfaces(rig)
    .vifs.map((one) => String(one["MAC"]))
    .toSorted();

/** What a person does to the interface of a device: removes it, or makes it again with another address. */
function editInterface(rig: XenOrchestraStage, device: string, mac?: string): void {
  const { state } = rig.simulator;
  const { vm, vifs } = findInterfaces(rig);
  const old = vifs.find((one) => String(one["device"]) === device);
  if (old === undefined) throw new Error("Cannot edit: there is no interface");
  state.remove("vifs", old.id);
  const rest = vifs.filter((one) => one !== old).map(({ id }) => id);
  const id = `${old.id.slice(0, -4)}beef`;
  if (mac !== undefined) state.put("vifs", { ...old, id, uuid: id, MAC: mac });
  state.put("vms", { ...vm, VIFs: mac === undefined ? rest : [...rest, id] });
}

test(
  "an interface that a person removed comes back, and one that a person changed is said until it is removed",
  async () => {
    await using rig = await startReady(toXenOrchestraSpec(1));
    const { stage } = rig;
    const macs = listMacs(rig);
    editInterface(rig, "1");
    await until("the interface is back", () => listMacs(rig).length === macs.length, 15_000);
    expect(listMacs(rig)).toEqual(macs);
    editInterface(rig, "0", "02:00:00:00:be:ef");
    await stage.untilCondition("edge", "MachinesDiffer", "True PersonNeeded");
    const { conditions = [] } = stage.read("edge")?.status ?? {};
    const differ = conditions.find(({ type }) => type === "MachinesDiffer");
    expect(differ?.message).toContain("02:00:00:00:be:ef");
    expect(differ?.message).toContain("Landfall then adds the one that the spec asks for");
    await stage.untilCondition("edge", "Ready", READY);
    editInterface(rig, "0");
    await stage.untilCondition("edge", "MachinesDiffer", "False NothingDiffers");
    expect(listMacs(rig)).toEqual(macs);
  },
  2 * TIMEOUT_MS,
);

test("a host with an address that no interface has is named until it is deleted, also while its VM waits", async () => {
  await using rig = await startReady(toXenOrchestraSpec(1));
  const { stage } = rig;
  stage.change("edge", { xenOrchestra: { cpus: 3 } });
  await stage.untilCondition("edge", "MachinesDiffer", "True StopNeeded");
  const { objects } = stage.kubernetes;
  const path = { namespace: "metal", name: "edge-worker-0" };
  const wrong = "02:00:00:00:be:ef";
  objects.patch("baremetalhosts", path, { spec: { bootMACAddress: wrong } });
  const message = await stage.untilCondition("edge", "MachinesDiffer", "True PersonNeeded");
  const what = `BareMetalHost edge-worker-0 has the bootMACAddress ${wrong}`;
  expect(message).toContain(`${what}, and no interface of its machine has it: delete`);
  expect(message).toContain("must be shut down to change CPUs");
  const [machine] = stage.readEntries("edge");
  expect(machine?.message).toContain(what);
  const isTold = (): boolean =>
    stage.listEvents("edge-worker-0").some((one) => one.startsWith(`HostDiffers ${what}`));
  await until("the Event is there", isTold);
  objects.delete("baremetalhosts", path);
  await stage.untilCondition("edge", "MachinesDiffer", "True StopNeeded");
});

longTest(
  "a storage that is too small is said, also between attempts, until the spec asks for less",
  async () => {
    await using rig = await startXenOrchestraStage();
    const { stage } = rig;
    const disks = (size: string): readonly VinoDisk[] => [
      { name: "root", size: "20Gi" },
      { name: "data", size, sr: "fast" },
    ];
    stage.create("edge", toXenOrchestraSpec(2, { disks: disks("9000Gi") }));
    const message = await stage.untilCondition("edge", "Ready", "False MachineFailure");
    expect(message).toContain("could not create");
    expect(message).toContain("SR_BACKEND_FAILURE_44");
    const said = new Set<string>();
    const since = stage.clock.monotonic();
    const isOver = (): boolean => {
      const { conditions = [] } = stage.read("edge")?.status ?? {};
      for (const { type, reason } of conditions) if (type.endsWith("Ready")) said.add(reason);
      return stage.clock.monotonic() >= since + 120_000;
    };
    await until("several inventories and attempts are over", isOver, 15_000);
    expect([...said]).toEqual(["MachineFailure"]);
    const isWarned = (one: string): boolean => one.startsWith("MachineFailure Xen Orchestra could");
    for (const index of [0, 1]) {
      expect(stage.listEvents(`edge-worker-${index}`).filter(isWarned)).toHaveLength(1);
    }
    stage.change("edge", { xenOrchestra: { disks: disks("5Gi") } });
    await stage.untilCondition("edge", "Ready", READY);
    expect(rig.listVms()).toEqual(["worker-0 Running", "worker-1 Running"]);
  },
);

test("a role that hides the pools is named as that, and not as a pool that is not connected", async () => {
  const privileges = ROLE.filter(({ resource }) => resource !== "pool");
  await using rig = await startXenOrchestraStage({ users: [{ ...USER, privileges }] });
  rig.stage.create("edge", toXenOrchestraSpec(1));
  const message = await rig.stage.untilCondition("edge", "Ready", "False PoolNotFound");
  expect(message).toBe(
    `The cloud shows VMs of pool ${rig.site.poolIds.paris}, but not the pool. Connect the pool, ` +
      "or give the user of Landfall the privileges pool read and host read",
  );
});

longTest(
  "a disk that a person renames is named again if the role may, and otherwise said until it is",
  async () => {
    await using rig = await startReady(toXenOrchestraSpec(1), {
      users: [{ ...USER, privileges: ROLE }],
    });
    const { stage, simulator } = rig;
    const { state, auth } = simulator;
    const findDisk = (): XoRecord | undefined =>
      state.list("vdis").find((one) => String(one["name_description"]).endsWith("disk=data"));
    const name = String(findDisk()?.["name_label"]);
    const rename = (name_label: string): void => {
      const id = findDisk()?.id ?? "";
      state.put("vdis", { ...findDisk(), id, name_label });
      // Only the list of VMs leads to a look.
      const { vm } = findInterfaces(rig);
      state.put("vms", { ...vm, blockedOperations: {} });
    };
    rename("mine");
    const message = await stage.untilCondition("edge", "MachinesDiffer", "True PersonNeeded");
    expect(message).toContain(
      `is called "mine", and the user of Landfall has no right to rename it: name it ${name} again`,
    );
    const since = stage.clock.monotonic();
    await until("inventories came", () => stage.clock.monotonic() > since + 120_000);
    expect(await stage.untilCondition("edge", "MachinesDiffer", "True PersonNeeded")).toBe(message);
    await stage.untilCondition("edge", "Ready", READY);
    expect(simulator.requests.count("PATCH /vdis/{id}")).toBe(1);
    rename(name);
    await stage.untilCondition("edge", "MachinesDiffer", "False NothingDiffers");
    auth.setPrivileges(USER.username);
    rename("mine");
    await until("it is named again", () => findDisk()?.["name_label"] === name);
    await stage.untilCondition("edge", "MachinesDiffer", "False NothingDiffers");
  },
);

longTest(
  "a VM that a person deletes while others are made vanished, and its host did not",
  async () => {
    await using rig = await startReady(toXenOrchestraSpec(1));
    const { stage, simulator } = rig;
    const { vm } = findInterfaces(rig);
    simulator.cloud.hypervisor.operationMs = 3_000;
    stage.change("edge", { nodes: [{ ...toXenOrchestraSpec(30).nodes?.[0] }] });
    const isFull = (): boolean =>
      simulator.requests.count("POST /pools/{id}/actions/create_vm") >= 21;
    await until("as many are made as may be at once", isFull, 15_000);
    simulator.state.removeVm(vm.id, "go");
    const listWorkers = (): string[] => stage.listMachines("edge").slice(0, 1);
    await until("the status shows it", () => listWorkers()[0] !== "worker-0 Ready", 15_000);
    simulator.cloud.hypervisor.operationMs = 0;
    await stage.untilCondition("edge", "Ready", READY, 2 * TIMEOUT_MS);
    await until("an Event says so", () => listEvents(rig).includes("MachineVanished"));
    expect(listEvents(rig).filter((one) => one.endsWith("Vanished"))).toEqual(["MachineVanished"]);
  },
  3 * TIMEOUT_MS,
);

const SPEC = toXenOrchestraSpec(2);

function read({ stage }: XenOrchestraStage, type: string): string {
  return findCondition(stage.read("edge")?.status, type)?.message ?? "";
}

function listEvents({ stage }: XenOrchestraStage): string[] {
  return stage.kubernetes.objects.list("events").map((one) => String(one["reason"]));
}

test("another subnet leaves machines as they are, and all conditions say so", async () => {
  await using rig = await startReady(SPEC);
  const { stage } = rig;
  const [oam, ...others] = SPEC.networks ?? [];
  const moved = {
    ...oam,
    name: "oam",
    subnet: "198.51.100.0/24",
    staticAllocationStart: "198.51.100.10",
    staticAllocationStop: "198.51.100.99",
    routes: [],
  };
  stage.change("edge", { networks: [moved, ...others] });
  await stage.untilCondition("edge", "Ready", "False AddressesDiffer");
  await stage.untilCondition("edge", "MachinesDiffer", "True PersonNeeded");
  expect(read(rig, "MachinesReady")).toMatch(
    /^2 of 2 machines are complete\. .*eth0 of vino-\w+-worker-0 has 192\.0\.2\.10, but .*back to 192\.0\.2\.0\/24/,
  );
  expect(read(rig, "HostsPublished")).toStartWith("All 2 complete machines have a BareMetalHost");
  stage.change("edge", { networks: [...(SPEC.networks ?? [])] });
  await stage.untilCondition("edge", "Ready", READY);
  await stage.untilCondition("edge", "MachinesDiffer", "False NothingDiffers");
  await until("an Event says so", () => listEvents(rig).includes("AddressesDiffer"));
  expect(listEvents(rig).filter((one) => one === "AddressesDiffer")).toHaveLength(1);
  expect(rig.listVms()).toEqual(["worker-0 Running", "worker-1 Running"]);
});

const { xenOrchestra } = SPEC;
const RENAMED = [{ name: "os", size: "20Gi" }, ...(xenOrchestra?.disks ?? []).slice(1)];

test.each<[string, VinoSpec["xenOrchestra"], string]>([
  ["pool", { ...xenOrchestra, pool: "lyon" }, "is in pool paris, but xenOrchestra.pool wants lyon"],
  [
    "name of a disk",
    { ...xenOrchestra, disks: RENAMED },
    "but the machine has disk root, which the spec does not name",
  ],
])(
  "another %s leaves machines as they are, and says what they have",
  async (_what, changed, message) => {
    await using rig = await startReady(SPEC);
    const { stage } = rig;
    stage.change("edge", { ...(changed && { xenOrchestra: changed }) });
    await stage.untilCondition("edge", "MachinesDiffer", "True PersonNeeded");
    expect(read(rig, "MachinesDiffer")).toContain(message);
    stage.change("edge", { ...(xenOrchestra && { xenOrchestra }) });
    await stage.untilCondition("edge", "MachinesDiffer", "False NothingDiffers");
    expect(rig.listVms()).toEqual(["worker-0 Running", "worker-1 Running"]);
  },
);

test("an IPPool that a user deletes is made again, and one Warning says so", async () => {
  await using rig = await startReady(SPEC);
  const { objects } = rig.stage.kubernetes;
  const owners = rig.stage.listPoolOwners();
  for (const { metadata } of objects.list("ippools")) {
    objects.delete("ippools", { namespace: "kube-system", name: metadata.name });
  }
  await until("the pool is there again", () => objects.list("ippools").length === 1, 15_000);
  await until("an Event says so", () => listEvents(rig).includes("IPPoolVanished"), 15_000);
  expect(rig.stage.listPoolOwners()).toEqual(owners);
  expect(listEvents(rig).filter((one) => one === "IPPoolVanished")).toHaveLength(1);
});
