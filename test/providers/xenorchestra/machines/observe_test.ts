/**
 * What an observation shows and costs, what it does when an answer is missing, and what refusals and changes say.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import {
  type Places,
  observe,
} from "../../../../lib/providers/xenorchestra/machines/observe/observe.ts";
import {
  type Effect,
  OwnChanges,
  toChanged,
  toGone,
  withoutText,
  withText,
} from "../../../../lib/providers/xenorchestra/machines/wire/own_changes.ts";
import { MachinesApi } from "../../../../lib/providers/xenorchestra/machines/wire/machines_api.ts";
import { toVbd, toVdi } from "../../../../lib/simulator/xenorchestra/world/storage.ts";
import { putAttachment } from "../../../../lib/simulator/xenorchestra/writes/disks.ts";
import { XenOrchestraApi } from "../../../../lib/providers/xenorchestra/client.ts";
import { Session } from "../../../../lib/providers/xenorchestra/session/session.ts";
import { toDeps, toSettings } from "../fake_server.ts";
import { OWNER, Rig } from "./rig.ts";
import {
  type ResourceLists,
  toDisk,
  toMacs,
  toResources,
  toTasks,
} from "../../../../lib/providers/xenorchestra/machines/observe/resources.ts";
import { AROUND, GIB, HOST, NAME, POOL, toCompleteVm, toVm } from "./scene.ts";
import { toInstance } from "../../../../lib/providers/xenorchestra/inventory.ts";
import {
  findShown,
  isComplete,
  readVms,
  toHost,
  toInventoryObservation,
  toVmsObservation,
} from "../../../../lib/providers/xenorchestra/machines/observe/observation.ts";
import type { Coverage } from "../../../../lib/cloud/inventory/inventory.ts";
import {
  type PoolsQuestion,
  provePools,
} from "../../../../lib/providers/xenorchestra/machines/observe/pools_proof.ts";
import type { Reply } from "../../../../lib/cloud_http/client.ts";
import {
  ChangeRefusal,
  isAlready,
  toRefusal,
} from "../../../../lib/providers/xenorchestra/machines/wire/changes.ts";
import {
  FOLLOWED,
  type RawVdi,
} from "../../../../lib/providers/xenorchestra/machines/wire/objects.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { decode } from "../../../../lib/cloud_http/decode.ts";

const signal = new AbortController().signal;
let rig: Rig;

async function look(count: number): ReturnType<typeof observe> {
  const deps = toDeps();
  const { url, token } = rig.simulator;
  const settings = toSettings(url, { token });
  const session = new Session(settings, deps);
  const own = new OwnChanges(deps.clock);
  const api = new MachinesApi(new XenOrchestraApi(session, deps.metrics), session, own);
  const inventory = await rig.provider.listInventory([], signal);
  const machines = Array.from({ length: count }, (_, index) => ({
    owner: OWNER,
    role: "worker",
    index,
  }));
  const listPlaces = async (both: AbortSignal): Promise<Places> => ({
    storages: (await api.list("srs", both)).objects,
    networks: (await api.list("networks", both)).objects,
  });
  return await observe(
    {
      api,
      clock: deps.clock,
      settings,
      own,
      inventory,
      readUser: async () => ({ id: "me", blind: [] }),
      listPlaces,
    },
    machines,
    signal,
  );
}

async function count(machines: number): Promise<number> {
  await look(machines);
  rig.simulator.requests.reset();
  await look(machines);
  // Without the inventory of this test.
  return rig.simulator.requests.total - 4;
}

/** A disk with the name of one of a machine, attached to a VM of others, or to what is not shown. Returns its ID. */
function putDisk(name: string, vmName?: string): string {
  const { state } = rig.simulator;
  const [sr] = state.all("srs").values();
  const vm = [...state.all("vms").values()].find((one) => one["name_label"] === vmName);
  if (sr === undefined) throw new Error("Cannot test: there is no storage");
  const vdi = { ...toVdi({ id: state.nextId("vdi"), name, sr, sizeBytes: 1 }), $VBDs: ["gone"] };
  state.put("vdis", vmName === undefined ? vdi : { ...vdi, $VBDs: [] });
  const held = state.all("vdis").get(vdi.id);
  if (vm && held) putAttachment(state, toVbd({ id: "link", vm, vdi: held, position: "7" }));
  return vdi.id;
}

