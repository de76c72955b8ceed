import { describe, expect, test } from "bun:test";
import type {
  CreateTask,
  Template,
  Vm,
} from "../../../../../lib/providers/xenorchestra/machines/observe/observation.ts";
import {
  explainKeeping,
  findMachine,
  findOrphanDisks,
  isDoubtDue,
  isDoubtful,
  judgeAttempt,
  judgeOwner,
  toDeletion,
  toDoubtLeftMs,
  toFailure,
  toOrphanDeletion,
  toSettled,
  toWaitMs,
  wasComplete,
} from "../../../../../lib/providers/xenorchestra/machines/plan/find.ts";
import type { VmRecord } from "../../../../../lib/providers/xenorchestra/machines/vm_record.ts";
import {
  GIB,
  IDENTITY,
  NAME,
  NOW,
  POOL,
  type SceneOptions,
  toCompleteVm,
  toDisk,
  toLink,
  toOwnDisk,
  toTemplate,
  toView,
  toVm,
} from "../scene.ts";
import { SEED_DISK } from "../../../../../lib/providers/xenorchestra/machines/words.ts";

const KEPT: VmRecord = { at: NOW - 60_000, task: "t1", templates: ["template-1"], pool: POOL };
const DONE: CreateTask = { id: "t1", status: "success", vmId: "vm-1" };
const PENDING: CreateTask = { id: "t2", status: "pending" };
const LOST = { pools: [{ id: POOL, name: "paris", isComplete: false }] };
const GAP = { gap: "pool lyon is disconnected" };

function find(
  options: SceneOptions,
  record: VmRecord = KEPT,
  poolId: string | undefined = POOL,
): string {
  const cloud = toView({ tasks: [DONE], ...options });
  const template = toTemplate();
  const found = findMachine({
    cloud,
    identity: IDENTITY,
    record,
    template,
    ...(poolId && { poolId }),
  });
  switch (found.kind) {
    case "unknown":
    case "blocked":
      return `${found.kind} ${found.problem.reason}`;
    case "leftover":
      return `leftover ${found.steps.map(({ summary }) => summary).join(", ")}`;
    case "complete":
    case "unfinished":
      return `${found.kind} ${found.vm.id}`;
    default:
      return found.kind;
  }
}

const twin = (over: Partial<Vm>): Vm => toVm({ id: "vm-2", linkIds: [], ...over });
const later = { user: "user-1", template: "template-1", dateMs: NOW };
const halfMade = toTemplate({ id: "half", uuid: "half", name: NAME, linkIds: [] });

