/**
 * What a plan does with a machine that is complete, and properties of any plan.
 * @module
 */
import fc from "fast-check";
import { planFromInventory } from "../../../../../lib/providers/xenorchestra/machines/plan/from_inventory.ts";
import { describe, expect, test } from "bun:test";
import { listNextSteps, type MachineSpec } from "../../../../../lib/cloud/capabilities/machines.ts";
import {
  type CreateTask,
  type Vm,
  isComplete,
} from "../../../../../lib/providers/xenorchestra/machines/observe/observation.ts";
import { compareVm } from "../../../../../lib/providers/xenorchestra/machines/plan/compare.ts";
import { planComplete } from "../../../../../lib/providers/xenorchestra/machines/plan/complete.ts";
import type { Plan } from "../../../../../lib/providers/xenorchestra/machines/plan/problems.ts";
import { toWanted } from "../../../../../lib/providers/xenorchestra/machines/plan/wanted.ts";
import {
  formatMark,
  SEED_DISK,
  toReadyTag,
  toSpecHash,
  toUidTag,
} from "../../../../../lib/providers/xenorchestra/machines/words.ts";
import {
  formatRecord,
  type VmRecord,
  toNameHash,
} from "../../../../../lib/providers/xenorchestra/machines/vm_record.ts";
import {
  GIB,
  HOST,
  IDENTITY,
  NAME,
  NOW,
  OWN_VIF,
  POOL,
  type SceneOptions,
  toCompleteVm,
  toDisk,
  toLink,
  toNextRecord,
  toOwnDisk,
  toOwnLinks,
  toSpec,
  toTemplate,
  toView,
  toVm,
} from "../scene.ts";
import {
  judgeOwner,
  wasComplete,
} from "../../../../../lib/providers/xenorchestra/machines/plan/find.ts";
import { planMachine } from "../../../../../lib/providers/xenorchestra/machines/plan/plan.ts";
import { planRemoval } from "../../../../../lib/providers/xenorchestra/machines/plan/removal.ts";
import type { Change } from "../../../../../lib/providers/xenorchestra/machines/steps.ts";
import { tries } from "../../../../support/extent.ts";

function plan(
  vm: Vm,
  over: Partial<MachineSpec> = {},
  options: SceneOptions = {},
  record: VmRecord = toNextRecord(vm),
): Plan {
  const spec = toSpec(over);
  const cloud = toView({ vms: [vm], ...options });
  const wanted = toWanted(cloud, spec);
  const comparison = compareVm(cloud, spec, { vm, wanted, record });
  return planComplete({ cloud, spec, record, vm, wanted, comparison });
}

const steps = ({ steps: some }: Plan): string[] => some.map(({ summary }) => summary);
const reasons = ({ problems }: Plan): string[] => problems.map(({ reason }) => reason);
const waiting = [...toCompleteVm().tags, "vino:start"];
const ready = `note that ${NAME} is as it should be`;