describe("look", () => {
  beforeEach(async () => {
    rig = await Rig.start();
  });
  afterEach(() => rig.stop());

  test("observe() needs as many requests for a hundred machines as for one", async () => {
    const one = await count(1);
    expect(await count(100)).toBe(one);
    expect(one).toBeLessThanOrEqual(14);
  });

  test("observe() shows templates, storages and networks, and that all pools answer", async () => {
    const cloud = await look(1);
    expect(cloud.gap).toBeUndefined();
    expect(cloud.pools.map(({ isComplete }) => isComplete)).toEqual([true, true]);
    expect(cloud.resources?.templates.length).toBeGreaterThan(2);
    expect(cloud.resources?.storages.length).toBeGreaterThan(2);
    expect(cloud.resources?.userId).toBe("me");
  });

  test("observe() finds disks that are attached to nothing that is shown", async () => {
    const [vm] = rig.simulator.state.all("vms").values();
    const name = `vino-${OWNER.uid.slice(0, 8)}-worker-0`;
    const adrift = [putDisk(`${name}.:left`), putDisk(`${name}-cidata`)];
    putDisk(`vino-${OWNER.uid.slice(0, 8)}-worker-1.root`);
    putDisk(`${name}.root`, String(vm?.["name_label"]));
    const { resources } = await look(1);
    expect(resources?.adrift.map(({ id }) => id)).toEqual(adrift);
    expect(resources?.orphans).toEqual([]);
  });

  test("observe() says which pool was lost", async () => {
    rig.simulator.state.dropPool(rig.site.poolIds.lyon);
    const cloud = await look(1);
    expect(cloud.gap).toBeDefined();
  });

  test("observe() fails if one list fails", async () => {
    rig.simulator.faults.set({ kind: "status", status: 500 }, { route: "GET /srs" });
    await expect(look(1)).rejects.toBeInstanceOf(CloudError);
  });

  test("observe() sees no tasks without a right to them", async () => {
    rig.simulator.faults.set({ kind: "status", status: 403 }, { route: "GET /tasks" });
    const cloud = await look(1);
    expect(cloud.resources).toBeDefined();
    expect(cloud.resources?.tasks).toBeUndefined();
  });
});

const NONE: ResourceLists = {
  user: { blind: [] },
  pools: [],
  templates: [],
  tasks: undefined,
  storages: [],
  networks: [],
  vifs: [],
  links: [],
  disks: [],
  adrift: [],
  unnamable: new Set(),
  begun: new Set(),
  noteUnused: () => new Map(),
  noteIdle: () => new Map(),
};
const raw = { id: "d", name_label: "vino-1b4e28ba-a-0.root", size: 5, $SR: "s", $pool: "p" };