describe("findMachine()", () => {
  test.each<[string, SceneOptions, VmRecord | undefined, string]>([
    ["one that is complete", { vms: [toCompleteVm()] }, undefined, "complete vm-1"],
    ["one that is not", { vms: [toVm()] }, undefined, "unfinished vm-1"],
    ["none", {}, undefined, "none"],
    ["one that lost its tags", { vms: [toCompleteVm({ tags: [] })] }, undefined, "complete vm-1"],
    ["nothing while a task runs", { tasks: [PENDING] }, undefined, "running"],
    ["nothing while a task makes it", { vms: [toVm()], tasks: [PENDING] }, undefined, "running"],
    [
      "nothing while a task makes a second one",
      { vms: [toCompleteVm()], tasks: [PENDING] },
      undefined,
      "running",
    ],
    [
      "a complete one although no task is shown",
      { vms: [toCompleteVm()], tasks: [] },
      { ...KEPT, at: NOW },
      "complete vm-1",
    ],
    ["nothing while its pool is lost", { cloud: LOST }, {}, "unknown PoolNotConnected"],
    [
      "nothing in a lost pool",
      { vms: [toCompleteVm()], cloud: LOST },
      undefined,
      "unknown PoolNotConnected",
    ],
    ["nothing if it may be in another pool", { cloud: GAP }, undefined, "unknown PoolNotConnected"],
    ["none if it was never asked for", { tasks: [], cloud: GAP }, {}, "none"],
    [
      "a complete one while another pool is lost",
      { vms: [toCompleteVm()], cloud: GAP },
      undefined,
      "complete vm-1",
    ],
    [
      "a half-made template",
      { templates: [halfMade] },
      undefined,
      `leftover delete half-made template ${NAME} (half)`,
    ],
    [
      "a template of a person",
      { templates: [{ ...halfMade, creation: { user: "u" } }] },
      undefined,
      "blocked NameTaken",
    ],
    [
      "a machine beside a template of a person",
      { vms: [toCompleteVm()], templates: [{ ...halfMade, creation: { user: "u" } }] },
      undefined,
      "complete vm-1",
    ],
    [
      "a VM of another owner",
      { vms: [toVm({ description: "vino uid=x role=worker index=0" })] },
      undefined,
      "blocked NameTaken",
    ],
    [
      "a machine beside a VM of another owner",
      { vms: [toCompleteVm(), twin({ description: "vino uid=x role=worker index=0" })] },
      undefined,
      "complete vm-1",
    ],
    [
      "a renamed machine",
      { vms: [toCompleteVm({ name: "web" })] },
      undefined,
      "blocked MachineRenamed",
    ],
    [
      "a renamed machine without its mark that the record names and a tag shows as of the Vino",
      { vms: [toCompleteVm({ name: "web", description: "" })] },
      { vm: "vm-1" },
      "blocked MachineRenamed",
    ],
    [
      "nothing where a person took away the name and all marks",
      { vms: [toCompleteVm({ name: "web", description: "", tags: [] })] },
      { vm: "vm-1" },
      "none",
    ],
    [
      "nothing where another VM of the Vino has another name and no mark",
      { vms: [toCompleteVm({ id: "vm-2", name: "web", description: "" })] },
      { vm: "vm-1" },
      "none",
    ],
    [
      "a machine beside a copy of it",
      { vms: [toCompleteVm(), toCompleteVm({ id: "vm-2", name: "copy" })] },
      undefined,
      "complete vm-1",
    ],
    [
      "a twin that is younger",
      { vms: [twin({ creation: later }), toVm()], links: { "vm-2": [] } },
      undefined,
      `leftover delete second VM ${NAME} (vm-2)`,
    ],
    [
      "a twin without a creation",
      { vms: [toVm(), { ...twin({}), creation: {} }], links: { "vm-2": [] } },
      undefined,
      `leftover delete second VM ${NAME} (vm-2)`,
    ],
    [
      "a twin beside a complete one",
      { vms: [twin({}), toCompleteVm({ creation: later })], links: { "vm-2": [] } },
      undefined,
      `leftover delete second VM ${NAME} (vm-2)`,
    ],
    [
      "a twin that runs",
      { vms: [toCompleteVm(), twin({ power: "running" })] },
      undefined,
      "blocked TwoMachines",
    ],
    [
      "two complete ones",
      { vms: [toCompleteVm(), toCompleteVm({ id: "vm-2" })] },
      undefined,
      "blocked TwoMachines",
    ],
  ])("finds %s", (_what, options, record, found) => {
    expect(find(options, record)).toBe(found);
  });

  test("finds nothing without a pool to look in", () => {
    expect(find({ cloud: GAP, tasks: [] }, {}, "")).toBe("unknown PoolNotConnected");
    expect(find({ tasks: [] }, {}, "")).toBe("none");
    expect(find({ tasks: [] }, { pool: "gone" }, "")).toBe("unknown PoolNotConnected");
  });
});

test("toDeletion() names disks that have only the name of the template's", () => {
  const inherited = toLink("vm-1", 0, toDisk({ id: "old" }));
  const links = { "vm-1": [inherited, toLink("vm-1", 1, toOwnDisk("data", GIB))] };
  const { change } = toDeletion(
    { identity: IDENTITY, cloud: toView({ links }), record: { at: 1 } },
    toVm(),
    "second",
  );
  expect(change).toMatchObject({ inherited: ["old"] });
  expect(change).not.toHaveProperty("record");
});

