/**
 * Boot overrides: how they are planned, kept in a Secret, and ended by a process that may end at any point.
 * @module
 */
import fc from "fast-check";
import { expect, test } from "bun:test";
import {
  planOverride,
  toSince,
  BootOverrides,
  toBootOverride,
} from "../../../../lib/controllers/vino/redfish/boot_overrides.ts";
import {
  formatOverride,
  isSameOrder,
  type OverrideRecord,
  parseOverride,
  toOverrideOrder,
  OverrideStore,
} from "../../../../lib/controllers/vino/redfish/override_store.ts";
import { loginOf, ManagementRig } from "../../../support/vino/management_rig.ts";
import { ALONE, Fence, LeadershipLostError } from "../../../../lib/core/fence.ts";
import { MachinePowerDouble, makeMachine } from "../../../support/cloud/machine_power_double.ts";
import { longTest } from "../../../support/long_tests.ts";

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

const { signal } = new AbortController();
const FROM_DISK = { duration: "once", device: "network", before: ["disk"] } as const;
const SECRET = "a-boot-override";

function createStore() {
  const rig = new ManagementRig();
  const [machine] = rig.machines;
  if (machine === undefined) throw new Error("there is no machine");
  return { rig, machine, store: new OverrideStore({ client: rig.secrets }) };
}

test("OverrideStore makes a Secret for the first override, and keeps it for the next", async () => {
  const { rig, machine, store } = createStore();
  const none = await store.read(machine, signal);
  expect(await store.write(machine, none, undefined, signal)).toEqual({});
  expect(rig.secrets.version(SECRET)).toBeUndefined();
  const written = await store.write(machine, none, FROM_DISK, signal);
  expect(written.override).toEqual(FROM_DISK);
  const ended = await store.write(machine, written, undefined, signal);
  expect([ended.override, rig.secrets.override("a")]).toEqual([undefined, undefined]);
  await store.write(machine, ended, FROM_DISK, signal);
  expect(store.find(machine)?.override).toEqual(FROM_DISK);
});

test("OverrideStore never writes the Secret with the password, which metal3 watches", async () => {
  const { rig, machine, store } = createStore();
  const before = rig.secrets.version(machine.secretName);
  const written = await store.write(machine, await store.read(machine, signal), FROM_DISK, signal);
  await store.write(machine, written, undefined, signal);
  expect(rig.secrets.version(machine.secretName)).toBe(before);
  rig.secrets.set(machine.secretName, { ...loginOf("a"), password: "new" });
  expect(rig.secrets.version(machine.secretName)).not.toBe(before);
});

test("OverrideStore writes over a change of something else, but not over another override", async () => {
  const { rig, machine, store } = createStore();
  const none = await store.read(machine, signal);
  const other = new OverrideStore({ client: rig.secrets });
  const theirs = await other.write(machine, await other.read(machine, signal), FROM_DISK, signal);
  const refused = { kind: "alreadyExists" } as const;
  await expect(store.write(machine, none, FROM_DISK, signal)).rejects.toMatchObject(refused);
  rig.secrets.set(SECRET, {});
  const ended = await store.write(machine, theirs, undefined, signal);
  expect(ended.override).toBeUndefined();
  const late = store.write(machine, theirs, undefined, signal);
  await expect(late).rejects.toMatchObject({ kind: "conflict" });
});

test("OverrideStore makes the Secret again after a person deleted it", async () => {
  const { rig, machine, store } = createStore();
  const ended = await store.write(
    machine,
    await store.write(machine, {}, FROM_DISK, signal),
    undefined,
    signal,
  );
  rig.secrets.delete(SECRET);
  await store.write(machine, ended, FROM_DISK, signal);
  expect(rig.secrets.override("a")).toBeDefined();
});

test("OverrideStore does not take over what is about another machine, or of another Vino", async () => {
  const { rig, machine, store } = createStore();
  await store.write(machine, {}, FROM_DISK, signal);
  const next = { ...machine, id: "b" };
  expect((await store.read(next, signal)).override).toBeUndefined();
  const later = { ...machine, vino: { name: "edge", uid: "another" } };
  expect(await store.read(later, signal)).toEqual({});
  const refused = store.write(later, {}, { ...FROM_DISK, duration: "always" }, signal);
  await expect(refused).rejects.toMatchObject({ kind: "alreadyExists" });
  expect(rig.secrets.override("a")).toContain("once");
});