describe("toResources()", () => {
  test("sorts interfaces by device, and finds addresses in any case", () => {
    const vifs = ["10", "2"].map((device) => ({
      id: device,
      $VM: "v",
      $network: "n",
      $pool: "p",
      device,
      MAC: "02:00:00:00:00:AB",
    }));
    const resources = toResources({ ...NONE, vifs });
    expect(resources.vifs.get("v")?.map(({ device }) => device)).toEqual(["2", "10"]);
    expect(resources.macs.get("02:00:00:00:00:ab")).toHaveLength(2);
  });

  test("finds disks of links, and those of our names without links", () => {
    const disks = [
      { ...raw, $VBDs: ["l"] },
      { ...raw, id: "loose" },
      { ...raw, id: "foreign", name_label: "backup" },
    ];
    const links = [
      { id: "l", VM: "v", VDI: "d", position: "1" },
      { id: "m", VM: "v", VDI: "hidden", position: "0" },
      { id: "n", VM: "v", position: "3", is_cd_drive: true },
    ];
    const resources = toResources({ ...NONE, disks, links });
    expect(resources.attached.get("v")).toEqual([
      { linkId: "m", position: "0", isCd: false, diskId: "hidden" },
      {
        linkId: "l",
        position: "1",
        isCd: false,
        diskId: "d",
        disk: toDisk({ ...raw, $VBDs: ["l"] }),
      },
      { linkId: "n", position: "3", isCd: true },
    ]);
    expect(resources.orphans.map(({ id }) => id)).toEqual(["loose"]);
  });

  test.each([
    ["a shared one", { shared: true, $container: "p" }, { isUsable: true }],
    ["a local one", { shared: false, $container: "h" }, { hostId: "h", isUsable: true }],
    ["one for images", { content_type: "iso" }, { isUsable: false }],
    ["a drive", { SR_type: "udev" }, { isUsable: false }],
    ["one in maintenance", { inMaintenanceMode: true }, { isUsable: false }],
    ["a thick one", { allocationStrategy: "thick" }, { isThick: true }],
    ["a full one", { size: 5, physical_usage: 9 }, { freeBytes: 0 }],
    ["one without sizes", { size: null }, { isThick: false }],
  ])("describes %s", (_what, over, wanted) => {
    const { storages } = toResources({ ...NONE, storages: [{ id: "s", $pool: "p", ...over }] });
    expect(storages).toMatchObject([wanted]);
    expect(storages[0]).not.toHaveProperty("freeBytes", -4);
  });

  test("says nothing about tasks and the user that it does not know", () => {
    expect(toResources(NONE)).not.toHaveProperty("tasks");
    expect(toResources(NONE)).not.toHaveProperty("userId");
    expect(toResources({ ...NONE, tasks: [], user: { id: "u", blind: [] } })).toMatchObject({
      userId: "u",
    });
  });

  test("keeps names and default storages of pools", () => {
    const pools = [{ id: "p", name_label: "paris", default_SR: "s" }, { id: "q" }];
    expect([...toResources({ ...NONE, pools }).pools.values()]).toEqual([
      { id: "p", name: "paris", defaultStorageId: "s" },
      { id: "q", name: "q" },
    ]);
  });
});

test("toTasks() sorts tasks by name, the newest first", () => {
  const named = (id: string, name_label: unknown, rest: object = {}) => ({
    id,
    status: "success",
    properties: { args: { name_label, template: "t" } },
    ...rest,
  });
  const tasks = toTasks([
    named("0a", "x", { status: "failure", end: 5, result: { code: "C", message: "M" } }),
    named("0b", "x", { result: { id: "vm" } }),
    named("0c", "y", { status: "odd" }),
    named("0d", 7),
    { id: "0e", status: "pending" },
  ]);
  expect(tasks.get("x")).toEqual([
    { id: "0b", status: "success", template: "t", vmId: "vm" },
    { id: "0a", status: "failure", template: "t", endMs: 5, error: "M" },
  ]);
  // What is not known may run.
  expect(tasks.get("y")).toEqual([{ id: "0c", status: "pending", template: "t" }]);
  expect(tasks.size).toBe(2);
});

const toVif = (id: string, vmId: string | undefined, mac: string, device: string | number = 0) => ({
  id,
  MAC: mac,
  device,
  ...(vmId !== undefined && { $VM: vmId }),
});