test("toDeletion() names the VM, and who Landfall is", () => {
  const step = toDeletion(
    { identity: IDENTITY, cloud: toView(), record: { at: 1 } },
    toVm(),
    "half-made",
  );
  expect(step).toMatchObject({
    summary: `delete half-made VM ${NAME} (vm-1)`,
    change: {
      kind: "deleteHalfMade",
      thing: { id: "vm-1", kind: "vm", poolId: POOL },
      inherited: [],
      userId: "user-1",
      record: { at: 1, refused: true },
    },
  });
});

const FAILED: CreateTask = { id: "t1", status: "failure", error: "HANDLE_INVALID" };
const INTERRUPTED: CreateTask = { id: "t1", status: "interrupted" };

function judge(tasks: readonly CreateTask[], record: VmRecord = {}): string {
  const attempt = judgeAttempt(NAME, toView({ tasks }).resources, record, NOW);
  if (attempt.kind === "over") return `over ${attempt.task?.id ?? "none"}`;
  return `running ${attempt.againMs} ${attempt.problem?.reason ?? ""}`.trim();
}

describe("judgeAttempt()", () => {
  test.each<[string, readonly CreateTask[], VmRecord, string]>([
    ["waits while a task is pending", [PENDING, FAILED], {}, "running 2000"],
    [
      "says when a task is pending for long",
      [PENDING],
      { at: NOW - 1e6 },
      "running 2000 CreateSlow",
    ],
    ["is over without a record and without a task", [], {}, "over none"],
    ["finds the newest task without a record", [DONE], {}, "over t1"],
    ["finds the task of the record", [FAILED, DONE], { at: NOW, task: "t1" }, "over t1"],
    ["waits for a request whose answer was lost", [], { at: NOW - 5_000 }, "running 25000"],
    [
      "does so although an older task is shown",
      [FAILED],
      { at: NOW, prior: "t1" },
      "running 30000",
    ],
    [
      "does not take an older task for that of a lost answer",
      [FAILED],
      { at: NOW, prior: "t2" },
      "running 30000",
    ],
    ["finds the task of a lost answer", [FAILED], { at: NOW, prior: "t0" }, "over t1"],
    ["gives a lost request up", [], { at: NOW - 31_000 }, "over none"],
    ["waits for nothing after a refusal", [], { at: NOW, refused: true }, "over none"],
    ["waits for a task that is not shown yet", [], { at: NOW, task: "t9" }, "running 2000"],
    [
      "says that a task is not shown",
      [],
      { at: NOW - 10_000, task: "t9" },
      "running 10000 TaskNotShown",
    ],
    ["gives a task up that is not shown", [], { at: NOW - 6e5, task: "t9" }, "over none"],
    [
      "waits for one that is not shown although others are",
      [DONE],
      { at: NOW - 29_000, task: "t9" },
      "running 10000 TaskNotShown",
    ],
    ["gives it up soon if others are shown", [DONE], { at: NOW - 3e4, task: "t9" }, "over none"],
    ["takes a time in the future for now", [], { at: NOW + 9e9 }, "running 30000"],
  ])("%s", (_what, tasks, record, judged) => {
    expect(judge(tasks, record)).toBe(judged);
  });

  test("decides nothing without a right to see tasks", () => {
    const { tasks: _tasks, ...resources } = toView().resources;
    expect(judgeAttempt(NAME, resources, {}, NOW)).toMatchObject({
      kind: "running",
      problem: { reason: "NoRight", kind: "decision" },
    });
  });
});

test.each<[VmRecord, number]>([
  [{}, 0],
  [{ at: NOW - 1_000, tries: 1 }, 4_000],
  [{ at: NOW - 1_000, tries: 3 }, 19_000],
  [{ at: NOW - 1_000, tries: 99 }, 599_000],
  [{ at: NOW - 60_000, tries: 1 }, 0],
  [{ at: NOW, vm: "vm-1" }, 0],
])("toWaitMs() waits longer after each attempt: %o", (record, ms) => {
  expect(toWaitMs(record, NOW)).toBe(ms);
});

