/**
 * Tells a story of machines once without a disturbance, and once for each one; the ends must be the same.
 * @module
 */
import type { Moment } from "../../../lib/simulator/xenorchestra/writes/hypervisor.ts";
import type { Counted } from "../wire.ts";
import { type CloudSummary, summarizeCloud } from "./summary.ts";
import { type Mishap, Stage } from "./stage.ts";
import type { Story } from "./stories.ts";

/** What goes wrong, once. Numbers are from 1 on. */
export type Cut =
  /** Our process dies at its request of this number; `isForgetful`: Kubernetes loses the records, too. */
  | {
      readonly who: "landfall";
      readonly at: number;
      readonly when: "before" | "after";
      readonly isForgetful?: boolean;
    }
  /** A change of this number has a {@linkcode Mishap}. */
  | { readonly who: "reply"; readonly at: number; readonly when: Mishap }
  /** The server dies at its call of this number; `isSlow`: the hypervisor works on for longer than it is away. */
  | {
      readonly who: "server";
      readonly at: number;
      readonly when: Moment;
      readonly isSlow?: boolean;
    }
  /** The pool is lost at the call of this number. */
  | {
      readonly who: "pool";
      readonly at: number;
      readonly when: Moment;
      readonly forMs?: number;
      /** Whether it is back as soon as something is changed: after a look that did not see it. */
      readonly isBack?: boolean;
    }
  /** The hypervisor takes long for the call of this number. */
  | { readonly who: "hypervisor"; readonly at: number }
  /** The call of this number fails. */
  | { readonly who: "call"; readonly at: number }
  /** A proxy sends every request twice that changes something. */
  | { readonly who: "proxy" };

/** How a story ended. */
export interface Ending {
  /** Whether it came to rest. */
  readonly isAtRest: boolean;
  /** What it waited for at the end. */
  readonly problems: readonly string[];
  readonly left: CloudSummary;
  /** Names of machines with a record. */
  readonly records: readonly string[];
  readonly violations: readonly string[];
  /** Requests of our first process since the change. */
  readonly requests: readonly Counted[];
  /** Changes of the cloud since the change. */
  readonly changes: number;
  /** Methods of the calls since the change. */
  readonly calls: readonly string[];
  /** Whether what should go wrong did. */
  readonly isCut: boolean;
}

const STEP_MS = 1_000;
/** At rest for so long, it stays so. */
const QUIET_MS = 40_000;
/** Until the process looks for what a hypervisor finished late. */
const DOUBT_MS = 1_900_000;
/** Longer than the longest pause between two tries. */
const PATIENCE_MS = 3_600_000;
const EVERY_CHANGE = 200;
const SLOW_MS = 60_000;

/** Tells a story. @param cuts What goes wrong; at most one of them ends our process */
export async function tell(story: Story, ...cuts: readonly Cut[]): Promise<Ending> {
  await using stage = new Stage();
  const wire = stage.start();
  if (story.before !== undefined) {
    story.before(stage);
    await untilQuiet(stage);
  }
  const called = stage.cloud.hypervisor.journal.length;
  const own = cuts.find((cut) => cut.who === "landfall");
  wire.startCounting(own);
  const met = prepare(stage, cuts);
  story.act(stage);
  stage.operator.restsSinceMs = undefined;
  // Something may come late, and two mishaps can hide each other.
  const isLate = cuts.length > 1 || cuts.some((cut) => comesLate(cut));
  const quietMs = isLate ? DOUBT_MS : QUIET_MS;
  await untilQuiet(stage, quietMs, () => wire.isCut);
  const requests = [...wire.counted];
  if (wire.isCut) {
    await stage.stop();
    if (own?.isForgetful === true) stage.records.clear();
    stage.start();
    await untilQuiet(stage, quietMs);
  }
  return {
    isAtRest: stage.operator.restsSinceMs !== undefined,
    problems: stage.operator.problems,
    left: summarizeCloud(stage),
    records: [...stage.records.keys()].toSorted(),
    violations: stage.watcher.violations,
    requests,
    changes: stage.changes,
    calls: stage.cloud.hypervisor.journal.slice(called).map(({ method }) => method),
    isCut: cuts.every((cut) => (cut.who === "landfall" ? wire.isCut : isMet(cut, stage, met))),
  };
}

function comesLate(cut: Cut): boolean {
  return cut.who === "server" ? cut.isSlow === true : cut.who === "reply" && cut.when === "late";
}

function isMet(cut: Cut, { changes }: Stage, met: ReadonlySet<Cut>): boolean {
  return cut.who === "reply" ? changes >= cut.at : cut.who === "proxy" || met.has(cut);
}

/** Lets happen what shall go wrong. @returns What did, as it does */
function prepare(stage: Stage, cuts: readonly Cut[]): ReadonlySet<Cut> {
  const met = new Set<Cut>();
  const mishaps = new Map<number, Mishap>();
  for (const cut of cuts) {
    if (cut.who === "reply") mishaps.set(cut.at, cut.when);
    if (cut.who === "proxy") repeatAll(mishaps);
    if ("at" in cut && cut.who !== "landfall" && cut.who !== "reply") {
      disturbCall(stage, cut, () => met.add(cut));
    }
  }
  stage.watcher.isRepeating = [...mishaps.values()].includes("repeated");
  stage.startCounting(mishaps);
  return met;
}

function repeatAll(mishaps: Map<number, Mishap>): void {
  for (let at = 1; at <= EVERY_CHANGE; at += 1) mishaps.set(at, "repeated");
}

function disturbCall(
  stage: Stage,
  cut: Extract<Cut, { readonly who: "server" | "pool" | "hypervisor" | "call" }>,
  onHit: () => void,
): void {
  const { faults, moments } = stage.cloud.hypervisor;
  const scope = { skip: cut.at - 1, times: 1 };
  if (cut.who === "call") {
    const params = ["no reason"];
    faults.set({ kind: "fail", code: "INTERNAL_ERROR", params }, { ...scope, onHit });
    return;
  }
  if (cut.who === "hypervisor") {
    faults.set({ kind: "delay", ms: SLOW_MS }, { ...scope, onHit });
    return;
  }
  const act = (): void => (cut.who === "server" ? stage.killServer() : stage.losePool(cut));
  const both = (): void => {
    onHit();
    act();
  };
  moments.set(cut.when, { ...scope, onHit: both });
  if (cut.who === "server" && cut.isSlow === true)
    faults.set({ kind: "delay", ms: SLOW_MS }, scope);
}

/** Lets time pass until the process has been at rest for a while, or is dead, or will never be. */
async function untilQuiet(
  stage: Stage,
  quietMs: number = QUIET_MS,
  isOver: () => boolean = () => false,
): Promise<void> {
  const { clock } = stage;
  const endMs = clock.monotonic() + PATIENCE_MS;
  while (!isOver() && clock.monotonic() < endMs) {
    await clock.advance(STEP_MS);
    const { restsSinceMs } = stage.operator;
    if (restsSinceMs !== undefined && clock.monotonic() - restsSinceMs >= quietMs) return;
  }
}