test("toMacs() lists all addresses, and says which ones our machines have", () => {
  const vms = [
    toCompleteVm(),
    toVm({ id: "vm-2", description: "vino uid=x role=worker index=0" }),
    toVm({ id: "vm-3", description: "" }),
    toVm({ id: "vm-4", name: "copy" }),
  ];
  const vifs = [
    toVif("a", "vm-1", "02:00:00:00:00:0A", "1"),
    toVif("b", "vm-2", "02:00:00:00:00:02"),
    toVif("c", "vm-3", "02:00:00:00:00:03"),
    toVif("d", "vm-4", "02:00:00:00:00:04"),
    toVif("e", "other", "02:00:00:00:00:05"),
    toVif("f", undefined, "02:00:00:00:00:06"),
    toVif("g", "template-1", "02:00:00:00:00:07"),
  ];
  expect(toMacs({ vifs, vms, templates: [{ id: "template-1" }] })).toEqual([
    { mac: "02:00:00:00:00:0a", machine: { name: NAME, device: 1 } },
    { mac: "02:00:00:00:00:02" },
    { mac: "02:00:00:00:00:03" },
    { mac: "02:00:00:00:00:04" },
    { mac: "02:00:00:00:00:05" },
    { mac: "02:00:00:00:00:06" },
  ]);
});

const NOTHING = { hosts: [], pools: [], ...AROUND };

test("toVmsObservation() tells machines from copies with other names", () => {
  const vms = [toVm(), toVm({ id: "vm-2" }), toVm({ id: "vm-3", name: "copy" })];
  const cloud = toVmsObservation({ ...NOTHING, vms });
  expect([...cloud.machines].map(([name, some]) => [name, some.length])).toEqual([[NAME, 2]]);
  expect(cloud.strays.map(({ id }) => id)).toEqual(["vm-3"]);
  expect(findShown(cloud, toVm({ id: "vm-2" }))?.id).toBe("vm-2");
  expect(findShown(cloud, toVm({ id: "vm-9" }))).toBeUndefined();
});

test.each([
  ["runs", { power: "running", hostId: "host-2" }, "host-2"],
  ["is off", { power: "stopped" }, HOST],
] as const)(
  "toVmsObservation() says where a machine is or will be that %s",
  (_what, vm, hostId) => {
    const raw = { id: "vm-1", $pool: POOL, ...(vm.power === "running" && { $container: hostId }) };
    const power_state = vm.power === "running" ? "Running" : "Halted";
    const instance = toInstance({ ...raw, power_state }, AROUND.surroundings, AROUND.settings);
    const instances = new Map([["vm-1", instance]]);
    const cloud = toVmsObservation({ ...NOTHING, instances, vms: [toCompleteVm(vm)] });
    expect(cloud.machines.get(NAME)).toMatchObject([
      {
        name: NAME,
        id: "vm-1",
        isComplete: true,
        poolId: POOL,
        cpus: 2,
        firmware: "bios",
        ...vm,
        memoryBytes: 4 * GIB,
        firstHostId: HOST,
        instance: { zone: hostId, labels: { "topology.k8s.xenorchestra/host_id": hostId } },
      },
    ]);
  },
);

test("isComplete() needs the last tag", () => {
  expect(isComplete(toVm({ tags: ["vino"] }))).toBe(false);
  expect(isComplete(toVm({ tags: ["vino:ready=x"] }))).toBe(true);
});

test("toHost() takes a host for enabled unless it says otherwise", () => {
  expect(toHost({ id: "h" })).toEqual({
    id: "h",
    name: "h",
    poolId: "",
    tags: [],
    isEnabled: true,
  });
  expect(toHost({ id: "h", enabled: false }).isEnabled).toBe(false);
});

const ID = "5be2b0ce-0000-4000-8000-000000000001";
const LISTING = {
  origin: {},
  source: {},
  inventory: {
    observedAtMs: 7,
    instances: new Map(),
    coverage: new Map([
      ["p", { complete: true, name: "paris" }],
      ["q", { complete: false }],
    ]),
    undecodable: new Map(),
  },
  vms: [
    { id: ID, $pool: "p", name_label: "vino-1b4e28ba-a-0", tags: ["vino:ready=x"] },
    { id: ID, $pool: "p", name_label: "web" },
    { id: ID, $pool: "p" },
  ],
  surroundings: {
    pools: new Map(),
    hosts: new Map([["h", { id: "h", $pool: "p", name_label: "xcp", enabled: false }]]),
  },
};

