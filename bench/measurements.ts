/**
 * What `npm run bench` can measure, by name.
 * @module
 */
import { measureMicro } from "./meters/micro.ts";
import type { Measured } from "./results.ts";
import {
  type FleetOptions,
  measureHeartbeats,
  measureLife,
  measureMinute,
  measureMoves,
  measureRest,
  measureRestart,
  measureStart,
  startFleet,
} from "./scenarios.ts";

/** One measurement. @param settleMs How long memory may settle */
export type Measurement = (binary: string, settleMs: number) => Promise<Measured>;

const STARTS = 10;
const RESTARTS = 3;
/** Small fleets finish quickly, and short times are noisy. */
const TIMES = 3;
const MIB = 2 ** 20;

/** Every measurement, in the order in which they are made. */
export const MEASUREMENTS: Readonly<Record<string, Measurement>> = {
  micro: () => Promise.resolve({ figures: measureMicro() }),
  start: async (binary) => ({ figures: await measureStart(binary, STARTS) }),
  // They mostly wait, so all run at once.
  small: async (binary, settleMs) => {
    const options = { binary, settleMs, times: TIMES };
    const [rest, ten, hundred] = await Promise.all([
      measureRest(binary, settleMs),
      measurePoint({ ...options, count: 10 }),
      measureHundred({ ...options, count: 100 }),
    ]);
    const curve = [...(ten.curve ?? []), ...(hundred.curve ?? [])];
    return { figures: { ...rest, ...hundred.figures }, curve };
  },
  "300": (binary, settleMs) => measurePoint({ binary, settleMs, count: 300, times: TIMES }),
  "1000": (binary, settleMs) => measureThousand({ binary, settleMs, count: 1_000, times: TIMES }),
  "3000": (binary, settleMs) => measurePoint({ binary, settleMs, count: 3_000 }),
  "5000": (binary, settleMs) => measureMost({ binary, settleMs, count: 5_000 }),
  denied: async (binary, settleMs) => {
    const options = { binary, settleMs, count: 5_000, denyWriteExecute: true };
    await using fleet = await startFleet(options);
    const { settled, anonymous } = fleet.figures;
    return { figures: { denied5000: settled, deniedAnonymous5000: anonymous } };
  },
};

/** A point of the curves and nothing else. */
async function measurePoint(options: FleetOptions): Promise<Measured> {
  await using fleet = await startFleet(options);
  return { figures: {}, curve: [fleet.figures] };
}

async function measureHundred(options: FleetOptions): Promise<Measured> {
  await using fleet = await startFleet(options);
  const minute = await measureMinute(fleet);
  const figures = {
    settled100: fleet.figures.settled,
    idleCloud100: minute.cloudRequests,
    idleCpu100: minute.cpuSeconds,
  };
  return { figures, curve: [fleet.figures] };
}

async function measureThousand(options: FleetOptions): Promise<Measured> {
  await using fleet = await startFleet(options);
  const minute = await measureMinute(fleet);
  const life = await measureLife(fleet);
  const point = fleet.figures;
  const figures = {
    ...life,
    idleCloud1000: minute.cloudRequests,
    idleRequests1000: minute.requests,
    idleCpu1000: minute.cpuSeconds,
    initialise: point.seconds,
    cpu: point.cpuSeconds,
    cloudRequests: point.cloudRequests,
    writes: point.writesPerNode,
    peak1000: point.peak,
    settled1000: point.settled,
    anonymous1000: point.anonymous,
  };
  return { figures, curve: [point] };
}

async function measureMost(options: FleetOptions): Promise<Measured> {
  const { binary, settleMs } = options;
  await using fleet = await startFleet(options);
  const point = fleet.figures;
  const minute = await measureMinute(fleet);
  const moves = await measureMoves(fleet);
  const beating = await measureHeartbeats(fleet);
  await fleet.controller.stop();
  await fleet.simulators.stopHeartbeats();
  const again = { settleMs, times: RESTARTS };
  const restart = await measureRestart(binary, fleet.simulators, again);
  const figures = {
    initialise5000: point.seconds,
    cpu5000: point.cpuSeconds,
    cloudRequests5000: point.cloudRequests,
    writes5000: point.writesPerNode,
    peak5000: point.peak,
    settled5000: point.settled,
    anonymous5000: point.anonymous,
    idleCloud5000: minute.cloudRequests,
    idleRequests5000: minute.requests,
    idleCpu5000: minute.cpuSeconds,
    moveMedian: moves.median,
    moveSlowest: moves.slowest,
    moveCpu: moves.cost.cpuSeconds,
    moveCloud: moves.cost.cloudRequests,
    moveCloudMiB: moves.cost.cloudBytes / MIB,
    moveRequests: moves.cost.requests,
    beats: beating.heartbeats,
    beatCpu: beating.cpuSeconds,
    beatCloud: beating.cloudRequests,
    beatRequests: beating.requests,
    beatMiB: beating.bytes / MIB,
    beatSettled: beating.resident,
    restartReady: restart.ready,
    restartPeak: restart.peak,
    restartSettled: restart.settled,
  };
  return { figures, curve: [point] };
}
