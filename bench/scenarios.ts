/**
 * What the benchmark does with the compiled controller, and what it reads.
 * @module
 */
import type { CloudName } from "./clouds/mod.ts";
import { Controller } from "./controller.ts";
import type { CurvePoint } from "./curve.ts";
import type { LifeFigures, MoveFigures } from "./experiments.ts";
import { Simulators } from "./processes.ts";
import { toQuantile } from "./meters/statistics.ts";
import { DONE_MS, READY_MS, waitFor, waitForQuiet } from "./waiting.ts";

const MINUTE_MS = 60_000;
/** How often a kubelet writes its status when it changes all the time. */
const HEARTBEAT_MS = 10_000;
const MOVES = 1_000;

/** The program, and the cloud that it works with. */
export interface Subject {
  readonly binary: string;
  readonly cloud: CloudName;
}

/** Starts it on an empty cluster this many times; medians. */
export async function measureStart(
  { binary, cloud }: Subject,
  times: number,
): Promise<{ readonly start: number; readonly ready: number }> {
  await using simulators = await Simulators.start(12, cloud);
  const starts: number[] = [];
  const readies: number[] = [];
  for (let run = 0; run < times; run += 1) {
    await using controller = await Controller.start({ binary, places: simulators.places });
    starts.push(await controller.untilProbe("/livez", READY_MS));
    readies.push(await controller.untilProbe("/readyz", READY_MS));
  }
  return { start: toQuantile(starts, 0.5), ready: toQuantile(readies, 0.5) };
}

/** Runs it without Nodes. */
export async function measureRest(
  { binary, cloud }: Subject,
  settleMs: number,
): Promise<Record<"rest" | "restOwn" | "restAnonymous", number>> {
  await using simulators = await Simulators.start(1_000, cloud);
  await using controller = await Controller.start({ binary, places: simulators.places });
  await controller.untilProbe("/readyz", READY_MS);
  await Bun.sleep(settleMs);
  const { resident, anonymous, code } = await controller.readHoldings();
  return { rest: resident, restOwn: resident - code, restAnonymous: anonymous };
}

/** How Nodes are initialised. */
export interface FleetOptions extends Subject {
  readonly count: number;
  readonly settleMs: number;
  /** How often to repeat it from the start; times are medians, the rest is of the last run. @default {1} */
  readonly times?: number;
  /** Whether no memory may be both written and executed. @default {false} */
  readonly denyWriteExecute?: boolean;
}

/** What the initialisation of many Nodes shows. Memory in MiB. */
export interface FleetFigures extends CurvePoint {
  readonly writesPerNode: number;
  readonly anonymous: number;
  /** Of the resident memory, the code of the runtime. */
  readonly code: number;
}

/** A controller that has initialised its Nodes and is idle. */
export interface Fleet extends AsyncDisposable {
  readonly simulators: Simulators;
  readonly controller: Controller;
  readonly figures: FleetFigures;
}

/** Registers all machines as Nodes at once, and waits until it is idle. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { binary, cloud, count, settleMs, times = 1, denyWriteExecute = false } = options;
  const seconds: number[] = [];
  const cpuSeconds: number[] = [];
  for (let run = 1; ; run += 1) {
    await using stack = new AsyncDisposableStack();
    const simulators = stack.use(await Simulators.start(count, cloud));
    const { places } = simulators;
    const controller = stack.use(await Controller.start({ binary, places, denyWriteExecute }));
    const once = await initialise(simulators, controller, count);
    seconds.push(once.seconds);
    cpuSeconds.push(once.cpuSeconds);
    if (run < times) continue;
    await Bun.sleep(settleMs);
    const { resident, anonymous, code, peak } = await controller.readHoldings();
    const figures = {
      ...once,
      nodes: count,
      seconds: toQuantile(seconds, 0.5),
      cpuSeconds: toQuantile(cpuSeconds, 0.5),
      peak,
      settled: resident,
      anonymous,
      code,
    };
    const kept = stack.move();
    return { simulators, controller, figures, [Symbol.asyncDispose]: () => kept.disposeAsync() };
  }
}

/** Times and costs until nothing more is written. */
async function initialise(simulators: Simulators, controller: Controller, count: number) {
  await controller.untilProbe("/readyz", READY_MS);
  // The Event about the leader is written before any Node exists.
  const { writes: writesBefore } = await simulators.progress();
  const startedAtMs = performance.now();
  await simulators.register();
  const done = await waitFor(simulators, ({ initialised }) => initialised === count, DONE_MS);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const { writes, ...quiet } = await waitForQuiet(simulators);
  return {
    seconds: done.initialised === count ? seconds : Infinity,
    cpuSeconds: await controller.readCpu(),
    cloudRequests: done.cloudRequests,
    cloudBytes: done.cloudBytes,
    requests: quiet.requests,
    bytes: quiet.bytes,
    writesPerNode: (writes - writesBefore) / count,
  };
}