test.each<[CreateTask | undefined, string | undefined]>([
  [undefined, undefined],
  [DONE, undefined],
  [FAILED, "CreateFailed"],
  [{ ...FAILED, error: "SR_BACKEND_FAILURE_44(, There is insufficient space, )" }, "StorageFull"],
  [{ id: "t", status: "interrupted" }, "CreateInterrupted"],
])("toFailure() names what happened: %o", (task, reason) => {
  expect(toFailure(NAME, task === undefined ? {} : { task })?.reason).toBe(reason);
});

test.each<[string, CreateTask | undefined, VmRecord, boolean]>([
  ["no attempt", undefined, {}, false],
  ["a lost request", undefined, { at: 1 }, true],
  ["a restart of the server", { id: "t1", status: "interrupted" }, { at: 1, task: "t1" }, true],
  ["a failure", FAILED, { at: 1, task: "t1" }, false],
  ["a success", DONE, { at: 1, task: "t1" }, false],
  ["a refusal", undefined, { at: 1, refused: true }, false],
  ["a complete machine", undefined, { at: 1, vm: "vm-1" }, false],
])("isDoubtful() after %s", (_what, task, record, expected) => {
  expect(isDoubtful({ ...(task && { task }) }, record)).toBe(expected);
});

const OF = { templates: ["template-1"] };
test.each<[string, CreateTask | undefined, VmRecord, number, number]>([
  ["no attempt", undefined, {}, 0, 0],
  ["a restart of the server", INTERRUPTED, { ...OF, at: NOW - 60_000, task: "t1" }, 1_740_000, 500],
  ["a restart long ago", INTERRUPTED, { ...OF, at: NOW - 1_800_000, task: "t1" }, 0, 500],
  ["a lost request", undefined, { ...OF, at: NOW - 60_000 }, 1_740_000, 500],
  [
    "a restart whose record is lost",
    { ...INTERRUPTED, endMs: NOW - 60_000, template: "template-1" },
    {},
    1_740_000,
    500,
  ],
  ["a success whose record is lost", { ...DONE, endMs: NOW - 60_000 }, {}, 0, 0],
  ["an earlier restart", DONE, { ...OF, vm: "vm-1", doubtAt: NOW - 300_000 }, 1_500_000, 500],
  [
    "a lost upload",
    DONE,
    { ...OF, vm: "vm-1", doubtAt: NOW - 60_000, uploadAt: NOW - 60_000 },
    1_740_000,
    70_000,
  ],
  [
    "two restarts",
    INTERRUPTED,
    { ...OF, at: NOW, task: "t1", doubtAt: NOW - 300_000 },
    1_800_000,
    500,
  ],
  ["a restart, after what it left was deleted", INTERRUPTED, { at: NOW, refused: true }, 0, 0],
  ["a clock that went back", INTERRUPTED, { ...OF, at: NOW + 9e9, task: "t1" }, 1_800_000, 500],
  ["a template that is gone", INTERRUPTED, { at: NOW, templates: ["gone"] }, 1_800_000, 1_800_000],
])(
  "toDoubtLeftMs() after %s, while the template is copied, and when it is not",
  (_what, task, record, busyMs, restMs) => {
    const toLeftMs = (template: Partial<Template>): number => {
      const cloud = toView();
      const templates = [toTemplate(template)];
      const resources = { ...cloud.resources, templates };
      return toDoubtLeftMs({ ...(task && { task }) }, record, { ...cloud, resources });
    };
    expect(toLeftMs({ isBusy: true, idleMs: 0 })).toBe(busyMs);
    expect(toLeftMs({ isBusy: false, idleMs: 1_500 })).toBe(restMs);
  },
);

