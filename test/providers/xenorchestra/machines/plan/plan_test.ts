/**
 * Plans of machines: made, finished, kept and removed.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { listNextSteps, type MachineSpec } from "../../../../../lib/cloud/capabilities/machines.ts";
import type {
  Attached,
  CreateTask,
  Vm,
} from "../../../../../lib/providers/xenorchestra/machines/observe/observation.ts";
import { planMachine } from "../../../../../lib/providers/xenorchestra/machines/plan/plan.ts";
import {
  type Plan,
  nameHost,
  nameNetwork,
  namePool,
  nameStorage,
  nameTemplate,
  nameThing,
  toDecision,
  toNotice,
  toPlan,
  toRetry,
  toStep,
} from "../../../../../lib/providers/xenorchestra/machines/plan/problems.ts";
import {
  formatRecord,
  type VmRecord,
  toPartsHash,
  toShownHash,
} from "../../../../../lib/providers/xenorchestra/machines/vm_record.ts";
import {
  GIB,
  HOST,
  IDENTITY,
  NAME,
  NOW,
  POOL,
  type SceneOptions,
  toCompleteVm,
  toDisk,
  toLink,
  toNextRecord,
  toOwnDisk,
  toOwnLinks,
  toSeedLink,
  toSpec,
  toTemplate,
  toView,
  toVm,
} from "../scene.ts";
import { planFromInventory } from "../../../../../lib/providers/xenorchestra/machines/plan/from_inventory.ts";
import { planFirstStart } from "../../../../../lib/providers/xenorchestra/machines/plan/complete.ts";
import {
  compareVm,
  listAttachedDisks,
} from "../../../../../lib/providers/xenorchestra/machines/plan/compare.ts";
import { planRemoval } from "../../../../../lib/providers/xenorchestra/machines/plan/removal.ts";
import {
  BLOCK_REASON,
  listOwnTags,
  SEED_DISK,
} from "../../../../../lib/providers/xenorchestra/machines/words.ts";
import { planUnfinished } from "../../../../../lib/providers/xenorchestra/machines/plan/unfinished.ts";
import { toWanted } from "../../../../../lib/providers/xenorchestra/machines/plan/wanted.ts";

const FAILED: CreateTask = { id: "t1", status: "failure", error: "HANDLE_INVALID" };
const PENDING: CreateTask = { id: "t1", status: "pending" };
const create = `create VM ${NAME}`;

function plan(
  options: SceneOptions = {},
  record?: VmRecord,
  over: Partial<MachineSpec> = {},
): Plan {
  return planMachine(toView(options), toSpec(over), record && formatRecord(record));
}

function summarise({ state, steps, problems, againMs }: Plan): string {
  const words = [...steps.map((step) => step.summary), ...problems.map(({ reason }) => reason)];
  return [state, ...words, ...(againMs === undefined ? [] : [`${againMs} ms`])].join("; ");
}

describe("planMachine()", () => {
  test.each<[string, SceneOptions, VmRecord | undefined, string]>([
    ["creates one that was never asked for", {}, undefined, `Absent; ${create}`],
    ["waits while it is made", { tasks: [PENDING] }, { at: NOW, task: "t1" }, "Creating; 2000 ms"],
    [
      "waits after a failure",
      { tasks: [FAILED] },
      { at: NOW, task: "t1" },
      "Absent; CreateFailed; 5000 ms",
    ],
    [
      "creates again later",
      { tasks: [FAILED] },
      { at: NOW - 6_000, task: "t1" },
      `Absent; ${create}; CreateFailed`,
    ],
    [
      "goes on with one that is not complete",
      { vms: [toVm()] },
      undefined,
      [
        `Creating; note that VM ${NAME} is complete`,
        `start VM ${NAME} on host xcp-1`,
        `note that ${NAME} was started`,
      ].join("; "),
    ],
    ["leaves a complete one alone", { vms: [toCompleteVm()] }, toNextRecord(), "Ready"],
    [
      "asks whether one is gone that no list shows",
      {},
      { vm: "vm-9" },
      `Unknown; make sure that VM ${NAME} is gone`,
    ],
    [
      "makes one again that was deleted by hand",
      {},
      { vm: "vm-9", gone: true },
      `Absent; ${create}`,
    ],
    [
      "sweeps what an attempt left",
      { loose: [toOwnDisk("root", GIB)] },
      { at: 1 },
      `Absent; delete disk ${NAME}.root (disk-root), which nothing uses; ${create}`,
    ],
    [
      "keeps the disks of one that was complete",
      { loose: [toOwnDisk("root", GIB)] },
      { vm: "vm-9", gone: true },
      "Blocked; DisksLeft",
    ],
    [
      "makes none while disks of an attempt may be left",
      { resources: { adrift: [toOwnDisk("root", GIB)] } },
      { at: 1 },
      "Unknown; DisksUnclear; 500 ms",
    ],
    [
      "touches nothing in a lost pool",
      { cloud: { pools: [{ id: POOL, name: "p", isComplete: false }] } },
      undefined,
      "Unknown; PoolNotConnected; 30000 ms",
    ],
    [
      "touches nothing of another owner",
      { vms: [toVm({ description: "vino uid=x role=worker index=0" })] },
      undefined,
      "Blocked; NameTaken",
    ],
  ])("%s", (_what, options, record, planned) => {
    expect(summarise(plan(options, record))).toBe(planned);
  });

  test("asks for nothing that cannot be made", () => {
    expect(summarise(plan({}, undefined, { template: "x" }))).toBe("Blocked; TemplateNotFound");
  });

  test("plans nothing without a right to see tasks", () => {
    const cloud = toView();
    const { tasks: _tasks, ...resources } = cloud.resources;
    expect(summarise(planMachine({ ...cloud, resources }, toSpec(), undefined))).toStartWith(
      "Blocked; NoRight",
    );
  });

  test("only judges a cloud that is not for a change", () => {
    const { resources: _stock, ...cloud } = toView();
    expect(planMachine(cloud, toSpec(), undefined)).toMatchObject({
      state: "Absent",
      needsLook: true,
      steps: [],
    });
  });

  test("remembers the attempt, and what was there before", () => {
    const [step] = plan({ tasks: [FAILED] }, { at: NOW - 60_000, task: "t1", tries: 2 }).steps;
    expect(step?.change).toMatchObject({
      record: { at: NOW, prior: "t1", tries: 3, templates: ["template-1"], pool: POOL },
    });
  });
});

const LOST = { pools: [{ id: POOL, name: "paris", isComplete: false }] };

test.each<[string, readonly Vm[], object, string, boolean]>([
  ["a complete one alone", [toCompleteVm()], {}, "Ready", false],
  ["a missing one", [], {}, "Absent", true],
  ["one in a lost pool", [toCompleteVm()], LOST, "Unknown", false],
  ["a missing one in a lost pool", [], LOST, "Unknown", false],
  ["one that is not complete", [toVm()], {}, "Creating", true],
  ["two", [toCompleteVm(), toCompleteVm({ id: "vm-2" })], {}, "Unfinished", true],
  [
    "one of another owner",
    [toVm({ description: "vino uid=x role=worker index=0" })],
    {},
    "Absent",
    true,
  ],
  ["fewer CPUs", [toCompleteVm({ cpus: 1 })], {}, "Ready", true],
  ["a lost tag", [toCompleteVm({ tags: ["vino", "vino:ready=x"] })], {}, "Ready", true],
  ["a lost interface", [toCompleteVm({ vifIds: [] })], {}, "Ready", true],
  ["an interface that was made again", [toCompleteVm({ vifIds: ["vif-2"] })], {}, "Ready", true],
  ["a detached disk", [toCompleteVm({ linkIds: ["link-vm-1-0"] })], {}, "Ready", true],
  [
    "parts in another order",
    [toCompleteVm({ linkIds: ["link-vm-1-1", "link-vm-1-0"] })],
    {},
    "Ready",
    false,
  ],
  [
    "another specification",
    [toCompleteVm({ tags: [...toCompleteVm().tags.slice(0, 2), "vino:ready=x"] })],
    {},
    "Ready",
    true,
  ],
  [
    "an old note beside the right one",
    [toCompleteVm({ tags: [...toCompleteVm().tags, "vino:ready=x"] })],
    {},
    "Ready",
    true,
  ],
  [
    "one to start",
    [toCompleteVm({ tags: [...toCompleteVm().tags, "vino:start"], power: "stopped" })],
    {},
    "Unfinished",
    true,
  ],
])("planFromInventory() of %s plans nothing: %#", (_what, vms, cloud, state, needsLook) => {
  const plan = planFromInventory(toView({ vms, cloud }), toSpec(), { ...toNextRecord(), at: 1 });

  expect(plan).toMatchObject({ state, steps: [] });
  expect(plan.needsLook === true).toBe(needsLook);
});

test.each<[string, Vm, boolean]>([
  ["as it was looked at last", toCompleteVm(), true],
  ["with other CPUs", toCompleteVm({ cpus: 1 }), true],
  ["with an interface more", toCompleteVm({ vifIds: ["vif-vm-1-0", "vif-2"] }), false],
  ["with an older note", toCompleteVm({ tags: ["vino", "vino:ready=x"] }), false],
])(
  "planFromInventory() knows whether one %s has all disks and interfaces",
  (_what, vm, isBuilt) => {
    const plan = planFromInventory(toView({ vms: [vm] }), toSpec(), toNextRecord());
    expect(plan.isBuilt === true).toBe(isBuilt);
  },
);

test("planFromInventory() needs a look long after an attempt that may have left something", () => {
  const cloud = toView({ vms: [toCompleteVm()] });
  const look = (doubtAt: number) =>
    planFromInventory(cloud, toSpec(), { ...toNextRecord(), doubtAt }).needsLook === true;
  expect([look(cloud.atMs), look(cloud.atMs - 1_800_000)]).toEqual([false, true]);
});

test("planFromInventory() looks closer if the record does not know a complete VM", () => {
  const cloud = toView({ vms: [toCompleteVm()] });
  expect(planFromInventory(cloud, toSpec(), {}).needsLook).toBe(true);
});

test("toDecision(), toRetry() and toNotice() differ by their kind", () => {
  const made = [toDecision, toRetry, toNotice].map((make) => make("Reason", "why").kind);
  expect(made).toEqual(["decision", "retry", "notice"]);
});

test("toPlan() leaves out what is not known", () => {
  expect(toPlan("Absent", { againMs: undefined, machine: undefined, needsLook: false })).toEqual({
    state: "Absent",
    steps: [],
    problems: [],
    parts: [],
  });
  expect(toPlan("Absent", { againMs: 5, needsLook: true })).toMatchObject({
    againMs: 5,
    needsLook: true,
  });
});

test("toStep() keeps only the identity of a specification, which may hold secrets", () => {
  const step = toStep(toSpec(), "detach it", { kind: "detachDisk", linkId: "l", vmId: "v" });
  expect(step.identity).toEqual(IDENTITY);
});

const vm = toCompleteVm();

describe("planFirstStart()", () => {
  test.each([
    ["is disabled", { poolId: POOL, isEnabled: false }],
    ["is in another pool", { poolId: "pool-2", isEnabled: true }],
  ])("waits for a host that %s", (_what, over) => {
    const host = { id: HOST, name: "xcp-1", tags: [], ...over };
    const cloud = { hostsById: new Map([[HOST, host]]) };
    const { steps, problems } = planFirstStart(toView({ vms: [vm], cloud }), toSpec(), vm);
    expect(steps).toEqual([]);
    expect(problems).toMatchObject([{ kind: "retry", reason: "HostNotUsable" }]);
    expect(problems[0]?.message).toContain(`host xcp-1 cannot start ${NAME} now`);
  });
});

const cloud = toView({ templates: [toTemplate({ id: "t-2", uuid: "u-2", name: "old" })] });
const { resources } = cloud;

test.each([
  ["a pool", namePool(cloud, "pool-1"), 'pool "paris" (pool-1)'],
  ["a pool that is not shown", namePool(cloud, "pool-9"), "pool pool-9"],
  ["a network", nameNetwork(resources, "net-1"), 'network "oam" (net-1)'],
  ["a storage", nameStorage(resources, "sr-2"), 'storage repository "fast" (sr-2)'],
  ["a template by its UUID", nameTemplate(resources, "u-2"), 'template "old" (u-2)'],
  ["a template that is gone", nameTemplate(resources, "u-9"), "template u-9"],
  ["a host", nameHost(cloud, "host-1"), 'host "xcp-1" (host-1)'],
  ["what has no name", nameThing("disk", { id: "d", name: "" }), "disk d"],
  [
    "what has a name with a break",
    nameThing("disk", { id: "d", name: "a\nb" }),
    'disk "a\\nb" (d)',
  ],
])("names %s", (_what, found, expected) => {
  expect(found).toBe(expected);
});

const VM = toCompleteVm();

test.each<[string, Partial<Vm>, boolean, boolean]>([
  ["an interface more", { vifIds: ["vif-vm-1-0", "vif-2"] }, true, true],
  ["another disk", { linkIds: ["link-vm-1-0", "link-2"] }, true, true],
  ["disks in another order", { linkIds: VM.linkIds.toReversed() }, false, false],
  ["a stop", { power: "running" }, false, true],
  ["more CPUs", { cpus: 8 }, false, true],
  ["more memory", { memoryBytes: 1 }, false, true],
  ["a tag more", { tags: [...VM.tags, "mine"] }, false, true],
  ["tags in another order", { tags: VM.tags.toReversed() }, false, false],
  ["another description", { description: "mine" }, false, true],
  ["another protection", { destroyBlock: "mine" }, false, true],
  ["another pool", { poolId: "pool-2" }, false, true],
  ["another start", { startedAtMs: 5, isStarted: true }, false, false],
  ["an operation", { isBusy: true }, false, false],
])("toPartsHash() and toShownHash() with %s", (_what, over, isOther, isShown) => {
  const vm = { ...VM, ...over };
  expect(toPartsHash(vm) !== toPartsHash(VM)).toBe(isOther);
  expect(toShownHash(vm) !== toShownHash(VM)).toBe(isShown);
});

const CD: Attached = { linkId: "cd", position: "3", isCd: true };

function list(
  links: readonly Attached[],
  linkIds?: readonly string[],
): readonly string[] | undefined {
  const vm = { ...toVm(), linkIds: linkIds ?? links.map(({ linkId }) => linkId) };
  const disks = listAttachedDisks({ attached: new Map([[vm.id, links]]) }, vm);
  return disks?.map(({ name, sizeBytes }) => `${name} ${sizeBytes / GIB}`);
}

const [ROOT, DATA] = toOwnLinks("vm-1");

test("listAttachedDisks() lists disks by position, without drives and the disk of the first start", () => {
  const late = toLink("vm-1", 10, toDisk({ name: "", id: "late", sizeBytes: 7 * GIB }));
  const links = [late, DATA, toSeedLink("vm-1"), CD, ROOT].flatMap((one) => one ?? []);
  expect(list(links)).toEqual([
    "vino-1b4e28ba-worker-0.root 20",
    "vino-1b4e28ba-worker-0.data 5",
    "late 7",
  ]);
  expect(list([])).toEqual([]);
});

test("listAttachedDisks() does not know them if one cannot be seen", () => {
  const links = toOwnLinks("vm-1");
  expect(list(links, [...links.map(({ linkId }) => linkId), "hidden"])).toBeUndefined();
  const { disk: _hidden, ...link } = toLink("vm-1", 2, toDisk());
  expect(list([...links, link])).toBeUndefined();
});

function planRemoved(options: SceneOptions = {}, record?: VmRecord): Plan {
  return planRemoval(toView(options), IDENTITY, record && formatRecord(record));
}

const end = `delete VM ${NAME} (vm-1) with its disks`;
const on = toCompleteVm({ power: "running", hasTools: true });
const foreign = toLink("vm-1", 2, toDisk({ id: "f", name: "important" }));
const withForeign = { "vm-1": [...toOwnLinks("vm-1"), foreign] };
const three = ["link-vm-1-0", "link-vm-1-1", "link-vm-1-2"];
const loose = [toOwnDisk("root", GIB), toOwnDisk(SEED_DISK, GIB, { id: "seed" })];
const sweepSeed = `delete disk ${NAME}-cidata (seed), which nothing uses`;
const sweepRoot = `delete disk ${NAME}.root (disk-root), which nothing uses`;
const POOL_LOST = {
  pools: [{ id: POOL, name: "paris", isComplete: false }],
  gap: "pool paris is lost",
};

describe("planRemoval()", () => {
  test("says which pool is missing, unless another one does not answer either", () => {
    const lost = (options: SceneOptions, record: VmRecord): (string | undefined)[] =>
      planRemoved(options, record).problems.map(({ missingPoolId }) => missingPoolId);
    expect(lost({}, { vm: "vm-1", pool: "gone" })).toEqual(["gone"]);
    expect(lost({ cloud: { gap: "pool lyon is lost" } }, { vm: "vm-1", pool: "gone" })).toEqual([
      undefined,
    ]);
    expect(lost({ cloud: POOL_LOST }, { vm: "vm-1", pool: POOL })).toEqual([undefined]);
  });

  test.each<[string, SceneOptions, VmRecord | undefined, string]>([
    ["has nothing to do without a machine", {}, undefined, "Absent"],
    ["deletes one that is off", { vms: [toCompleteVm()] }, undefined, `Removing; ${end}`],
    [
      "asks the guest to shut down first",
      { vms: [on] },
      undefined,
      `Removing; shut down VM ${NAME}`,
    ],
    [
      "waits for the guest",
      { vms: [on] },
      { vm: "vm-1", offAt: NOW - 60_000 },
      "Removing; 5000 ms",
    ],
    [
      "waits no longer than two minutes",
      { vms: [on] },
      { vm: "vm-1", offAt: NOW - 121_000 },
      `Removing; switch off VM ${NAME}`,
    ],
    [
      "switches off a guest that cannot be asked",
      { vms: [toCompleteVm({ power: "running" })] },
      undefined,
      `Removing; switch off VM ${NAME}`,
    ],
    [
      "switches off a suspended one",
      { vms: [toCompleteVm({ power: "suspended", hasTools: true })] },
      undefined,
      `Removing; switch off VM ${NAME}`,
    ],
    [
      "detaches disks that are not ours",
      { vms: [toCompleteVm({ linkIds: three })], links: withForeign },
      undefined,
      `Removing; detach disk important from ${NAME}: it is not of Landfall; ${end}`,
    ],
    [
      "deletes nothing with a disk that cannot be seen",
      { vms: [toCompleteVm({ linkIds: three })] },
      undefined,
      "Blocked; NoRight",
    ],
    [
      "deletes a half-made one",
      { vms: [toVm()] },
      { at: 1, templates: ["template-1"] },
      `Removing; delete half-made VM ${NAME} (vm-1)`,
    ],
    [
      "deletes a half-made template",
      { templates: [toTemplate({ id: "h", uuid: "h", name: NAME, linkIds: [] })] },
      { at: 1 },
      `Removing; delete half-made template ${NAME} (h)`,
    ],
    [
      "waits for what an interrupted creation may leave late",
      { tasks: [{ id: "t", status: "interrupted" }] },
      { at: NOW - 60_000, task: "t" },
      "Removing; MayComeLate; 10000 ms",
    ],
    [
      "does so no longer than a hypervisor works on it",
      { tasks: [{ id: "t", status: "interrupted" }] },
      { at: NOW - 1_800_000, task: "t" },
      "Absent",
    ],
    [
      "does so after a complete one is gone, too",
      {},
      { vm: "vm-1", gone: true, doubtAt: NOW - 1_799_000 },
      "Removing; MayComeLate; 1000 ms",
    ],
    [
      "asks for a complete one that no list shows",
      {},
      { vm: "vm-1" },
      "Removing; make sure that VM vino-1b4e28ba-worker-0 is gone",
    ],
    ["is over when it is gone", {}, { vm: "vm-1", gone: true }, "Absent"],
    [
      "keeps one that was started before it was complete",
      { vms: [toVm({ power: "running" })] },
      { at: 1 },
      "Blocked; MachineUnfinished",
    ],
    [
      "waits while one is made",
      { tasks: [{ id: "t", status: "pending" }] },
      undefined,
      "Removing; 2000 ms",
    ],
    [
      "knows nothing in a lost pool",
      { cloud: POOL_LOST },
      { pool: POOL },
      "Unknown; PoolNotConnected; 30000 ms",
    ],
    [
      "knows nothing while another pool is lost",
      { cloud: { gap: "x" } },
      undefined,
      "Unknown; PoolNotConnected; 30000 ms",
    ],
    [
      "leaves a VM of another owner",
      { vms: [toVm({ description: "vino uid=x role=worker index=0" })] },
      undefined,
      "Absent",
    ],
    [
      "leaves a renamed one to a person",
      { vms: [toCompleteVm({ name: "web" })] },
      undefined,
      "Blocked; MachineRenamed",
    ],
    [
      "leaves one without marks to a person",
      { vms: [toCompleteVm({ description: "", tags: ["vino:ready=x"] })] },
      undefined,
      "Blocked; MarkMissing",
    ],
    [
      "sweeps everything of an attempt",
      { loose },
      { at: 1 },
      `Removing; ${sweepRoot}; ${sweepSeed}`,
    ],
    [
      "sweeps the disks that went with the VM",
      { loose },
      { vm: "vm-1", disks: ["disk-root"] },
      `Removing; ${sweepRoot}; ${sweepSeed}`,
    ],
    [
      "keeps a disk that a person took away before",
      { loose },
      { vm: "vm-1", disks: [] },
      `Removing; ${sweepSeed}`,
    ],
    [
      "waits for what became of the disks of an attempt",
      { resources: { adrift: loose } },
      { at: 1, refused: true },
      "Unknown; DisksUnclear; 500 ms",
    ],
    [
      "waits for what became of the disks that went with the VM",
      { resources: { adrift: loose.slice(0, 1) } },
      { vm: "vm-1", disks: ["disk-root"], gone: true },
      "Unknown; DisksUnclear; 500 ms",
    ],
    [
      "asks for a VM that no list shows before it waits for its disks",
      { resources: { adrift: loose } },
      { vm: "vm-1" },
      `Removing; make sure that VM ${NAME} is gone`,
    ],
    [
      "waits for no disk that a person took away before",
      { resources: { adrift: loose.slice(0, 1) } },
      { vm: "vm-1", disks: [], gone: true },
      "Absent",
    ],
    [
      "waits for no disk of another machine",
      { resources: { adrift: [toDisk({ name: `${NAME}1.root` })] } },
      { at: 1, refused: true },
      "Absent",
    ],
  ])("%s", (_what, options, record, planned) => {
    expect(summarise(planRemoved(options, record))).toBe(planned);
  });

  test("names the disks that it waits for", () => {
    const { problems } = planRemoved({ resources: { adrift: loose } }, { at: 1, refused: true });
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining(`${NAME}.root (disk-root), ${NAME}-cidata (seed)`),
    ]);
  });

  test("remembers which disks go with the VM", () => {
    const [step] = planRemoved({ vms: [toCompleteVm({ linkIds: three.slice(0, 2) })] }).steps;
    expect(step?.change).toMatchObject({
      linkIds: ["link-vm-1-0", "link-vm-1-1"],
      record: { vm: "vm-1", pool: POOL, disks: ["disk-root", "disk-data"] },
    });
  });

  test("needs a look", () => {
    const { resources: _stock, ...cloud } = toView();
    expect(planRemoval(cloud, IDENTITY, undefined)).toMatchObject({
      state: "Removing",
      needsLook: true,
    });
  });

  test("says without a look that the pool is lost", () => {
    const { resources: _stock, ...cloud } = toView({ cloud: POOL_LOST });
    const record = JSON.stringify({ v: 1, vm: "vm-1", pool: POOL });
    const { state, problems } = planRemoval(cloud, IDENTITY, record);
    expect(state).toBe("Unknown");
    expect(problems).toMatchObject([{ reason: "PoolNotConnected", kind: "retry" }]);
  });
});

const SEED = { label: "cidata", files: { "user-data": "#cloud-config" } };
const DONE: CreateTask = { id: "t1", status: "success", vmId: "vm-1" };
const KEPT = { at: 1, templates: ["template-1"] };

function planStarted(
  vm: Vm,
  options: SceneOptions = {},
  over: Partial<MachineSpec> = {},
  task = DONE,
  record: VmRecord = KEPT,
): Plan {
  const spec = toSpec({ seed: SEED, ...over });
  const cloud = toView({ vms: [vm], ...options });
  const wanted = toWanted(cloud, spec);
  const comparison = compareVm(cloud, spec, { vm, wanted, record });
  const attempt = { kind: "over", task } as const;
  return planUnfinished({ cloud, spec, record, wanted, vm, attempt, comparison });
}

const steps = ({ steps: some }: Plan): string[] => some.map(({ summary }) => summary);
const mark = `mark VM ${NAME}`;
const { mark: _mark, ...unmarked } = toVm({ description: "" });
const seed = `upload and attach disk ${NAME}-cidata`;
const ready = [
  `note that VM ${NAME} is complete`,
  `start VM ${NAME} on host xcp-1`,
  `note that ${NAME} was started`,
];
const marked = { tags: [...listOwnTags(toSpec()), "inherited"], destroyBlock: BLOCK_REASON };
const seeded = { links: { "vm-1": [...toOwnLinks("vm-1"), toSeedLink("vm-1")] } };

describe("planUnfinished()", () => {
  test.each<[string, Vm, SceneOptions, Partial<MachineSpec>, readonly string[]]>([
    ["marks one that has no mark, and seeds it", unmarked, {}, {}, [mark, seed, ...ready]],
    [
      "seeds one that has its mark, and notes that it is complete",
      toVm(),
      {},
      {},
      [seed, ...ready],
    ],
    ["goes on after the mark", toVm(marked), {}, {}, [seed, ...ready]],
    ["goes on after the seed", toVm(marked), seeded, {}, ready],
    ["needs no seed", toVm(marked), {}, { seed: undefined } as object, ready],
    [
      "uploads a seed again that is attached to nothing",
      toVm(marked),
      { loose: [toOwnDisk(SEED_DISK, GIB, { id: "old" })] },
      {},
      [`delete disk ${NAME}-cidata (old), which nothing uses`, seed, ...ready],
    ],
    [
      "puts CPUs right before",
      toVm({ ...marked, cpus: 1 }),
      seeded,
      {},
      [`set the CPUs of ${NAME} to 2`, ...ready],
    ],
    [
      "adds a missing interface",
      toVm(marked),
      { ...seeded, vifs: { "vm-1": [] } },
      {},
      [`add interface oam to ${NAME}`, ...ready],
    ],
    [
      "makes one again whose interface is another",
      toVm(),
      { vifs: { "vm-1": [{ device: "0", mac: "x", networkId: "net-1" }] } },
      {},
      [`delete half-made VM ${NAME} (vm-1)`],
    ],
    [
      "makes one again without a disk",
      toVm(),
      { links: { "vm-1": toOwnLinks("vm-1").slice(0, 1) } },
      {},
      [],
    ],
  ])("%s", (_what, vm, options, over, wanted) => {
    expect(steps(planStarted(vm, options, over))).toEqual([...wanted]);
  });

  describe("with a disk that a second VM left", () => {
    const left = toOwnDisk("root", GIB, { id: "left" });
    const sweep = `delete disk ${NAME}.root (left), which nothing uses`;

    test("sweeps it", () => {
      expect(steps(planStarted(toVm(marked), { loose: [left] }))).toEqual([sweep, seed, ...ready]);
    });

    test("leaves a disk of the VM itself, and any when no record says that it was asked for", () => {
      const own = toOwnDisk("root", GIB);
      expect(steps(planStarted(toVm(marked), { loose: [own] }))).toEqual([seed, ...ready]);
      const unasked = planStarted(toVm(marked), { loose: [left] }, {}, DONE, {});
      expect(steps(unasked)).toEqual([seed, ...ready]);
    });

    test("waits as long as reads may not show what the VM has", () => {
      const task = { ...DONE, tookMs: 1_000 };
      const record = { ...KEPT, at: NOW - 5_000 };
      const fresh = planStarted(toVm(marked), { loose: [left] }, {}, task, record);
      expect(fresh).toMatchObject({ state: "Creating", steps: [], againMs: 500 });
    });

    test("waits until reads show what became of it", () => {
      const unclear = planStarted(toVm(marked), { resources: { adrift: [left] } });
      expect(unclear).toMatchObject({
        state: "Creating",
        steps: [],
        problems: [{ reason: "DisksUnclear", kind: "retry" }],
        machine: { id: "vm-1" },
      });
    });
  });

  test("makes one again that has not even its description", () => {
    const vm = toVm({ description: "" });
    expect(steps(planStarted(vm, {}, {}, { id: "t", status: "interrupted" }))).toEqual([
      `delete half-made VM ${NAME} (vm-1)`,
    ]);
    expect(steps(planStarted(vm))).toEqual([mark, seed, ...ready]);
  });

  test("notes with one request that it is complete and waits for its start", () => {
    const [step] = planStarted(toVm(marked), seeded).steps;
    expect(step?.change).toMatchObject({
      kind: "ready",
      fields: {
        tags: [
          ...listOwnTags(toSpec()),
          "inherited",
          expect.stringMatching(/^vino:ready=/),
          "vino:start",
        ],
        nameDescription: expect.stringMatching(/ ready$/),
      },
      record: { vm: "vm-1", parts: toNextRecord(toVm(marked)).parts },
    });
    const [still] = planStarted(toVm(marked), seeded, { isStarted: false }).steps;
    expect(JSON.stringify(still)).not.toContain("vino:start");
  });

  test("reads back what it did before the last mark, and starts right after it", () => {
    const isDirect = planStarted(unmarked).steps.map((step) => step.isDirect === true);
    expect(isDirect).toEqual([false, true, false, true, true]);
    expect(listNextSteps(planStarted(unmarked)).map(({ summary }) => summary)).toEqual([
      mark,
      seed,
    ]);
  });

  test("starts nothing on a host that cannot, or that must not be started", () => {
    const host = { id: HOST, name: "xcp-1", poolId: POOL, tags: [], isEnabled: false };
    const cloud = { hostsById: new Map([[HOST, host]]) };
    expect(steps(planStarted(toVm(marked), { ...seeded, cloud }))).toEqual(ready.slice(0, 1));
    expect(steps(planStarted(toVm(marked), seeded, { isStarted: false }))).toEqual(
      ready.slice(0, 1),
    );
  });

  test("detaches a seed that is attached twice", () => {
    const twice = [
      ...toOwnLinks("vm-1"),
      toSeedLink("vm-1"),
      { ...toSeedLink("vm-1"), linkId: "l2" },
    ];
    expect(planStarted(toVm(marked), { links: { "vm-1": twice } }).steps[0]?.change).toEqual({
      kind: "detachDisk",
      linkId: "l2",
      vmId: "vm-1",
      diskId: "disk-seed",
    });
  });

  test("waits while the hypervisor works on it", () => {
    expect(planStarted(toVm({ isBusy: true }))).toMatchObject({
      state: "Creating",
      steps: [],
      againMs: 5_000,
    });
  });

  test("does not mind that its own disks fill the storage", () => {
    const { storages } = toView().resources;
    const full = storages.map((one) => ({ ...one, freeBytes: 0 }));
    expect(planStarted(toVm(), { resources: { storages: full } }).steps).not.toEqual([]);
  });

  test.each<[string, Vm, string]>([
    ["was started too early", toVm({ power: "running" }), "StartedTooEarly"],
    [
      "is not as asked for and has a snapshot",
      toVm({ hasSnapshots: true, linkIds: [] }),
      "MachineUnfinished",
    ],
  ])("leaves one to a person that %s", (_what, vm, reason) => {
    const planned = planStarted(vm, { links: { "vm-1": [] } });
    expect(planned).toMatchObject({ state: "Blocked", steps: [] });
    expect(planned.problems.map((one) => one.reason)).toEqual([reason]);
  });
});