describe("planComplete()", () => {
  test("deletes a seed that came late, and keeps other disks that nothing uses", () => {
    const loose = [
      toOwnDisk(SEED_DISK, GIB, { id: "late" }),
      toOwnDisk("data", GIB, { id: "own" }),
    ];
    expect(steps(plan(toCompleteVm(), {}, { loose }))).toEqual([
      `delete disk ${NAME}-cidata (late), which nothing uses`,
    ]);
  });

  test("forgets the doubt about an earlier attempt when nothing of it came for long", () => {
    const record = { ...toNextRecord(), doubtAt: NOW - 1_800_000 };
    const [step] = plan(toCompleteVm(), {}, {}, record).steps;
    expect(step?.change).toEqual({ kind: "saveRecord", record: toNextRecord() });
    const early = { ...record, doubtAt: record.doubtAt + 1 };
    expect(steps(plan(toCompleteVm(), {}, {}, early))).toEqual([]);
  });

  test("leaves a machine alone that is as it should be", () => {
    expect(plan(toCompleteVm())).toMatchObject({ state: "Ready", steps: [], problems: [] });
  });

  test.each<[string, Vm, Partial<MachineSpec>, readonly string[], readonly string[]]>([
    [
      "changes CPUs of one that is off",
      toCompleteVm(),
      { cpus: 8 },
      [`set the CPUs of ${NAME} to 8`],
      [],
    ],
    [
      "waits for a stop of one that runs",
      toCompleteVm({ power: "running" }),
      { cpus: 8 },
      [],
      ["NeedsStop"],
    ],
    [
      "does so with a paused one",
      toCompleteVm({ power: "paused" }),
      { memoryBytes: 8 * GIB },
      [],
      ["NeedsStop"],
    ],
    [
      "adds an interface to one that runs",
      toCompleteVm({ power: "running" }),
      {
        interfaces: [
          ...toSpec().interfaces,
          { name: "b", network: "net-2", mac: "02:00:00:00:00:02" },
        ],
      },
      [`add interface b to ${NAME}`],
      [],
    ],
    [
      "notes another specification that it fulfils",
      toCompleteVm(),
      { template: "template-1" },
      [ready, `remove an old note from ${NAME}`],
      [],
    ],
    [
      "gives a lost note back",
      toCompleteVm({ tags: toCompleteVm().tags.slice(0, 2) }),
      {},
      [ready],
      [],
    ],
    [
      "starts one that was never started",
      toCompleteVm({ tags: waiting }),
      {},
      [`start VM ${NAME} on host xcp-1`, `note that ${NAME} was started`],
      [],
    ],
    [
      "notes that it was started",
      toCompleteVm({ tags: waiting, power: "running" }),
      {},
      [`note that ${NAME} was started`],
      [],
    ],
    [
      "does not mind a template that is gone",
      toCompleteVm(),
      { template: "gone" },
      [ready, `remove an old note from ${NAME}`],
      [],
    ],
    [
      "says that it was made from another template",
      toCompleteVm({ creation: { template: "old" } }),
      {},
      [],
      ["TemplateDiffers"],
    ],
  ])("%s", (_what, vm, over, wanted, found) => {
    const planned = plan(vm, over);
    expect(steps(planned)).toEqual([...wanted]);
    expect(reasons(planned)).toEqual([...found]);
    expect(planned.problems.every(({ kind }) => kind === "notice")).toBe(true);
  });

  test("remembers the parts of one that is as it should be, and notes it without another look", () => {
    const vm = toCompleteVm({ vifIds: ["vif-new"] });
    const planned = plan(vm, { template: "template-1" }, {}, toNextRecord());
    expect(steps(planned)).toEqual([
      `remember VM ${NAME}`,
      ready,
      `remove an old note from ${NAME}`,
    ]);
    expect(listNextSteps(planned)).toHaveLength(3);
    expect(planned.steps[0]?.change).toMatchObject({
      kind: "saveRecord",
      record: toNextRecord(vm),
    });
  });

  test("does not say of one that differs and lost the last mark that it is as it should be", () => {
    const vm = toCompleteVm({ tags: [] });
    const more = { "vm-1": [OWN_VIF, { ...OWN_VIF, device: "9", mac: "02:00:00:00:00:99" }] };
    const note = plan(vm, {}, { vifs: more }).steps.find(
      ({ change }) => change.kind === "addTag" && change.tag.startsWith("vino:ready"),
    );
    expect(note).toMatchObject({
      summary: `note that ${NAME} was complete`,
      change: { tag: "vino:ready=differs" },
    });
    const after = toCompleteVm({
      tags: [...toCompleteVm({ tags: ["vino", "vino:ready=differs"] }).tags],
    });
    expect(
      planFromInventory(toView({ vms: [after] }), toSpec(), toNextRecord(after)),
    ).toMatchObject({
      needsLook: true,
    });
  });

  test("does not remember the parts of one that differs, so that every look says so", () => {
    const vm = toCompleteVm({ vifIds: ["vif-new"] });
    const vifs = { "vm-1": [{ ...OWN_VIF, mac: "02:00:00:00:00:09" }] };
    const planned = plan(vm, {}, { vifs }, toNextRecord());
    expect(steps(planned)).toEqual([]);
    expect(reasons(planned)).toEqual(["InterfaceDiffers"]);
  });

  test.each<[string, Partial<MachineSpec>, string, string]>([
    [
      "network that does not exist",
      { interfaces: [{ name: "oam", network: "gone", mac: OWN_VIF.mac }] },
      "decision",
      'interface oam: pool "paris" (pool-1) has no network "gone". Correct the name in the spec',
    ],
    [
      "network name that is not unique",
      { interfaces: [{ name: "oam", network: "twice", mac: OWN_VIF.mac }] },
      "decision",
      'interface oam: pool "paris" (pool-1) has 2 objects of the kind network with the name "twice"',
    ],
    [
      "storage that does not exist",
      {
        disks: [
          { name: "root", sizeBytes: 20 * GIB },
          { name: "data", sizeBytes: 5 * GIB, storage: "gone" },
        ],
      },
      "notice",
      'disk data: pool "paris" (pool-1) has no storage repository "gone". Correct the name',
    ],
    [
      "disk that cannot shrink",
      { disks: [{ name: "root", sizeBytes: GIB }, ...toSpec().disks.slice(1)] },
      "decision",
      "disk root has 20Gi, and a disk cannot shrink to 1Gi",
    ],
  ])("says of a %s only that, and takes no part for a wrong one", (...args) => {
    const [_what, over, kind, message] = args;
    const planned = plan(toCompleteVm({ power: "running" }), over);
    expect(planned).toMatchObject({ state: "Ready", steps: [], problems: [{ kind }] });
    expect(planned.problems[0]?.message).toContain(message);
    expect(planned.problems).toHaveLength(1);
  });

  test.each<[string, Vm, Partial<MachineSpec>, boolean]>([
    ["as it should be", toCompleteVm(), {}, true],
    ["with other CPUs", toCompleteVm({ cpus: 1, power: "running" }), {}, true],
    ["of another template", toCompleteVm({ creation: { template: "old" } }), {}, true],
    [
      "whose disk waits for a stop to grow",
      toCompleteVm({ power: "running" }),
      { disks: [{ name: "root", sizeBytes: 21 * GIB }, ...toSpec().disks.slice(1)] },
      false,
    ],
    [
      "that gets an interface",
      toCompleteVm(),
      { interfaces: [...toSpec().interfaces, { name: "b", network: "net-2", mac: "02:02" }] },
      false,
    ],
    ["with an interface more", toCompleteVm(), { interfaces: [] }, false],
    [
      "whose network is not found",
      toCompleteVm(),
      { interfaces: [{ name: "oam", network: "gone", mac: OWN_VIF.mac }] },
      false,
    ],
  ])("knows whether one %s has all disks and interfaces", (_what, vm, over, isBuilt) => {
    expect(plan(vm, over).isBuilt === true).toBe(isBuilt);
  });

  test("says first what a person must decide", () => {
    const disks = [
      { name: "root", sizeBytes: GIB, storage: "gone" },
      { name: "data", sizeBytes: 5 * GIB },
    ];
    expect(reasons(plan(toCompleteVm(), { disks }))).toEqual([
      "DiskCannotShrink",
      "StorageNotFound",
    ]);
  });

  test("says of another template that data goes with the machine, after what is more urgent", () => {
    const vm = toCompleteVm({ power: "running", creation: { template: "template-2" } });
    const templates = [toTemplate({ id: "template-2", uuid: "uuid-2", name: "old" })];
    const interfaces = [{ name: "oam", network: "gone", mac: OWN_VIF.mac }];
    const planned = plan(vm, { cpus: 8, interfaces }, { templates });
    expect(reasons(planned)).toEqual(["NetworkNotFound", "NeedsStop", "TemplateDiffers"]);
    const last = planned.problems.at(-1);
    expect(last?.losesMachine).toBe(true);
    expect(last?.message).toStartWith(
      `${NAME} was made from template "old" (template-2) and not from template "debian" (template-1)`,
    );
    expect(last?.message).toContain("all data on its disks is lost");
  });

  test.each([8, 12])(
    "keeps the disk of its template if the spec has another with %d GiB",
    (size) => {
      const vm = toCompleteVm({ power: "running" });
      const other = toTemplate({ id: "template-2", uuid: "uuid-2", name: "other" });
      const links = {
        "vm-1": [toLink("vm-1", 0, toOwnDisk("disk0", 10 * GIB))],
        "template-2": [toLink("template-2", 0, toDisk({ sizeBytes: size * GIB }))],
      };
      const over = { template: "other", disks: [] };
      const planned = plan(vm, over, { templates: [other], links });
      expect(reasons(planned)).toEqual(["TemplateDiffers"]);
      expect(planned).toMatchObject({ state: "Ready", steps: [], isBuilt: true });
    },
  );

  test("lets a disk grow although its storage is not found", () => {
    const disks = [
      { name: "root", sizeBytes: 20 * GIB },
      { name: "data", sizeBytes: 6 * GIB, storage: "gone" },
    ];
    expect(steps(plan(toCompleteVm(), { disks }))).toEqual([`grow disk data of ${NAME} to 6Gi`]);
  });

  test("adds no interface whose MAC address another VM has", () => {
    const mac = "02:00:00:00:00:02";
    const interfaces = [...toSpec().interfaces, { name: "b", network: "net-2", mac }];
    const resources = { macs: new Map([[mac, [{ vmId: "vm-2", poolId: "pool-1" }]]]) };
    const planned = plan(toCompleteVm(), { interfaces }, { resources });
    expect(steps(planned)).toEqual([]);
    expect(planned.problems).toMatchObject([{ reason: "MacTaken", kind: "notice" }]);
    expect(planned.problems[0]?.message).toContain("VM vm-2 has its MAC address 02:00:00:00:00:02");
  });

  test("remembers a machine that the record does not know", () => {
    const [first] = plan(toCompleteVm({ cpus: 1 }), {}, {}, { at: 1, doubtAt: 5 }).steps;
    expect(JSON.parse(JSON.stringify(first?.change))).toEqual({
      kind: "saveRecord",
      record: { vm: "vm-1", pool: "pool-1", doubtAt: 5, had: ["root", "data"].map(toNameHash) },
    });
  });

  test("does not start one that has lost the last mark before it has that again", () => {
    const vm = toCompleteVm({ tags: [...toCompleteVm().tags.slice(0, 2), "vino:start"] });
    expect(steps(plan(vm))).toEqual([ready]);
  });

  test("does not start on a host that is disabled", () => {
    const host = { id: HOST, name: "xcp-1", poolId: "pool-1", tags: [], isEnabled: false };
    const cloud = { hostsById: new Map([[HOST, host]]) };
    const planned = plan(toCompleteVm({ tags: waiting }), {}, { cloud });
    expect(steps(planned)).toEqual([]);
    expect(reasons(planned)).toEqual(["HostNotUsable"]);
  });

  test.each([
    ["stopped", "Unfinished"],
    ["running", "Ready"],
  ] as const)("calls one that was never started, and is %s, %s", (power, state) => {
    expect(plan(toCompleteVm({ tags: waiting, power })).state).toBe(state);
    expect(plan(toCompleteVm({ power })).state).toBe("Ready");
  });

  test("says what waits for a stop, with both values", () => {
    const [problem] = plan(toCompleteVm({ power: "running" }), { cpus: 8 }).problems;
    expect(problem?.message).toContain("CPUs from 2 to 8");
    expect(problem?.isWaiting).toBe(true);
  });
});

