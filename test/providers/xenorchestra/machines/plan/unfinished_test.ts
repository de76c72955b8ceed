import { describe, expect, test } from "bun:test";
import { listNextSteps, type MachineSpec } from "../../../../../lib/cloud/capabilities/machines.ts";
import type {
  CreateTask,
  Vm,
} from "../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import { compareVm } from "../../../../../lib/providers/xenorchestra/machines/plan/compare/vm.ts";
import type { Plan } from "../../../../../lib/providers/xenorchestra/machines/plan/problems.ts";
import { planUnfinished } from "../../../../../lib/providers/xenorchestra/machines/plan/unfinished.ts";
import { toWanted } from "../../../../../lib/providers/xenorchestra/machines/plan/wanted/resolve.ts";
import {
  BLOCK_REASON,
  listOwnTags,
  SEED_DISK,
} from "../../../../../lib/providers/xenorchestra/machines/words.ts";
import {
  GIB,
  HOST,
  NAME,
  POOL,
  type SceneOptions,
  toOwnDisk,
  toOwnLinks,
  toNextRecord,
  toSeedLink,
  toSpec,
  toView,
  toVm,
} from "../scene.ts";

const SEED = { label: "cidata", files: { "user-data": "#cloud-config" } };
const DONE: CreateTask = { id: "t1", status: "success", vmId: "vm-1" };
const KEPT = { at: 1, templates: ["template-1"] };

function plan(
  vm: Vm,
  options: SceneOptions = {},
  over: Partial<MachineSpec> = {},
  task = DONE,
): Plan {
  const spec = toSpec({ seed: SEED, ...over });
  const view = toView({ vms: [vm], ...options });
  const wanted = toWanted(view, spec);
  const comparison = compareVm(view, spec, { vm, wanted, record: KEPT });
  const attempt = { kind: "over", task } as const;
  return planUnfinished({ view, spec, record: KEPT, wanted, vm, attempt, comparison });
}

const steps = ({ steps: some }: Plan): string[] => some.map(({ summary }) => summary);
const mark = `mark VM ${NAME}`;
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
    ["marks, seeds, and notes that it is complete", toVm(), {}, {}, [mark, seed, ...ready]],
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
    expect(steps(plan(vm, options, over))).toEqual([...wanted]);
  });

  test("makes one again that has not even its description", () => {
    const vm = toVm({ description: "" });
    expect(steps(plan(vm, {}, {}, { id: "t", status: "interrupted" }))).toEqual([
      `delete half-made VM ${NAME} (vm-1)`,
    ]);
    expect(steps(plan(vm))).toEqual([mark, seed, ...ready]);
  });

  test("notes with one request that it is complete and waits for its start", () => {
    const [step] = plan(toVm(marked), seeded).steps;
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
    const [still] = plan(toVm(marked), seeded, { isStarted: false }).steps;
    expect(JSON.stringify(still)).not.toContain("vino:start");
  });

  test("reads back what it did before the last mark, and starts right after it", () => {
    const isDirect = plan(toVm()).steps.map((step) => step.isDirect === true);
    expect(isDirect).toEqual([false, true, false, true, true]);
    expect(listNextSteps(plan(toVm())).map(({ summary }) => summary)).toEqual([mark, seed]);
  });

  test("starts nothing on a host that cannot, or that must not be started", () => {
    const host = { id: HOST, name: "xcp-1", poolId: POOL, tags: [], isEnabled: false };
    const view = { hostsById: new Map([[HOST, host]]) };
    expect(steps(plan(toVm(marked), { ...seeded, view }))).toEqual(ready.slice(0, 1));
    expect(steps(plan(toVm(marked), seeded, { isStarted: false }))).toEqual(ready.slice(0, 1));
  });

  test("detaches a seed that is attached twice", () => {
    const twice = [
      ...toOwnLinks("vm-1"),
      toSeedLink("vm-1"),
      { ...toSeedLink("vm-1"), linkId: "l2" },
    ];
    expect(plan(toVm(marked), { links: { "vm-1": twice } }).steps[0]?.change).toEqual({
      kind: "detachDisk",
      linkId: "l2",
      vmId: "vm-1",
      diskId: "disk-seed",
    });
  });

  test("waits while the hypervisor works on it", () => {
    expect(plan(toVm({ isBusy: true }))).toMatchObject({
      state: "Creating",
      steps: [],
      againMs: 5_000,
    });
  });

  test("does not mind that its own disks fill the storage", () => {
    const { storages } = toView().stock;
    const full = storages.map((one) => ({ ...one, freeBytes: 0 }));
    expect(plan(toVm(), { stock: { storages: full } }).steps).not.toEqual([]);
  });

  test.each<[string, Vm, string]>([
    ["was started too early", toVm({ power: "running" }), "StartedTooEarly"],
    [
      "is not as asked for and has a snapshot",
      toVm({ hasSnapshots: true, linkIds: [] }),
      "MachineUnfinished",
    ],
  ])("leaves one to a person that %s", (_what, vm, reason) => {
    const planned = plan(vm, { links: { "vm-1": [] } });
    expect(planned).toMatchObject({ state: "Blocked", steps: [] });
    expect(planned.problems.map((one) => one.reason)).toEqual([reason]);
  });
});