test("toInventoryObservation() shows what the last inventory showed, and is not for a change", () => {
  const cloud = toInventoryObservation(LISTING, readVms(LISTING.vms), AROUND.settings, 9);
  expect(cloud).toMatchObject({ observedAtMs: 7, atMs: 9, isForChange: false });
  expect(cloud.resources).toBeUndefined();
  expect(cloud.pools).toEqual([
    { id: "p", name: "paris", isComplete: true },
    { id: "q", name: "q", isComplete: false },
  ]);
  expect([...cloud.machines.keys()]).toEqual(["vino-1b4e28ba-a-0"]);
  expect(cloud.hosts).toEqual([{ id: "h", name: "xcp", poolId: "p", tags: [], isEnabled: false }]);
});

test("readVms() leaves out what it cannot read", () => {
  expect(readVms(LISTING.vms).map(({ name }) => name)).toEqual(["vino-1b4e28ba-a-0", "web"]);
});

const SHOWN = {
  pools: [{ id: "p", name_label: "paris", master: "h" }],
  hosts: [{ id: "h", $pool: "p" }],
};
const server = { id: "s", status: "connected", enabled: true, poolId: "p" };
const QUESTION: PoolsQuestion = {
  before: SHOWN,
  after: SHOWN,
  loaded: new Set(["p"]),
  servers: { objects: [server], undecodable: new Map() },
  coverage: new Map(),
};
const down = { ...server, id: "t", label: "lyon", status: "disconnected", poolId: null };

test.each<[string, Partial<PoolsQuestion>, boolean, RegExp | undefined]>([
  ["that is shown before and after", {}, true, undefined],
  ["that vanished meanwhile", { after: { pools: [], hosts: [] } }, false, /paris is disconnected/],
  ["whose master vanished", { after: { ...SHOWN, hosts: [] } }, false, /paris/],
  [
    "whose master is in another pool",
    { before: { ...SHOWN, hosts: [{ id: "h", $pool: "q" }] } },
    false,
    /paris/,
  ],
  ["whose VMs are not loaded", { loaded: new Set() }, false, /paris/],
  [
    "beside a connection that is down",
    { servers: { objects: [server, down], undecodable: new Map() } },
    true,
    /lyon/,
  ],
  ["beside connections that cannot be read", { servers: "refused" }, true, undefined],
])("provePools() of a pool %s", (_what, over, isComplete, gap) => {
  const proven = provePools({ ...QUESTION, ...over });
  expect(proven.pools).toEqual([{ id: "p", name: "paris", isComplete }]);
  if (gap === undefined) expect(proven.gap).toBeUndefined();
  else expect(proven.gap).toMatch(gap);
});

test("provePools() knows pools that were shown earlier", () => {
  const coverage = new Map<string, Coverage>([
    ["q", { complete: false, name: "lyon" }],
    ["r", { complete: false, isOnlyNamed: true }],
  ]);
  const { pools, gap } = provePools({ ...QUESTION, coverage });
  expect(pools.map(({ id, isComplete }) => [id, isComplete])).toEqual([
    ["p", true],
    ["q", false],
  ]);
  expect(gap).toContain("lyon");
});

test("provePools() does not take an empty cloud for a whole one", () => {
  const nothing = { pools: [], hosts: [] };
  expect(provePools({ ...QUESTION, before: nothing, after: nothing }).gap).toBe(
    "Xen Orchestra shows no pool",
  );
});

