import { expect, test } from "bun:test";
import fc from "fast-check";
import { planOverride, toSince } from "../../../../lib/controllers/vino/redfish/override_plan.ts";
import type { OverrideRecord } from "../../../../lib/controllers/vino/redfish/override_record.ts";

type Seen = Parameters<typeof planOverride>[1];
type Step = ReturnType<typeof planOverride>;

const OLD = ["disk", "cd"] as const;
const NEW = ["network", "disk", "cd"] as const;
const OTHER = ["cd", "disk"] as const;
const ONCE: OverrideRecord = { duration: "once", device: "network", before: OLD };
const ALWAYS: OverrideRecord = { ...ONCE, duration: "always" };
const off = { isRunning: false };
const on = { isRunning: true, startedAtMs: 5 };

test.each<[title: string, record: OverrideRecord, seen: Seen, step: Step]>([
  [
    "gives it its order first",
    ONCE,
    { power: "stopped", bootOrder: OLD },
    { kind: "order", order: NEW },
  ],
  [
    "notes that it was off then",
    ONCE,
    { power: "stopped", bootOrder: NEW },
    { kind: "note", since: off },
  ],
  [
    "notes when it was started",
    ALWAYS,
    { power: "running", bootOrder: NEW, startedAtMs: 5 },
    { kind: "note", since: on },
  ],
  [
    "waits while it is off",
    { ...ONCE, since: off },
    { power: "stopped", bootOrder: NEW },
    { kind: "wait" },
  ],
  [
    "waits while nothing is known",
    { ...ONCE, since: off },
    { power: "unknown", bootOrder: NEW },
    { kind: "wait" },
  ],
  [
    "waits while it was not restarted",
    { ...ONCE, since: on },
    { power: "running", bootOrder: NEW, startedAtMs: 5 },
    { kind: "wait" },
  ],
  [
    "waits if it cannot see a restart",
    { ...ONCE, since: { isRunning: true } },
    { power: "running", bootOrder: NEW, startedAtMs: 9 },
    { kind: "wait" },
  ],
  [
    "notes that it was switched off",
    { ...ONCE, since: on },
    { power: "stopped", bootOrder: NEW },
    { kind: "note", since: off },
  ],
  [
    "undoes it after a start",
    { ...ONCE, since: off },
    { power: "running", bootOrder: NEW },
    { kind: "order", order: OLD },
  ],
  [
    "undoes it after a restart",
    { ...ONCE, since: on },
    { power: "running", bootOrder: NEW, startedAtMs: 9 },
    { kind: "order", order: OLD },
  ],
  [
    "undoes it if it was paused after a start",
    { ...ONCE, since: off },
    { power: "paused", bootOrder: NEW },
    { kind: "order", order: OLD },
  ],
  [
    "forgets it when it is undone",
    { ...ONCE, since: off },
    { power: "running", bootOrder: OLD },
    { kind: "clear" },
  ],
  [
    "leaves an order of someone else",
    { ...ONCE, since: off },
    { power: "running", bootOrder: OTHER },
    { kind: "clear" },
  ],
  [
    "forgets it if the order is the same",
    { ...ONCE, device: "disk", since: off },
    { power: "running", bootOrder: OLD },
    { kind: "clear" },
  ],
  [
    "holds for good",
    { ...ALWAYS, since: off },
    { power: "running", bootOrder: NEW },
    { kind: "rest" },
  ],
  [
    "ends at once if that is asked for",
    { ...ALWAYS, duration: "never" },
    { power: "stopped", bootOrder: NEW },
    { kind: "order", order: OLD },
  ],
  [
    "forgets what has ended",
    { ...ALWAYS, duration: "never" },
    { power: "stopped", bootOrder: OLD },
    { kind: "clear" },
  ],
])("planOverride() %s", (_title, record, seen, step) => {
  expect(planOverride(record, seen)).toEqual(step);
});

function withOrder(seen: Seen, bootOrder: Seen["bootOrder"]): Seen {
  return { ...seen, bootOrder };
}

test("planOverride() comes to an end after a start, whatever was there before", () => {
  const device = fc.constantFrom("disk", "network", "cd");
  const order = fc.uniqueArray(device, { minLength: 1 });
  const power = fc.constantFrom("running", "stopped", "paused", "suspended");
  const machine = fc.record({ power, bootOrder: order, startedAtMs: fc.nat(3) });
  fc.assert(
    fc.property(device, order, machine, (target, before, first) => {
      const asked: OverrideRecord = { duration: "once", device: target, before };
      let [record, seen]: [OverrideRecord, Seen] = [asked, first];
      let hasStarted = false;
      for (let step = 0; step < 8; step += 1) {
        const plan: Step = planOverride(record, seen);
        if (plan.kind === "order") seen = withOrder(seen, plan.order);
        else if (plan.kind === "note") record = { ...asked, since: plan.since };
        else if (plan.kind === "clear") {
          expect(hasStarted).toBe(true);
          expect(seen.bootOrder).toEqual(before);
          return;
        } else {
          expect(hasStarted).toBe(false);
          expect(seen.bootOrder[0]).toBe(target);
          hasStarted = true;
          seen = { bootOrder: seen.bootOrder, power: "running", startedAtMs: 9 };
        }
      }
      throw new Error("it does not end");
    }),
  );
});

test("toSince() tells a start from none", () => {
  expect(toSince({ power: "stopped" })).toEqual({ isRunning: false });
  expect(toSince({ power: "running", startedAtMs: 7 })).toEqual({
    isRunning: true,
    startedAtMs: 7,
  });
});
