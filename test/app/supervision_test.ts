/**
 * What the service manager is told, on a clock that the test moves.
 * @module
 */
import { expect, test } from "bun:test";
import { type ProcessState, Supervision } from "../../lib/app/supervision.ts";
import { createLogger } from "../../lib/core/log.ts";
import type { Notification } from "../../lib/host/notify.ts";
import { FakeProvider } from "../support/cloud/instances.ts";
import { startRig, until } from "../support/nodes/rig.ts";
import { ManualClock } from "../support/manual_clock.ts";

interface Stage {
  readonly clock: ManualClock;
  readonly told: Notification[];
  readonly holds: { readyz: boolean; livez: boolean };
  state: ProcessState;
  poke(): void;
  stop(): Promise<void>;
}

function startStage(watchdogMs?: number): Stage {
  const clock = new ManualClock();
  const told: Notification[] = [];
  const holds = { readyz: false, livez: true };
  const ending = new AbortController();
  const stage: { state: ProcessState } = {
    state: { elections: [], nodes: 0, isCloudFailing: false },
  };
  const supervision = new Supervision(
    {
      notifier: {
        ...(watchdogMs !== undefined && { watchdogMs }),
        notify: async (notification) => void told.push(notification),
      },
      clock,
      log: createLogger({ format: "text", write: () => {}, now: () => 0 }),
      checks: [
        { name: "nodes-synced", probes: ["readyz"], isOk: () => holds.readyz },
        { name: "loop", probes: ["livez"], isOk: () => holds.livez },
      ],
      readState: () => stage.state,
    },
    ending.signal,
  );
  return Object.assign(stage, {
    clock,
    told,
    holds,
    poke: () => supervision.notice(),
    stop: async () => {
      ending.abort();
      await supervision.ended;
    },
  });
}

const STANDBY = [{ lease: "a", isLeading: false }];
const LEADING = [{ lease: "a", isLeading: true }];

test("Supervision asks for more time while the start lasts, and is ready once readyz holds", async () => {
  const stage = startStage(60_000);
  await stage.clock.advance(60_000);
  const first = "starting, waiting for nodes-synced; Nodes: 0; no inventory yet";
  expect(stage.told).toHaveLength(3);
  for (const one of stage.told) {
    expect(one).toEqual({ EXTEND_TIMEOUT_USEC: "90000000", STATUS: first });
  }
  stage.state = { elections: STANDBY, nodes: 3, inventoryAgeMs: 0, isCloudFailing: false };
  stage.holds.readyz = true;
  await stage.clock.advance(200);
  expect(stage.told.at(-1)).toEqual({
    READY: "1",
    STATUS: "standby; Nodes: 3; inventory of 2026-01-01T00:01:00Z",
    WATCHDOG: "1",
  });
  await stage.stop();
  expect(stage.told.at(-1)).toEqual({ STOPPING: "1", STATUS: "stopping" });
});

test("Supervision tells the watchdog at half its time, only while livez holds", async () => {
  const stage = startStage(10_000);
  stage.holds.readyz = true;
  await stage.clock.advance(200);
  const count = (): number => stage.told.filter(({ WATCHDOG }) => WATCHDOG === "1").length;
  await stage.clock.advance(30_000);
  expect(count()).toBe(7);
  stage.holds.livez = false;
  await stage.clock.advance(60_000);
  expect(count()).toBe(7);
  stage.holds.livez = true;
  await stage.clock.advance(5_000);
  expect(count()).toBe(8);
  // READY is said once, the status every 30 s.
  expect(stage.told.filter(({ READY }) => READY !== undefined)).toHaveLength(1);
  expect(stage.told.filter(({ STATUS }) => STATUS?.startsWith("running"))).toHaveLength(4);
  await stage.stop();
});

test("Supervision tells a status of another kind at once, and one of the same kind in its time", async () => {
  const stage = startStage();
  stage.holds.readyz = true;
  stage.state = { elections: STANDBY, nodes: 1, isCloudFailing: false };
  await stage.clock.advance(200);
  const count = stage.told.length;
  stage.state = { elections: STANDBY, nodes: 2, isCloudFailing: false };
  stage.poke();
  await stage.clock.advance(1);
  expect(stage.told).toHaveLength(count);
  stage.state = { elections: LEADING, nodes: 2, isCloudFailing: true };
  stage.poke();
  await stage.clock.advance(1);
  expect(stage.told).toHaveLength(count + 1);
  expect(stage.told.at(-1)?.["STATUS"]).toStartWith("leading, but the cloud does not answer; ");
  expect(stage.told.some(({ WATCHDOG }) => WATCHDOG !== undefined)).toBe(false);
  await stage.stop();
});

test.each([
  [[], "running"],
  [LEADING, "leading"],
  [[...LEADING, { lease: "b", isLeading: true }], "leading"],
  [[...STANDBY, { lease: "b", isLeading: false }], "standby"],
  [[...LEADING, { lease: "b", isLeading: false }], "leading for a, standby for b"],
])("Supervision says for %j: %s", async (elections, role) => {
  const stage = startStage();
  stage.holds.readyz = true;
  stage.state = { elections, isCloudFailing: false };
  await stage.clock.advance(200);
  expect(stage.told.at(-1)?.["STATUS"]).toBe(role);
  await stage.stop();
});

test("Supervision tells nothing but the end when it is stopped during the start", async () => {
  const stage = startStage();
  await stage.stop();
  expect(stage.told.at(-1)).toEqual({ STOPPING: "1", STATUS: "stopping" });
  expect(stage.told.some(({ READY }) => READY !== undefined)).toBe(false);
});

test("supervise() is ready with Nodes and an inventory, and tells the end", async () => {
  const provider = new FakeProvider();
  const gate = Promise.withResolvers<void>();
  provider.gate = gate.promise;
  const told: Notification[] = [];
  const notify = async (notification: Notification): Promise<void> => void told.push(notification);
  await using rig = await startRig({ provider, notifier: { notify } });
  const tells = (text: string): boolean => told.some(({ STATUS }) => STATUS?.startsWith(text));
  await until("it waits for the cloud alone", () =>
    tells("starting, waiting for inventory-taken; "),
  );
  expect(told.some(({ READY }) => READY === "1")).toBe(false);
  gate.resolve();
  await until("it is ready", () => tells("running; "));
  expect(told.filter(({ READY }) => READY === "1")).toHaveLength(1);
  await rig.stop();
  expect(told.at(-1)).toEqual({ STOPPING: "1", STATUS: "stopping" });
});