/** The cost of a period. */
interface Cost {
  readonly cloudRequests: number;
  readonly cloudBytes: number;
  readonly requests: number;
  readonly bytes: number;
  readonly cpuSeconds: number;
  readonly heartbeats: number;
  /** Resident memory at its end, in MiB. */
  readonly resident: number;
}

/** The cost of an idle minute. */
export async function measureMinute(fleet: Fleet): Promise<Cost> {
  return (await measureCost(fleet, () => Bun.sleep(MINUTE_MS))).cost;
}

/** The cost of a minute in which every Node's status changes every ten seconds. */
export async function measureHeartbeats(fleet: Fleet): Promise<Cost> {
  await fleet.simulators.startHeartbeats(HEARTBEAT_MS);
  return await measureMinute(fleet);
}

/** The cost of 1,000 live migrations in a minute, and how soon labels are right. */
export async function measureMoves(fleet: Fleet): Promise<MoveFigures & { readonly cost: Cost }> {
  const { cost, result } = await measureCost(fleet, () => fleet.simulators.move(MOVES, MINUTE_MS));
  return { ...result, cost };
}

/** How soon Nodes show changes of their machines. */
export async function measureLife({ simulators }: Fleet): Promise<LifeFigures> {
  await simulators.startHeartbeats(HEARTBEAT_MS * 30);
  return await simulators.experiment();
}

async function measureCost<T>(
  { simulators, controller }: Fleet,
  work: () => Promise<T>,
): Promise<{ readonly cost: Cost; readonly result: T }> {
  const before = { ...(await simulators.progress()), cpu: await controller.readCpu() };
  const result = await work();
  const after = { ...(await simulators.progress()), cpu: await controller.readCpu() };
  const cost = {
    cloudRequests: after.cloudRequests - before.cloudRequests,
    cloudBytes: after.cloudBytes - before.cloudBytes,
    requests: after.requests - before.requests,
    bytes: after.bytes - before.bytes,
    cpuSeconds: after.cpu - before.cpu,
    heartbeats: after.heartbeats - before.heartbeats,
    resident: (await controller.readHoldings()).resident,
  };
  return { cost, result };
}

/** The cost of a start on a cluster whose Nodes are initialised. Memory in MiB. */
interface RestartFigures {
  readonly ready: number;
  readonly peak: number;
  readonly settled: number;
}

/** Starts it on initialised Nodes, this many times (median), and lets the last process settle. */
export async function measureRestart(
  binary: string,
  simulators: Simulators,
  options: { readonly settleMs: number; readonly times: number },
): Promise<RestartFigures> {
  const readies: number[] = [];
  for (let run = 1; ; run += 1) {
    await using controller = await Controller.start({ binary, places: simulators.places });
    readies.push(await controller.untilProbe("/readyz", READY_MS));
    if (run < options.times) continue;
    await Bun.sleep(options.settleMs);
    const { resident, peak } = await controller.readHoldings();
    return { ready: toQuantile(readies, 0.5), peak, settled: resident };
  }
}