test.each<[string, readonly CreateTask[], VmRecord, boolean]>([
  ["the only attempt", [INTERRUPTED], { at: 1, task: "t1" }, true],
  ["an attempt after a failed one", [DONE, INTERRUPTED], { at: 1, prior: "t1" }, true],
  ["an attempt after one that is in doubt", [INTERRUPTED], { at: 1, doubtAt: 1 }, false],
  ["a request that arrived twice", [INTERRUPTED, PENDING], { at: 1, prior: "t0" }, false],
  ["no attempt of the record", [INTERRUPTED], {}, false],
  ["a machine that was complete", [INTERRUPTED], { at: 1, vm: "vm-1" }, false],
])("toSettled() with %s", (_what, tasks, record, isSettled) => {
  const after = toSettled(NAME, toView({ tasks }).resources, record);
  expect(after).toEqual(isSettled ? { ...record, refused: true } : undefined);
});

test("isDoubtDue() after half an hour", () => {
  expect([isDoubtDue({}, NOW), isDoubtDue({ doubtAt: NOW - 1_799_999 }, NOW)]).toEqual([
    false,
    false,
  ]);
  expect(isDoubtDue({ doubtAt: NOW - 1_800_000 }, NOW)).toBe(true);
});

const TEMPLATE_KEPT = { at: 1, templates: ["template-1"] };

function explain(
  vm: Vm,
  options: SceneOptions = {},
  record: object = TEMPLATE_KEPT,
): string | undefined {
  const { resources } = toView({ vms: [vm], ...options });
  return explainKeeping(vm, { identity: IDENTITY, resources, record, template: toTemplate() });
}

describe("explainKeeping()", () => {
  const inherited = { "vm-1": [toLink("vm-1", 0, toDisk({ id: "copy" }))] };
  test.each<[string, Vm, SceneOptions]>([
    ["that has everything", toVm(), {}],
    [
      "without a description, creation and interfaces",
      toVm({ description: "", linkIds: [] }),
      { links: { "vm-1": [] } },
    ],
    ["with the disk of its template", toVm({ linkIds: ["link-vm-1-0"] }), { links: inherited }],
    [
      "with an empty drive",
      toVm({ linkIds: ["link-vm-1-0"] }),
      { links: { "vm-1": [toLink("vm-1", 0, undefined)] } },
    ],
  ])("lets a half-made VM go %s", (_what, vm, options) => {
    expect(explain(vm, options)).toBeUndefined();
  });

  const foreign = toDisk({ id: "x", name: "important" });
  test.each<[string, Vm, SceneOptions]>([
    ["it has another name", toVm({ name: "vino-1b4e28ba-worker-1" }), {}],
    [
      "it has the mark of another machine",
      toVm({ description: "vino uid=x role=worker index=0" }),
      {},
    ],
    ["it was complete once", toCompleteVm(), {}],
    ["it was complete once", toCompleteVm({ tags: [] }), {}],
    ["it was complete once", toCompleteVm({ description: "" }), {}],
    ["it is not halted", toVm({ power: "running" }), {}],
    ["it is not halted", toVm({ power: "unknown" }), {}],
    ["it was started", toVm({ isStarted: true }), {}],
    ["an operation runs on it", toVm({ isBusy: true }), {}],
    ["it has a snapshot", toVm({ hasSnapshots: true }), {}],
    ["another user made it", toVm({ creation: { user: "other", template: "template-1" } }), {}],
    ["another user made it", toVm(), { resources: { userId: "other" } }],
    [
      "it was made from another template",
      toVm({ creation: { user: "user-1", template: "t9" } }),
      {},
    ],
    ["it is the template of the machine", toVm({ id: "template-1" }), {}],
    ["one of its disks cannot be seen", toVm({ linkIds: ["hidden"] }), {}],
    [
      "it has a disk that Landfall did not make",
      toVm(),
      {
        links: { "vm-1": [toLink("vm-1", 0, foreign), toLink("vm-1", 1, toOwnDisk("data", GIB))] },
      },
    ],
  ])("keeps it because %s", (why, vm, options) => {
    expect(explain(vm, options)).toBe(why);
  });

  test("keeps what nothing says that Landfall asked for", () => {
    const { creation: _creation, ...vm } = toVm();
    expect(explain(vm, {}, {})).toBe("nothing says that Landfall asked for it");
    expect(explain(vm, { tasks: [{ id: "t", status: "interrupted" }] }, {})).toBeUndefined();
    expect(explain(vm)).toBeUndefined();
  });

  test("keeps a default template", () => {
    expect(explain({ ...toTemplate({ id: "t2", name: NAME, isDefault: true }) })).toBe(
      "it is a default template",
    );
  });

  test("accepts the template that a task asked for", () => {
    const vm = toVm({ creation: { user: "user-1", template: "t9" } });
    const tasks = [{ id: "t", status: "failure", template: "t9" }] as const;
    expect(explain(vm, { tasks })).toBeUndefined();
  });

  test("accepts the disk of the template that a task asked for, although the record is lost", () => {
    const { creation: _creation, ...vm } = toVm({ linkIds: ["link-vm-1-0"] });
    const explainRemoval = (asked: string): string | undefined => {
      const tasks = [{ id: "t", status: "interrupted", template: asked }] as const;
      const { resources } = toView({ vms: [vm], links: inherited, tasks });
      return explainKeeping(vm, { identity: IDENTITY, resources, record: {} });
    };
    expect(explainRemoval("template-1")).toBeUndefined();
    expect(explainRemoval("t9")).toBe("it has a disk that Landfall did not make");
  });
});

