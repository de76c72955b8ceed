import { describe, expect, test } from "bun:test";
import type { MachineSpec } from "../../../../../lib/cloud/capabilities/machines.ts";
import type { CreateTask } from "../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import { planMachine } from "../../../../../lib/providers/xenorchestra/machines/plan/plan.ts";
import type { Plan } from "../../../../../lib/providers/xenorchestra/machines/plan/problems.ts";
import {
  formatRecord,
  type VmRecord,
} from "../../../../../lib/providers/xenorchestra/machines/vm_record.ts";
import {
  GIB,
  NAME,
  NOW,
  POOL,
  type SceneOptions,
  toCompleteVm,
  toOwnDisk,
  toNextRecord,
  toSpec,
  toView,
  toVm,
} from "../scene.ts";

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
