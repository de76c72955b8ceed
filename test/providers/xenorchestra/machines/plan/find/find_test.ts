import { describe, expect, test } from "bun:test";
import type {
  CreateTask,
  Vm,
} from "../../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import {
  findMachine,
  toDeletion,
} from "../../../../../../lib/providers/xenorchestra/machines/plan/find/find.ts";
import type { VmRecord } from "../../../../../../lib/providers/xenorchestra/machines/vm_record.ts";
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
} from "../../scene.ts";

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
  const view = toView({ tasks: [DONE], ...options });
  const template = toTemplate();
  const found = findMachine({
    view,
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
    ["nothing while its pool is lost", { view: LOST }, {}, "unknown PoolNotConnected"],
    [
      "nothing in a lost pool",
      { vms: [toCompleteVm()], view: LOST },
      undefined,
      "unknown PoolNotConnected",
    ],
    ["nothing if it may be in another pool", { view: GAP }, undefined, "unknown PoolNotConnected"],
    ["none if it was never asked for", { tasks: [], view: GAP }, {}, "none"],
    [
      "a complete one while another pool is lost",
      { vms: [toCompleteVm()], view: GAP },
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
    expect(find({ view: GAP, tasks: [] }, {}, "")).toBe("unknown PoolNotConnected");
    expect(find({ tasks: [] }, {}, "")).toBe("none");
    expect(find({ tasks: [] }, { pool: "gone" }, "")).toBe("unknown PoolNotConnected");
  });
});

test("toDeletion() names disks that have only the name of the template's", () => {
  const inherited = toLink("vm-1", 0, toDisk({ id: "old" }));
  const links = { "vm-1": [inherited, toLink("vm-1", 1, toOwnDisk("data", GIB))] };
  const { change } = toDeletion(
    { identity: IDENTITY, view: toView({ links }), record: { at: 1 } },
    toVm(),
    "second",
  );
  expect(change).toMatchObject({ inherited: ["old"] });
  expect(change).not.toHaveProperty("record");
});

test("toDeletion() names the VM, and who Landfall is", () => {
  const step = toDeletion(
    { identity: IDENTITY, view: toView(), record: { at: 1 } },
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