const UID = IDENTITY.owner.uid;
const made = { hostId: HOST, hash: toSpecHash(toSpec()) };

const description = fc.constantFrom(
  "",
  "",
  formatMark(IDENTITY, made, false),
  formatMark(IDENTITY, made, false),
  formatMark(IDENTITY, made, false),
  formatMark(IDENTITY, made, true),
  "vino uid=x role=worker index=0 ready",
  "Debian",
);
const anyTags = fc.subarray([
  "vino",
  toUidTag(UID),
  toReadyTag(made.hash),
  toReadyTag("old"),
  "vino:start",
  "prod",
]);
const tags = fc.oneof(fc.constant([]), anyTags);
const creation = fc.option(
  fc.record({
    user: fc.constantFrom("user-1", "user-1", "other"),
    template: fc.constantFrom("template-1", "template-1", "template-1", "t9"),
    dateMs: fc.integer({ min: NOW - 9, max: NOW }),
  }),
  { nil: undefined },
);
const power = fc.constantFrom("running", "stopped", "stopped", "stopped", "suspended" as const);
/** So that enough VMs are such that only one reason keeps them. */
const seldom = fc.constantFrom(false, false, false, false, true);

const vm: fc.Arbitrary<Vm> = fc
  .record({
    name: fc.constantFrom(NAME, NAME, NAME, "copy"),
    description,
    tags,
    power,
    creation,
    cpus: fc.constantFrom(1, 2),
    isStarted: seldom,
    hasSnapshots: seldom,
    isBusy: seldom,
  })
  .map(({ creation: by, ...over }) => {
    const { creation: _usual, ...rest } = toVm(over as Partial<Vm>);
    return by === undefined ? rest : { ...rest, creation: by };
  });
