/**
 * Events in the life of a fleet, and how long it takes until its Nodes show them.
 * @module
 */
import type { DemoMachine } from "../lib/simulator/demo_machine.ts";
import { toQuantile } from "./meters/statistics.ts";
import { type Stage, XenOrchestraStage } from "./stage.ts";

/** Seconds for each event; `NaN` if it did not happen in time. */
export interface LifeFigures {
  /** From live migrations until the zone label is right, the slowest of some. Absent if no label shows the host. */
  readonly migration?: number;
  /** From a Node that is no longer Ready, long after its VM was halted, until its taint. */
  readonly shutdown: number;
  /** From the deletion of a VM whose Node becomes not Ready at the same time, until the Node is deleted. */
  readonly deletion: number;
}

/** Seconds from migrations until zone labels are right; `NaN` when some never were. */
export interface MoveFigures {
  readonly median: number;
  readonly slowest: number;
}

const MIGRATIONS = 5;
/** So that they happen at different times between two refreshes. */
const MIGRATION_GAP_MS = 7_000;
/** As long as the control plane waits for a kubelet. */
const GRACE_MS = 40_000;
const TIMEOUT_MS = 180_000;
const POLL_MS = 20;
const SHUTDOWN_TAINT = "node.cloudprovider.kubernetes.io/shutdown";

/** Runs all experiments at the same time, and waits for the Nodes to show them. */
export async function runExperiments(stage: Stage): Promise<LifeFigures> {
  const [halted, deleted, ...movers] = stage.machines;
  if (halted === undefined || deleted === undefined) throw new Error("too few machines");
  const moving =
    stage instanceof XenOrchestraStage
      ? movers.slice(0, MIGRATIONS).map((mover, at) => measureMigration(stage, mover, at))
      : [];
  const [shutdown, deletion, ...migrations] = await Promise.all([
    measureShutdown(stage, halted),
    measureDeletion(stage, deleted),
    ...moving,
  ]);
  const life = { shutdown, deletion };
  return migrations.length === 0 ? life : { ...life, migration: Math.max(...migrations) };
}

/** Moves this many machines, evenly over a time, each to another host of its pool. */
export async function moveMany(
  stage: XenOrchestraStage,
  count: number,
  overMs: number,
): Promise<MoveFigures> {
  // From the other end: the first ones may be gone.
  const movers = stage.machines.slice(-count);
  const pending = new Map<DemoMachine, number>();
  const seconds: number[] = [];
  const startMs = performance.now();
  for (let moved = 0; moved < movers.length || pending.size > 0;) {
    const nowMs = performance.now();
    if (nowMs - startMs > overMs + TIMEOUT_MS) return { median: Number.NaN, slowest: Number.NaN };
    for (; moved < Math.min(movers.length, ((nowMs - startMs) / overMs) * count); moved += 1) {
      const mover = movers[moved];
      if (mover === undefined) continue;
      stage.moveLive(mover);
      pending.set(mover, nowMs);
    }
    for (const [mover, sinceMs] of pending) {
      if (!stage.isPlaced(mover)) continue;
      seconds.push((performance.now() - sinceMs) / 1_000);
      pending.delete(mover);
    }
    await Bun.sleep(POLL_MS);
  }
  return { median: toQuantile(seconds, 0.5), slowest: Math.max(...seconds) };
}

async function measureMigration(
  stage: XenOrchestraStage,
  machine: DemoMachine,
  at: number,
): Promise<number> {
  await Bun.sleep(at * MIGRATION_GAP_MS);
  stage.moveLive(machine);
  return await waitFor(() => stage.isPlaced(machine));
}

async function measureShutdown(stage: Stage, machine: DemoMachine): Promise<number> {
  const { kubernetes } = stage;
  stage.halt(machine);
  await Bun.sleep(GRACE_MS);
  stage.setReady(machine.nodeName, "Unknown");
  return await waitFor(() =>
    JSON.stringify(kubernetes.objects.getNode(machine.nodeName)?.["spec"]).includes(SHUTDOWN_TAINT),
  );
}

async function measureDeletion(stage: Stage, machine: DemoMachine): Promise<number> {
  const { kubernetes } = stage;
  stage.remove(machine);
  stage.setReady(machine.nodeName, "Unknown");
  return await waitFor(() => kubernetes.objects.getNode(machine.nodeName) === undefined);
}

/** Seconds until the condition holds. */
async function waitFor(isSo: () => boolean): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < TIMEOUT_MS) {
    if (isSo()) return (performance.now() - startMs) / 1_000;
    await Bun.sleep(POLL_MS);
  }
  return Number.NaN;
}