test("OverrideStore reads what it does not know, once, and forgets machines that are gone", async () => {
  const { rig, machine, store } = createStore();
  await store.learn(rig.machines, signal);
  await store.learn(rig.machines, signal);
  expect([rig.secrets.reads, store.find(machine)]).toEqual([1, {}]);
  await store.learn([], signal);
  expect(store.find(machine)).toBeUndefined();
});

const FROM_DISK_OR_CD: OverrideRecord = {
  duration: "once",
  device: "network",
  before: ["disk", "cd"],
};

test.each<[record: OverrideRecord]>([
  [FROM_DISK_OR_CD],
  [{ ...FROM_DISK_OR_CD, since: { isRunning: false } }],
  [{ ...FROM_DISK_OR_CD, duration: "never", since: { isRunning: true, startedAtMs: 5 } }],
  [{ ...FROM_DISK_OR_CD, duration: "always", device: "cd" }],
])("parseOverride() reads what formatOverride() wrote: %j", (record) => {
  expect(parseOverride(formatOverride(record))).toEqual(record);
});

test("formatOverride() writes what a process of another version reads", () => {
  expect(formatOverride({ ...FROM_DISK_OR_CD, since: { isRunning: false } })).toBe(
    '{"duration":"once","device":"network","before":["disk","cd"],"since":{"isRunning":false}}',
  );
});

test.each([
  "",
  "{",
  "null",
  "[]",
  '{"duration":"twice","device":"network","before":["disk"]}',
  '{"duration":"once","device":"tape","before":["disk"]}',
  '{"duration":"once","device":"network","before":[]}',
  '{"duration":"once","device":"network","before":["disk","tape"]}',
  '{"duration":"once","device":"network","before":"disk"}',
])("parseOverride() takes %s for no override", (text) => {
  expect(parseOverride(text)).toBeUndefined();
});

test("parseOverride() takes a wrong note for none", () => {
  const text = formatOverride(FROM_DISK_OR_CD).replace("}", ',"since":{"isRunning":"yes"}}');
  expect(parseOverride(text)).toEqual(FROM_DISK_OR_CD);
});

test("toOverrideOrder() keeps the others behind", () => {
  expect(toOverrideOrder(FROM_DISK_OR_CD)).toEqual(["network", "disk", "cd"]);
  expect(toOverrideOrder({ device: "cd", before: ["network", "disk", "cd"] })).toEqual([
    "cd",
    "network",
    "disk",
  ]);
});

test("isSameOrder() compares all of it", () => {
  expect(isSameOrder(["disk"], ["disk"])).toBe(true);
  expect(isSameOrder(["disk"], ["disk", "cd"])).toBe(false);
  expect(isSameOrder(["disk", "cd"], ["cd", "disk"])).toBe(false);
});

const PXE_ONCE = { duration: "once", device: "network" } as const;

test("toBootOverride() shows an override that ends as none", () => {
  const record = { ...PXE_ONCE, before: ["disk"] } as const;
  expect(toBootOverride(record)).toEqual(PXE_ONCE);
  expect(toBootOverride({ ...record, duration: "never" })).toEqual({ duration: "never" });
  expect(toBootOverride(undefined)).toEqual({ duration: "never" });
});

test("BootOverrides gives up if the cloud never shows the order, and what was asked for stays written", async () => {
  const rig = new ManagementRig();
  const { power, clock, secrets, machines } = rig;
  const [machine] = machines;
  if (machine === undefined) throw new Error("there is no machine");
  const old = power.get("a");
  power.onCall = (call, when) => {
    if (call.startsWith("order") && when === "after") power.machines.set("a", old);
  };
  const store = new OverrideStore({ client: secrets });
  const overrides = new BootOverrides({ power, store, fence: new Fence(ALONE), clock });
  const failed = overrides.change(machine, PXE_ONCE, signal).then(
    () => "done",
    (error: unknown) => String(error),
  );
  await clock.advance(60_000);
  expect(await failed).toContain("does not show the order of boot devices");
  expect(secrets.override(machine.id)).toBe(
    '{"duration":"once","device":"network","before":["disk","cd"]}',
  );
  expect(power.calls.length).toBeLessThanOrEqual(12);
});