const vms = fc
  .array(vm, { maxLength: 3 })
  .map((some) => some.map((one, at) => ({ ...one, id: `vm-${at + 1}`, linkIds: [`l-${at}`] })));
const task: fc.Arbitrary<CreateTask> = fc.record({
  id: fc.constantFrom("t1", "t2"),
  status: fc.constantFrom("pending", "success", "failure", "interrupted", "interrupted" as const),
});
const record: fc.Arbitrary<VmRecord> = fc.record(
  {
    at: fc.integer({ min: NOW - 100_000, max: NOW }),
    task: fc.constantFrom("t1", "t9"),
    vm: fc.constantFrom("vm-1", "vm-9"),
    templates: fc.constant(["template-1"]),
    pool: fc.constant(POOL),
  },
  { requiredKeys: [] },
);
const links = fc.constantFrom(
  toOwnLinks("x"),
  [],
  [toLink("x", 0, toDisk())],
  [toLink("x", 0, toDisk({ name: "important" }))],
);
const scene = fc.record({
  vms,
  tasks: fc.uniqueArray(task, { maxLength: 2, selector: ({ id }) => id }),
  record,
  links,
  hasTemplate: fc.boolean(),
  isConnected: seldom.map((isLost) => !isLost),
});

interface Drawn {
  readonly cloud: ReturnType<typeof toView>;
  readonly record: VmRecord;
  readonly isPending: boolean;
}

