import { describe, expect, test } from "bun:test";
import type { Plan } from "../../../../../lib/providers/xenorchestra/machines/plan/problems.ts";
import { planRemoval } from "../../../../../lib/providers/xenorchestra/machines/plan/removal.ts";
import {
  formatRecord,
  type VmRecord,
} from "../../../../../lib/providers/xenorchestra/machines/vm_record.ts";
import { SEED_DISK } from "../../../../../lib/providers/xenorchestra/machines/words.ts";
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
  toOwnLinks,
  toTemplate,
  toView,
  toVm,
} from "../scene.ts";

function plan(options: SceneOptions = {}, record?: VmRecord): Plan {
  return planRemoval(toView(options), IDENTITY, record && formatRecord(record));
}

function summarise({ state, steps, problems, againMs }: Plan): string {
  const words = [...steps.map((step) => step.summary), ...problems.map(({ reason }) => reason)];
  return [state, ...words, ...(againMs === undefined ? [] : [`${againMs} ms`])].join("; ");
}

const end = `delete VM ${NAME} (vm-1) with its disks`;
const on = toCompleteVm({ power: "running", hasTools: true });
const foreign = toLink("vm-1", 2, toDisk({ id: "f", name: "important" }));
const withForeign = { "vm-1": [...toOwnLinks("vm-1"), foreign] };
const three = ["link-vm-1-0", "link-vm-1-1", "link-vm-1-2"];
const loose = [toOwnDisk("root", GIB), toOwnDisk(SEED_DISK, GIB, { id: "seed" })];
const sweepSeed = `delete disk ${NAME}-cidata (seed), which nothing uses`;
const sweepRoot = `delete disk ${NAME}.root (disk-root), which nothing uses`;
const LOST = { pools: [{ id: POOL, name: "paris", isComplete: false }], gap: "pool paris is lost" };

describe("planRemoval()", () => {
  test("says which pool is missing, unless another one does not answer either", () => {
    const lost = (options: SceneOptions, record: VmRecord): (string | undefined)[] =>
      plan(options, record).problems.map(({ missingPoolId }) => missingPoolId);
    expect(lost({}, { vm: "vm-1", pool: "gone" })).toEqual(["gone"]);
    expect(lost({ view: { gap: "pool lyon is lost" } }, { vm: "vm-1", pool: "gone" })).toEqual([
      undefined,
    ]);
    expect(lost({ view: LOST }, { vm: "vm-1", pool: POOL })).toEqual([undefined]);
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
      "Removing; MayComeLate; 60000 ms",
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
      { view: LOST },
      { pool: POOL },
      "Unknown; PoolNotConnected; 30000 ms",
    ],
    [
      "knows nothing while another pool is lost",
      { view: { gap: "x" } },
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
  ])("%s", (_what, options, record, planned) => {
    expect(summarise(plan(options, record))).toBe(planned);
  });

  test("remembers which disks go with the VM", () => {
    const [step] = plan({ vms: [toCompleteVm({ linkIds: three.slice(0, 2) })] }).steps;
    expect(step?.change).toMatchObject({
      linkIds: ["link-vm-1-0", "link-vm-1-1"],
      record: { vm: "vm-1", pool: POOL, disks: ["disk-root", "disk-data"] },
    });
  });

  test("needs a look", () => {
    const { stock: _stock, ...view } = toView();
    expect(planRemoval(view, IDENTITY, undefined)).toMatchObject({
      state: "Removing",
      needsLook: true,
    });
  });

  test("says without a look that the pool is lost", () => {
    const { stock: _stock, ...view } = toView({ view: LOST });
    const record = JSON.stringify({ v: 1, vm: "vm-1", pool: POOL });
    const { state, problems } = planRemoval(view, IDENTITY, record);
    expect(state).toBe("Unknown");
    expect(problems).toMatchObject([{ reason: "PoolNotConnected", kind: "retry" }]);
  });
});