const ORDER = ["disk", "cd"] as const;
const LONG_MS = 10 * 60_000;

interface Scenario {
  readonly title: string;
  readonly isRunning?: boolean;
  readonly knowsStarts?: boolean;
  /** What a client does after it set the device once. */
  readonly later?: readonly ("on" | "off" | "restart")[];
}

const SCENARIOS: readonly Scenario[] = [
  { title: "a machine that is off, and is switched on", later: ["on"] },
  { title: "a machine that is off, and is left alone" },
  { title: "a machine that runs, and is restarted", isRunning: true, later: ["restart"] },
  {
    title: "a machine that runs, and is switched off and on",
    isRunning: true,
    later: ["off", "on"],
  },
  { title: "a machine whose starts the cloud does not tell", knowsStarts: false, later: ["on"] },
];

interface Run {
  readonly rig: ManagementRig;
  /** How many starts there had been when the client was told that the device is set; absent: it was not. */
  readonly startsBefore?: number;
  readonly points: number;
}

/** Runs a scenario until the point where the process ends. */
async function runUntil(scenario: Scenario, cut: number): Promise<Run> {
  const power = new MachinePowerDouble([makeMachine("a", { bootOrder: ORDER })]);
  power.knowsStarts = scenario.knowsStarts ?? true;
  if (scenario.isRunning === true) power.start("a");
  const rig = new ManagementRig(power);
  const process = rig.createProcess();
  let points = 0;
  const onCall = (): void => {
    points += 1;
    if (points !== cut) return;
    process.kill();
    throw new LeadershipLostError("the process ends");
  };
  power.onCall = onCall;
  rig.secrets.onCall = onCall;
  process.lead();
  const work = async (): Promise<number | undefined> => {
    const { management } = process;
    const { signal } = new AbortController();
    const change = { device: "network", duration: "once" } as const;
    const answer = await management.setBoot("a", change, signal);
    const startsBefore = answer.kind === "done" ? power.starts.length : undefined;
    for (const action of scenario.later ?? []) await management.reset("a", action, signal);
    return startsBefore;
  };
  const working = work();
  await rig.clock.advance(LONG_MS);
  const startsBefore = await working;
  process.kill();
  power.onCall = () => {};
  rig.secrets.onCall = () => {};
  return { rig, points, ...(startsBefore !== undefined && { startsBefore }) };
}

/** Another process leads, and the machine is started. */
async function finish({ rig, startsBefore }: Run): Promise<void> {
  const next = rig.createProcess();
  next.lead();
  await rig.clock.advance(LONG_MS);
  const isStarted = startsBefore !== undefined && rig.power.starts.length > startsBefore;
  if (!isStarted || rig.power.get("a").power !== "running") {
    if (rig.power.get("a").power === "running") rig.power.stop("a");
    await rig.clock.advance(LONG_MS);
    rig.power.start("a");
  }
  await rig.clock.advance(LONG_MS);
  next.kill();
}

for (const scenario of SCENARIOS) {
  longTest(
    `VinoManagement finishes a device that was set once, at any end of the process: ${scenario.title}`,
    async () => {
      const { points } = await runUntil(scenario, Infinity);
      expect(points).toBeGreaterThan(12);
      let answered = 0;
      for (let cut = 1; cut <= points; cut += 1) {
        const run = await runUntil(scenario, cut);
        await finish(run);
        const { rig, startsBefore } = run;
        const { bootOrder } = rig.power.get("a");
        const override = rig.secrets.override("a");
        expect({ cut, bootOrder, override }).toEqual({
          cut,
          bootOrder: ORDER,
          override: undefined,
        });
        if (startsBefore === undefined) continue;
        answered += 1;
        expect([cut, rig.power.starts[startsBefore]]).toEqual([cut, "a network"]);
        rig.power.start("a");
        expect([cut, rig.power.starts.at(-1)]).toEqual([cut, "a disk"]);
      }
      expect(answered).toBeGreaterThan(0);
    },
  );
}