const bodies: Readonly<Record<string, { readonly status: number; readonly body: unknown }>> = {
  halted: {
    status: 500,
    body: {
      error: "VM_BAD_POWER_STATE(OpaqueRef:1, running, halted)",
      info: "This is a XenServer/XCP-ng error",
    },
  },
  blocked: {
    status: 403,
    body: { error: "forbidden operation: Start", data: { operation: "Start", reason: "no" } },
  },
  rights: {
    status: 403,
    body: {
      error: "not enough privileges",
      data: {
        missingPrivileges: [
          { objectId: "p", action: "create:vm", resource: "pool" },
          { action: "create", resource: "vdi" },
          { action: "update:tags", resource: "vm" },
          { action: "update:name_label", resource: "vm" },
        ],
      },
    },
  },
  missing: { status: 404, body: { error: "no such object x", data: { id: "x" } } },
  excess: { status: 422, body: { error: "invalid parameters" } },
  broken: { status: 500, body: { error: "other side closed" } },
};

function read(name: string): CloudError {
  const { status, body } = bodies[name] ?? { status: 0, body: undefined };
  const reply: Reply = { status, contentType: "application/json", json: { value: body } };
  return toRefusal(reply, "start VM x");
}

describe("toRefusal()", () => {
  test.each<[string, object]>([
    [
      "halted",
      {
        kind: "protocol",
        code: "VM_BAD_POWER_STATE",
        params: ["OpaqueRef:1", "running", "halted"],
      },
    ],
    ["blocked", { kind: "denied", isBlocked: true, missing: [] }],
    ["missing", { isMissing: true, status: 404 }],
    ["excess", { status: 422, isMissing: false }],
  ])("reads %s", (name, wanted) => {
    expect(read(name)).toBeInstanceOf(ChangeRefusal);
    expect(read(name)).toMatchObject(wanted);
  });

  test("names each right that is missing once, as the role does", () => {
    const error = read("rights");
    expect(error).toBeInstanceOf(ChangeRefusal);
    expect(error.message).toBe(
      "the user has no right to start VM x: it lacks pool create:vm on p, vdi create, vm update",
    );
  });

  test("does not take a lost connection for a refusal: it may have been carried out", () => {
    expect(read("broken")).not.toBeInstanceOf(ChangeRefusal);
    expect(read("broken").kind).toBe("unreachable");
    const page = toRefusal({ status: 502, contentType: "text/html" }, "start VM x");
    expect(page).not.toBeInstanceOf(ChangeRefusal);
    expect(page.kind).toBe("unreachable");
  });
});

test("isAlready() knows the state that a VM has", () => {
  expect(isAlready(read("halted"), "halted")).toBe(true);
  expect(isAlready(read("halted"), "running")).toBe(false);
  expect(isAlready(read("blocked"), "halted")).toBe(false);
  expect(isAlready(new Error("x"), "halted")).toBe(false);
});

const disk = { id: "d", size: 1, name_label: "seed", $VBDs: [] };
const addLink: Effect<RawVdi> = toChanged((one) => ({ ...one, $VBDs: withText(one.$VBDs, "l") }));