const drawn: fc.Arbitrary<Drawn> = scene.map((one) => {
  const attached = one.vms.map(({ id }, at) => {
    const [first, ...rest] = one.links;
    return [id, first ? [{ ...first, linkId: `l-${at}` }, ...rest] : []] as const;
  });
  const half = toTemplate({ id: "half", uuid: "half", name: NAME, linkIds: [] });
  const pools = [{ id: POOL, name: "paris", isComplete: one.isConnected }];
  return {
    cloud: toView({
      vms: one.vms,
      tasks: one.tasks,
      templates: one.hasTemplate ? [half] : [],
      links: Object.fromEntries(attached),
      cloud: { pools, ...(!one.isConnected && { gap: "lost" }) },
    }),
    record: one.record,
    isPending: one.tasks.some(({ status }) => status === "pending"),
  };
});

const PLANS = {
  plan: (cloud: Drawn["cloud"], record: string): Plan => planMachine(cloud, toSpec(), record),
  planRemoval: (cloud: Drawn["cloud"], record: string): Plan =>
    planRemoval(cloud, IDENTITY, record),
};

function toTarget(change: Change): string | undefined {
  if ("vmId" in change) return change.vmId;
  return change.kind === "deleteHalfMade" ? change.thing.id : undefined;
}

test.each(Object.entries(PLANS))(
  "%s() never touches what is foreign, pending or not shown for sure",
  (_name, make) => {
    fc.assert(
      fc.property(drawn, ({ cloud, record: remembered, isPending }) => {
        const { steps } = make(cloud, formatRecord(remembered));
        const isConnected = cloud.pools.every(({ isComplete: isThere }) => isThere);
        if (isPending || !isConnected) expect(steps).toEqual([]);
        const all = [...cloud.vms.values()].flat();
        for (const { change } of steps) {
          const id = toTarget(change);
          if (id === undefined || id === "half") continue;
          const target = all.find((one) => one.id === id);
          expect(target?.name).toBe(NAME);
          if (target !== undefined) expect(judgeOwner(target, IDENTITY)).not.toBe("foreign");
        }
      }),
      tries(1_000),
    );
  },
);

test.each(Object.entries(PLANS))(
  "%s() deletes only what was never complete, never ran and is not of others",
  (_name, make) => {
    fc.assert(
      fc.property(drawn, ({ cloud, record: remembered }) => {
        const all = [...cloud.vms.values()].flat();
        for (const { change } of make(cloud, formatRecord(remembered)).steps) {
          if (change.kind !== "deleteHalfMade" || change.thing.kind !== "vm") continue;
          const target = all.find(({ id }) => id === change.thing.id);
          expect(target).toMatchObject({ power: "stopped", isStarted: false, hasSnapshots: false });
          expect(target && wasComplete(target, remembered)).toBe(false);
          expect(target?.creation?.user ?? "user-1").toBe("user-1");
        }
      }),
      tries(1_000),
    );
  },
);

test("plan() creates only if none exists, and starts only what is complete, or right after the last mark", () => {
  fc.assert(
    fc.property(drawn, ({ cloud, record: remembered }) => {
      const { steps } = PLANS.plan(cloud, formatRecord(remembered));
      const named = cloud.vms.get(NAME) ?? [];
      for (const [at, { change, isDirect }] of steps.entries()) {
        if (change.kind === "create") expect(named).toEqual([]);
        if (change.kind !== "start") continue;
        const target = named.find(({ id }) => id === change.vmId);
        const before = steps[at - 1]?.change;
        const isMarked = before?.kind === "ready" && before.vmId === change.vmId;
        expect((target && isComplete(target)) || (isMarked && isDirect)).toBe(true);
      }
    }),
    tries(1_000),
  );
});

test("planRemoval() deletes a machine only with a mark of ours, and when it is off", () => {
  fc.assert(
    fc.property(drawn, ({ cloud, record: remembered }) => {
      const named = cloud.vms.get(NAME) ?? [];
      for (const { change } of PLANS.planRemoval(cloud, formatRecord(remembered)).steps) {
        if (change.kind !== "deleteVm") continue;
        const target = named.find(({ id }) => id === change.vmId);
        expect(target?.power).toBe("stopped");
        expect(target && judgeOwner(target, IDENTITY)).toBe("ours");
      }
    }),
    tries(1_000),
  );
});