test.each<["ours" | "unmarked" | "foreign", Partial<Vm>]>([
  ["ours", {}],
  ["ours", { description: "", tags: [`vino:uid=${IDENTITY.owner.uid}`] }],
  ["unmarked", { description: "" }],
  ["foreign", { description: "vino uid=x role=worker index=0" }],
  ["foreign", { description: "", tags: ["vino:uid=x"] }],
])("judgeOwner() says %s for %o", (whose, over) => {
  expect(judgeOwner(toVm(over), IDENTITY)).toBe(whose);
});

test("wasComplete() knows it by tag, by description and by the record", () => {
  expect(wasComplete(toVm(), {})).toBe(false);
  expect(wasComplete(toCompleteVm({ description: "" }), {})).toBe(true);
  expect(wasComplete(toCompleteVm({ tags: [] }), {})).toBe(true);
  expect(wasComplete(toVm(), { vm: "vm-1" })).toBe(true);
  expect(wasComplete(toVm(), { vm: "vm-2" })).toBe(false);
});

test("findOrphanDisks() finds only disks that no other machine can have", () => {
  const loose = [
    toOwnDisk("root", GIB),
    toOwnDisk(SEED_DISK, GIB, { id: "seed" }),
    toDisk({ id: "unmarked", name: `${NAME}.data` }),
    toDisk({
      id: "foreign",
      name: `${NAME}.data`,
      description: "vino uid=x role=worker index=0 disk=a",
    }),
    toDisk({ id: "other", name: "vino-1b4e28ba-worker-0-1.root" }),
    toDisk({ id: "debian" }),
  ];
  const found = findOrphanDisks(toView({ loose }), IDENTITY);
  expect(found.map(({ disk, isSeed }) => [disk.id, isSeed])).toEqual([
    ["disk-root", false],
    ["seed", true],
    ["unmarked", false],
  ]);
});

test("toOrphanDeletion() names the disk", () => {
  const orphan = { disk: toOwnDisk("root", GIB), isSeed: false };
  expect(toOrphanDeletion(IDENTITY, orphan, {})).toEqual({
    identity: IDENTITY,
    summary: `delete disk ${NAME}.root (disk-root), which nothing uses`,
    change: { kind: "deleteDisk", diskId: "disk-root", diskName: `${NAME}.root` },
  });
});

test.each([
  ["a seed", true, { vm: "vm-1" }, true],
  ["a disk of an attempt", false, { at: 1 }, true],
  ["a disk of one that was complete", false, { at: 1, vm: "vm-1" }, undefined],
  ["a disk of which nothing is known", false, {}, undefined],
])("toOrphanDeletion() knows whether %s holds data", (_what, isSeed, record, isCleanup) => {
  const step = toOrphanDeletion(IDENTITY, { disk: toOwnDisk("root", GIB), isSeed }, record);
  expect(step.isCleanup).toBe(isCleanup);
});