describe("OwnChanges", () => {
  let clock: ManualClock;
  let own: OwnChanges;
  beforeEach(() => {
    clock = new ManualClock();
    own = new OwnChanges(clock);
  });

  test("shows what was made, changed and deleted, in a list and alone", () => {
    own.note("vdis", "d", (one) => one ?? disk);
    own.note("vdis", "old", toGone);
    const old = { ...disk, id: "old" };
    expect(own.addTo("vdis", [old], own.now())).toEqual([disk]);
    expect(own.addToOne("vdis", "old", old, own.now())).toBeUndefined();
    own.note("vdis", "d", addLink);
    expect(own.addToOne("vdis", "d", undefined, own.now())).toEqual({ ...disk, $VBDs: ["l"] });
    expect(own.addTo("vms", [], own.now())).toEqual([]);
  });

  test("trusts reads again as soon as one shows it", () => {
    own.note("vdis", "d", addLink);
    const shown = { ...disk, $VBDs: ["l"] };
    expect(own.addToOne("vdis", "d", shown, own.now())).toEqual(shown);
    expect(own.addToOne("vdis", "d", disk, own.now())).toEqual(disk);
  });

  test("trusts no read that began before the answer", async () => {
    const beganMs = own.now();
    await clock.advance(5);
    own.note("vdis", "d", addLink);
    expect(own.addToOne("vdis", "d", { ...disk, $VBDs: ["l"] }, beganMs)).toBeDefined();
    expect(own.addToOne("vdis", "d", disk, own.now())).toMatchObject({ $VBDs: ["l"] });
  });

  test("trusts reads again after ten seconds in which three lack it, and after a minute one", async () => {
    const isOwn = (): boolean => own.addTo("vdis", [disk], own.now())[0] !== disk;
    own.note("vdis", "d", addLink);
    await clock.advance(10_000);
    // Three reads of one observation began at the same time, so they count as one.
    expect([isOwn(), isOwn(), isOwn()]).toEqual([true, true, true]);
    expect(own.addToOne("vdis", "d", disk, own.now())).toBe(disk);
    for (let look = 0; look < 2; look += 1) {
      await clock.advance(1);
      expect(isOwn()).toBe(true);
    }
    await clock.advance(1);
    expect(isOwn()).toBe(false);
    own.note("vdis", "d", addLink);
    await clock.advance(60_000);
    expect(isOwn()).toBe(false);
  });

  test("trusts a read that shows what another client made later, and no other", () => {
    const rename = (name_label: string): Effect<RawVdi> =>
      toChanged((one) => ({ ...one, name_label }));
    own.note("vdis", "d", rename("first"));
    own.note("vdis", "d", rename("second"));
    const show = (name_label: string): RawVdi => ({ ...disk, name_label, size: 2 });
    const read = (name: string): unknown => own.addToOne("vdis", "d", show(name), own.now());
    expect(read("seed")).toEqual(show("second"));
    expect(read("first")).toEqual(show("second"));
    expect(read("theirs")).toEqual(show("theirs"));
    expect(read("seed")).toEqual(show("seed"));
  });

  test("knows for how long looks have shown a disk as unused", () => {
    expect(own.noteUnused(["d", "e"], 0)).toEqual(
      new Map([
        ["d", 0],
        ["e", 0],
      ]),
    );
    expect(own.noteUnused(["d"], 5)).toEqual(new Map([["d", 5]]));
    own.noteUse("d");
    expect(own.noteUnused(["d", "e"], 9)).toEqual(
      new Map([
        ["d", 0],
        ["e", 0],
      ]),
    );
  });

  test("makes nothing of a change of what is not there", () => {
    own.note("vdis", "d", addLink);
    expect(own.addToOne("vdis", "d", undefined, own.now())).toBeUndefined();
  });
});

test("withText() and withoutText() change nothing more the second time", () => {
  expect(withText(withText(null, "a"), "a")).toEqual(["a"]);
  expect(withoutText(withoutText(["a", "b"], "a"), "a")).toEqual(["b"]);
  expect(withoutText(undefined, "a")).toEqual([]);
});
const VM = { id: ID, $pool: ID, name_label: "web" };

test.each<[string, object, boolean]>([
  ["a machine", { name_label: "vino-1b4e28ba-a-0" }, true],
  ["a copy of one", { name_description: "vino uid=u role=a index=0" }, true],
  ["another VM", { name_description: "Debian" }, false],
  ["a VM without a description", {}, false],
])("FOLLOWED keeps %s: %#", (_what, over, isKept) => {
  expect(FOLLOWED.isOurs({ ...VM, ...over })).toBe(isKept);
});

test("FOLLOWED reads what machines need beside what Nodes need", () => {
  const raw = {
    ...VM,
    CPUs: { number: 2, max: 4 },
    tags: ["vino"],
    name_description: "d",
    blockedOperations: { destroy: "x" },
  };
  expect(decode(FOLLOWED.vms.schema, raw)).toEqual({ value: raw });
});

test("FOLLOWED leaves out what cannot be read, because Nodes need the rest", () => {
  const odd = { ...VM, name_description: 7, blockedOperations: "x", creation: [], startTime: "y" };
  expect(decode(FOLLOWED.vms.schema, odd)).toMatchObject({ value: VM });
});
