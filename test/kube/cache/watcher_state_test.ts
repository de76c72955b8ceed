import { expect, test } from "bun:test";
import { KubeError, type KubeErrorKind } from "../../../lib/kube/api/errors.ts";
import { SILENCE_MS_MAX } from "../../../lib/kube/cache/watch_silence.ts";
import {
  FIRST_STATE,
  RestartBackoff,
  toNextStep,
  toWatchSeconds,
  type WatcherOutcome,
  type WatcherState,
} from "../../../lib/kube/cache/watcher_state.ts";

const LIST: WatcherState = { ...FIRST_STATE, resourceVersion: "900" };
const WATCH: WatcherState = { ...LIST, phase: "watch" };

function failed(kind: KubeErrorKind, code?: number, reason?: string): WatcherOutcome {
  const error = new KubeError(kind, "scripted", {
    ...(code !== undefined && { code }),
    ...(reason !== undefined && { reason }),
  });
  return { kind: "failed", events: 0, error };
}

const listed: WatcherOutcome = { kind: "listed", resourceVersion: "950" };

test("toNextStep() watches from the version of a list, at once", () => {
  expect(toNextStep(LIST, listed)).toEqual({
    state: { ...WATCH, resourceVersion: "950" },
    pause: "none",
  });
});

test.each([
  ["410", failed("gone", 410)],
  ["503", failed("unavailable", 503)],
  ["no connection", failed("unavailable")],
  ["403", failed("forbidden", 403)],
  ["429", failed("throttled", 429)],
] as const)("toNextStep() backs off after a list that failed with %s", (_what, outcome) => {
  expect(toNextStep(LIST, outcome)).toMatchObject({ state: LIST, pause: "backoff" });
});

test.each([
  ["410", failed("gone", 410), "list"],
  ["500", failed("unavailable", 500, "InternalError"), "list"],
  ["403", failed("forbidden", 403), "list"],
  ["a bug", { kind: "failed", events: 0, error: new TypeError("bug") }, "list"],
  ["a refused connection", failed("unavailable"), "watch"],
  ["429", failed("throttled", 429), "watch"],
] as const)("toNextStep() after a watch that failed with %s", (...row) => {
  const [, outcome, phase] = row;
  const step = toNextStep(WATCH, outcome);
  expect(step.state.phase).toBe(phase);
  expect(step.state.resourceVersion).toBe("900");
  expect(step.pause).toBe("backoff");
});

test.each([
  ["long and empty", 0, 400_000, "gap", "ended", 0, true],
  ["short with an event", 1, 10, "gap", "ended", 0, true],
  ["short and empty", 0, 999, "backoff", "short", 1, true],
  ["with an event every five seconds", 60, 300_000, "gap", "ended", 0, false],
  ["with fewer events", 59, 300_000, "gap", "ended", 0, true],
  ["in a short piece with many events", 6, 30_000, "gap", "ended", 0, false],
  ["very soon with many events", 5, 20_000, "gap", "ended", 0, true],
] as const)("toNextStep() after a watch that ended: %s", (...row) => {
  const [, events, durationMs, pause, reason, idleRetries, isQuiet] = row;
  const outcome = { kind: "ended", resourceVersion: "950", events, durationMs } as const;
  expect(toNextStep(WATCH, outcome)).toEqual({
    state: { ...WATCH, resourceVersion: "950", idleRetries, isQuiet },
    pause,
    reason,
  });
});

test.each([
  ["at first", FIRST_STATE, [30, 34]],
  ["after a quiet watch", { ...WATCH, isQuiet: true }, [30, 34]],
  ["after one that said something all the time", { ...WATCH, isQuiet: false }, [300, 599]],
] as const)("toWatchSeconds() asks for a short piece when little was said: %s", (...row) => {
  const [, state, seconds] = row;
  expect([0, 0.999].map((random) => toWatchSeconds(state, () => random))).toEqual([...seconds]);
});

test("toWatchSeconds() asks for pieces that end before they would be silent", () => {
  const mostMs = toWatchSeconds(FIRST_STATE, () => 0.999) * 1_000;
  // The server may end it a little late.
  expect(mostMs + 5_000).toBeLessThan(SILENCE_MS_MAX);
});

test("toNextStep() watches on at once after a watch that was silent: that is no failure", () => {
  const outcome = { kind: "silent", resourceVersion: "950" } as const;
  expect(toNextStep({ ...WATCH, idleRetries: 4, isQuiet: false }, outcome)).toEqual({
    state: { ...WATCH, resourceVersion: "950", idleRetries: 0 },
    pause: "gap",
    reason: "silent",
  });
});

test("toNextStep() lists after five watches in a row that brought nothing", () => {
  let state = WATCH;
  const phases: string[] = [];
  for (let retry = 0; retry < 5; retry += 1) {
    state = toNextStep(state, failed("unavailable")).state;
    phases.push(state.phase);
  }
  expect(phases).toEqual(["watch", "watch", "watch", "watch", "list"]);
  expect(state.idleRetries).toBe(0);
});

test("RestartBackoff doubles from 0.8 s to 30 s, and to twice that with jitter", () => {
  const plain = new RestartBackoff(() => 0);
  const jittered = new RestartBackoff(() => 0.5);
  const delays = Array.from({ length: 8 }, () => plain.next(0));
  expect(delays).toEqual([800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
  expect(jittered.next(0)).toBe(1_200);
});

test("RestartBackoff starts afresh after two minutes without a failure", () => {
  const backoff = new RestartBackoff(() => 0);
  expect([backoff.next(0), backoff.next(120_000), backoff.next(240_001)]).toEqual([
    800, 1_600, 800,
  ]);
});
