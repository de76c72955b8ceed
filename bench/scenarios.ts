/**
 * What is done to the compiled controller, and what is read off it.
 * @module
 */
import type { Figures } from "./budgets.ts";
import type { LifeFigures } from "./experiments.ts";
import { Controller, Simulators } from "./processes.ts";
import type { Progress } from "./simulators.ts";

const READY_MS = 30_000;
const DONE_MS = 120_000;
/** Events come after; they are all there when nothing was written for a while. */
const QUIET_MS = 1_500;
const EVENTS_MS = 60_000;
const POLL_MS = 25;
const MINUTE_MS = 60_000;
const STARTS = 10;

/** Starts it on an empty cluster, ten times. */
export async function measureStart(binary: string): Promise<Figures> {
  await using simulators = await Simulators.start(12);
  const starts: number[] = [];
  const readies: number[] = [];
  for (let run = 0; run < STARTS; run += 1) {
    await using controller = await Controller.start(binary, simulators.places);
    starts.push(await controller.untilProbe("/livez", READY_MS));
    readies.push(await controller.untilProbe("/readyz", READY_MS));
  }
  return { start: toMedian(starts), ready: toMedian(readies) };
}

/** Lets it run without Nodes. */
export async function measureRest(binary: string, settleMs: number): Promise<Figures> {
  await using simulators = await Simulators.start(1_000);
  await using controller = await Controller.start(binary, simulators.places);
  await controller.untilProbe("/readyz", READY_MS);
  await Bun.sleep(settleMs);
  const { resident, anonymous } = await controller.readMemory();
  return { rest: resident, restAnonymous: anonymous };
}

/** What a run of many Nodes shows. Memory in MiB. */
export interface FleetFigures {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly cloudRequests: number;
  readonly writesPerNode: number;
  readonly peak: number;
  readonly settled: number;
  readonly anonymous: number;
  /** What a minute costs in which nothing happens at all. */
  readonly idle: IdleFigures;
  /** The same with the heartbeats of all kubelets. */
  readonly beating: IdleFigures;
  /** Absent unless asked for. */
  readonly life?: LifeFigures;
}

/** What a minute costs. */
export interface IdleFigures {
  readonly cloudRequests: number;
  readonly requests: number;
  readonly cpuSeconds: number;
}

/** What a start on a cluster that is done already shows. Memory in MiB. */
export interface RestartFigures {
  readonly ready: number;
  readonly peak: number;
  readonly settled: number;
}

/** Registers all machines as Nodes at once, and lets it settle. */
export async function measureFleet(
  binary: string,
  simulators: Simulators,
  options: { readonly count: number; readonly settleMs: number; readonly withLife?: boolean },
): Promise<FleetFigures> {
  const { count, settleMs, withLife = false } = options;
  await using controller = await Controller.start(binary, simulators.places);
  await controller.untilProbe("/readyz", READY_MS);
  const cpuBefore = await controller.readCpu();
  // The Event that tells who leads is written before any Node is there.
  const { writes: writesBefore } = await simulators.progress();
  const startedAtMs = performance.now();
  await simulators.register();
  const done = await waitFor(simulators, ({ initialised }) => initialised === count, DONE_MS);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const { writes } = await waitForQuiet(simulators);
  const cpuSeconds = (await controller.readCpu()) - cpuBefore;
  await Bun.sleep(settleMs);
  const { resident, anonymous, peak } = await controller.readMemory();
  const idle = await measureIdle(simulators, controller);
  await simulators.startHeartbeats();
  const beating = await measureIdle(simulators, controller);
  const life = withLife ? { life: await simulators.experiment() } : {};
  return {
    idle,
    beating,
    ...life,
    seconds: done.initialised === count ? seconds : Infinity,
    cpuSeconds,
    cloudRequests: done.cloudRequests,
    writesPerNode: (writes - writesBefore) / count,
    peak,
    settled: resident,
    anonymous,
  };
}

/** Starts it on Nodes that are initialised already, and lets it settle. */
export async function measureRestart(
  binary: string,
  simulators: Simulators,
  settleMs: number,
): Promise<RestartFigures> {
  await using controller = await Controller.start(binary, simulators.places);
  const ready = await controller.untilProbe("/readyz", READY_MS);
  await Bun.sleep(settleMs);
  const { resident, peak } = await controller.readMemory();
  return { ready, peak, settled: resident };
}

/** One minute of rest, by the counters before and after. */
async function measureIdle(simulators: Simulators, controller: Controller): Promise<IdleFigures> {
  const before = { ...(await simulators.progress()), cpu: await controller.readCpu() };
  await Bun.sleep(MINUTE_MS);
  const after = { ...(await simulators.progress()), cpu: await controller.readCpu() };
  return {
    cloudRequests: after.cloudRequests - before.cloudRequests,
    requests: after.requests - before.requests,
    cpuSeconds: after.cpu - before.cpu,
  };
}

/** Asks until it is so; the last answer if it never is. */
async function waitFor(
  simulators: Simulators,
  isSo: (progress: Progress) => boolean,
  timeoutMs: number,
): Promise<Progress> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const progress = await simulators.progress();
    if (isSo(progress) || performance.now() > endMs) return progress;
    await Bun.sleep(POLL_MS);
  }
}

async function waitForQuiet(simulators: Simulators): Promise<Progress> {
  let last = await simulators.progress();
  let sinceMs = performance.now();
  const isQuiet = (progress: Progress): boolean => {
    if (progress.writes !== last.writes) sinceMs = performance.now();
    last = progress;
    return performance.now() - sinceMs > QUIET_MS;
  };
  return await waitFor(simulators, isQuiet, EVENTS_MS);
}

function toMedian(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
