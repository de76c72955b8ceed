import { describe, expect, test } from "bun:test";
import type { MachineSpec } from "../../../../../lib/cloud/capabilities/machines.ts";
import type {
  Attached,
  CreateTask,
  Vm,
} from "../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import { planMachine } from "../../../../../lib/providers/xenorchestra/machines/plan/plan.ts";
import {
  type Plan,
  toDecision,
  toNotice,
  toPlan,
  toRetry,
  toStep,
} from "../../../../../lib/providers/xenorchestra/machines/plan/problems.ts";
import {
  formatRecord,
  type VmRecord,
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
import { planFirstStart } from "../../../../../lib/providers/xenorchestra/machines/plan/first_start.ts";
import {
  nameHost,
  nameNetwork,
  namePool,
  nameStorage,
  nameTemplate,
  nameThing,
} from "../../../../../lib/providers/xenorchestra/machines/plan/names.ts";
import {
  toPartsHash,
  toShownHash,
} from "../../../../../lib/providers/xenorchestra/machines/plan/fingerprints.ts";
import { listAttachedDisks } from "../../../../../lib/providers/xenorchestra/machines/plan/attached_disks.ts";

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
        `Creating; mark VM ${NAME}; note that VM ${NAME} is complete`,
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
      { stock: { adrift: [toOwnDisk("root", GIB)] } },
      { at: 1 },
      "Unknown; DisksUnclear; 500 ms",
    ],
    [
      "touches nothing in a lost pool",
      { view: { pools: [{ id: POOL, name: "p", isComplete: false }] } },
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
    const view = toView();
    const { tasks: _tasks, ...stock } = view.stock;
    expect(summarise(planMachine({ ...view, stock }, toSpec(), undefined))).toStartWith(
      "Blocked; NoRight",
    );
  });

  test("only judges a view that is not for a change", () => {
    const { stock: _stock, ...view } = toView();
    expect(planMachine(view, toSpec(), undefined)).toMatchObject({
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
])("planFromInventory() of %s plans nothing: %#", (_what, vms, view, state, needsLook) => {
  const plan = planFromInventory(toView({ vms, view }), toSpec(), { ...toNextRecord(), at: 1 });

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
  const view = toView({ vms: [toCompleteVm()] });
  const look = (doubtAt: number) =>
    planFromInventory(view, toSpec(), { ...toNextRecord(), doubtAt }).needsLook === true;
  expect([look(view.atMs), look(view.atMs - 1_800_000)]).toEqual([false, true]);
});

test("planFromInventory() looks closer if the record does not know a complete VM", () => {
  const view = toView({ vms: [toCompleteVm()] });
  expect(planFromInventory(view, toSpec(), {}).needsLook).toBe(true);
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
    const view = { hostsById: new Map([[HOST, host]]) };
    const { steps, problems } = planFirstStart(toView({ vms: [vm], view }), toSpec(), vm);
    expect(steps).toEqual([]);
    expect(problems).toMatchObject([{ kind: "retry", reason: "HostNotUsable" }]);
    expect(problems[0]?.message).toContain(`host xcp-1 cannot start ${NAME} now`);
  });
});

const view = toView({ templates: [toTemplate({ id: "t-2", uuid: "u-2", name: "old" })] });
const { stock } = view;

test.each([
  ["a pool", namePool(view, "pool-1"), 'pool "paris" (pool-1)'],
  ["a pool that is not shown", namePool(view, "pool-9"), "pool pool-9"],
  ["a network", nameNetwork(stock, "net-1"), 'network "oam" (net-1)'],
  ["a storage", nameStorage(stock, "sr-2"), 'storage repository "fast" (sr-2)'],
  ["a template by its UUID", nameTemplate(stock, "u-2"), 'template "old" (u-2)'],
  ["a template that is gone", nameTemplate(stock, "u-9"), "template u-9"],
  ["a host", nameHost(view, "host-1"), 'host "xcp-1" (host-1)'],
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
