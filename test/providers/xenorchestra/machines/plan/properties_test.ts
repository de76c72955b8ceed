/**
 * What no plan does, for any VMs, tasks and records.
 * @module
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type {
  CreateTask,
  Vm,
} from "../../../../../lib/providers/xenorchestra/machines/look/view.ts";
import { isComplete } from "../../../../../lib/providers/xenorchestra/machines/look/vms_view.ts";
import {
  judgeOwner,
  wasComplete,
} from "../../../../../lib/providers/xenorchestra/machines/plan/find/half_made.ts";
import { planMachine } from "../../../../../lib/providers/xenorchestra/machines/plan/plan.ts";
import type { Plan } from "../../../../../lib/providers/xenorchestra/machines/plan/problems.ts";
import { planRemoval } from "../../../../../lib/providers/xenorchestra/machines/plan/removal.ts";
import {
  formatRecord,
  type VmRecord,
} from "../../../../../lib/providers/xenorchestra/machines/vm_record.ts";
import type { Change } from "../../../../../lib/providers/xenorchestra/machines/steps.ts";
import {
  formatMark,
  toReadyTag,
  toSpecHash,
  toUidTag,
} from "../../../../../lib/providers/xenorchestra/machines/words.ts";
import {
  HOST,
  IDENTITY,
  NAME,
  NOW,
  POOL,
  toDisk,
  toLink,
  toOwnLinks,
  toSpec,
  toTemplate,
  toView,
  toVm,
} from "../scene.ts";

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
  readonly view: ReturnType<typeof toView>;
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
    view: toView({
      vms: one.vms,
      tasks: one.tasks,
      templates: one.hasTemplate ? [half] : [],
      links: Object.fromEntries(attached),
      view: { pools, ...(!one.isConnected && { gap: "lost" }) },
    }),
    record: one.record,
    isPending: one.tasks.some(({ status }) => status === "pending"),
  };
});

const PLANS = {
  plan: (view: Drawn["view"], record: string): Plan => planMachine(view, toSpec(), record),
  planRemoval: (view: Drawn["view"], record: string): Plan => planRemoval(view, IDENTITY, record),
};

function toTarget(change: Change): string | undefined {
  if ("vmId" in change) return change.vmId;
  return change.kind === "deleteHalfMade" ? change.thing.id : undefined;
}

test.each(Object.entries(PLANS))(
  "%s() never touches what is foreign, pending or not shown for sure",
  (_name, make) => {
    fc.assert(
      fc.property(drawn, ({ view, record: remembered, isPending }) => {
        const { steps } = make(view, formatRecord(remembered));
        const isConnected = view.pools.every(({ isComplete: isThere }) => isThere);
        if (isPending || !isConnected) expect(steps).toEqual([]);
        const all = [...view.vms.values()].flat();
        for (const { change } of steps) {
          const id = toTarget(change);
          if (id === undefined || id === "half") continue;
          const target = all.find((one) => one.id === id);
          expect(target?.name).toBe(NAME);
          if (target !== undefined) expect(judgeOwner(target, IDENTITY)).not.toBe("foreign");
        }
      }),
      { numRuns: 1_000 },
    );
  },
);

test.each(Object.entries(PLANS))(
  "%s() deletes only what was never complete, never ran and is not of others",
  (_name, make) => {
    fc.assert(
      fc.property(drawn, ({ view, record: remembered }) => {
        const all = [...view.vms.values()].flat();
        for (const { change } of make(view, formatRecord(remembered)).steps) {
          if (change.kind !== "deleteHalfMade" || change.thing.kind !== "vm") continue;
          const target = all.find(({ id }) => id === change.thing.id);
          expect(target).toMatchObject({ power: "stopped", isStarted: false, hasSnapshots: false });
          expect(target && wasComplete(target, remembered)).toBe(false);
          expect(target?.creation?.user ?? "user-1").toBe("user-1");
        }
      }),
      { numRuns: 1_000 },
    );
  },
);

test("plan() creates only if none exists, and starts only what is complete, or right after the last mark", () => {
  fc.assert(
    fc.property(drawn, ({ view, record: remembered }) => {
      const { steps } = PLANS.plan(view, formatRecord(remembered));
      const named = view.vms.get(NAME) ?? [];
      for (const [at, { change, isDirect }] of steps.entries()) {
        if (change.kind === "create") expect(named).toEqual([]);
        if (change.kind !== "start") continue;
        const target = named.find(({ id }) => id === change.vmId);
        const before = steps[at - 1]?.change;
        const isMarked = before?.kind === "ready" && before.vmId === change.vmId;
        expect((target && isComplete(target)) || (isMarked && isDirect)).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("planRemoval() deletes a machine only with a mark of ours, and when it is off", () => {
  fc.assert(
    fc.property(drawn, ({ view, record: remembered }) => {
      const named = view.vms.get(NAME) ?? [];
      for (const { change } of PLANS.planRemoval(view, formatRecord(remembered)).steps) {
        if (change.kind !== "deleteVm") continue;
        const target = named.find(({ id }) => id === change.vmId);
        expect(target?.power).toBe("stopped");
        expect(target && judgeOwner(target, IDENTITY)).toBe("ours");
      }
    }),
    { numRuns: 1_000 },
  );
});
