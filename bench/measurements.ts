/**
 * What `npm run bench` can measure, by name.
 * @module
 */
import { type CloudName, CLOUDS } from "./clouds/mod.ts";
import { measureMicro } from "./meters/micro.ts";
import type { Figures } from "./budgets.ts";
import type { Measured } from "./results.ts";
import { measureBalancers } from "./services/balancers.ts";
import { measurePools } from "./services/pools.ts";
import { measureMachines } from "./vino/machines.ts";
import {
  type Fleet,
  type FleetFigures,
  type FleetOptions,
  measureHeartbeats,
  measureLife,
  measureMinute,
  measureMoves,
  measureRest,
  measureRestart,
  measureStart,
  startFleet,
  type Subject,
} from "./scenarios.ts";

/** One measurement. @param settleMs How long memory may settle */
type Measurement = (subject: Subject, settleMs: number) => Promise<Measured>;

const STARTS = 10;
const RESTARTS = 3;
/** Small fleets finish quickly, and short times are noisy. */
const TIMES = 3;
const BALANCERS = { services: 200, ports: 3, nodes: 12 } as const;
const MIB = 2 ** 20;

/** What is measured with every cloud. */
const COMMON: Readonly<Record<string, Measurement>> = {
  micro: ({ cloud }) => Promise.resolve({ figures: measureMicro(cloud) }),
  start: async (subject) => ({ figures: await measureStart(subject, STARTS) }),
  // They mostly wait, so all run at once.
  small: async (subject, settleMs) => {
    const options = { ...subject, settleMs, times: TIMES };
    const [rest, ten, hundred] = await Promise.all([
      measureRest(subject, settleMs),
      measurePoint({ ...options, count: 10 }),
      measureHundred({ ...options, count: 100 }),
    ]);
    const curve = [...(ten.curve ?? []), ...(hundred.curve ?? [])];
    return { figures: { ...rest, ...hundred.figures }, curve };
  },
  "300": (subject, settleMs) => measurePoint({ ...subject, settleMs, count: 300, times: TIMES }),
  "1000": (subject, settleMs) =>
    measureThousand({ ...subject, settleMs, count: 1_000, times: TIMES }),
  "3000": (subject, settleMs) => measurePoint({ ...subject, settleMs, count: 3_000 }),
  "5000": (subject, settleMs) => measureMost({ ...subject, settleMs, count: 5_000 }),
};

/** Every measurement with a cloud, in the order in which they are made. */
export const MEASUREMENTS: Readonly<Record<CloudName, Readonly<Record<string, Measurement>>>> = {
  xenorchestra: {
    ...COMMON,
    // Pools ask no cloud: one cloud without load balancers is enough.
    pools: async (subject, settleMs) => ({
      figures: await measurePools(subject, { count: 5_000, settleMs }),
    }),
    machines: async (subject, settleMs) => ({ figures: await measureMachines(subject, settleMs) }),
    // What the kernel forbids does not depend on the cloud.
    denied: async (subject, settleMs) => {
      const options = { ...subject, settleMs, count: 5_000, denyWriteExecute: true };
      await using fleet = await startFleet(options);
      const { settled, anonymous } = fleet.figures;
      return { figures: { denied5000: settled, deniedAnonymous5000: anonymous } };
    },
  },
  cloudstack: {
    ...COMMON,
    memory: measureMore,
    services: async ({ binary }, settleMs) => ({
      figures: await measureBalancers({ binary, ...BALANCERS, settleMs }),
    }),
  },
};

/** The memory of this cloud and of Xen Orchestra, side by side. */
async function measureMore(subject: Subject, settleMs: number): Promise<Measured> {
  const other: Subject = { ...subject, cloud: "xenorchestra" };
  const [rest, otherRest] = await Promise.all([
    measureRest(subject, settleMs),
    measureRest(other, settleMs),
  ]);
  const thousand = await compareFleets({ ...subject, settleMs, count: 1_000 });
  const most = await compareFleets({ ...subject, settleMs, count: 5_000 });
  const figures = {
    moreRest: rest.rest - otherRest.rest,
    moreRestAnonymous: rest.restAnonymous - otherRest.restAnonymous,
    more1000: thousand.resident,
    more1000Anonymous: thousand.anonymous,
    more5000: most.resident,
    more5000Anonymous: most.anonymous,
  };
  return { figures };
}

/** How much more memory a fleet takes than the same with Xen Orchestra, in MiB. */
async function compareFleets(options: FleetOptions): Promise<Memory> {
  const measure = async (cloud: CloudName): Promise<FleetFigures> => {
    await using fleet = await startFleet({ ...options, cloud });
    return fleet.figures;
  };
  // One after the other: they would take the processors from each other.
  const other = await measure("xenorchestra");
  const own = await measure(options.cloud);
  return { resident: own.settled - other.settled, anonymous: own.anonymous - other.anonymous };
}

/** Memory in MiB. */
interface Memory {
  readonly resident: number;
  readonly anonymous: number;
}

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
    own100: fleet.figures.settled - fleet.figures.code,
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
    ownPeak1000: point.peak - point.code,
    settled1000: point.settled,
    own1000: point.settled - point.code,
    anonymous1000: point.anonymous,
  };
  return { figures, curve: [point] };
}

async function measureMost(options: FleetOptions): Promise<Measured> {
  const { settleMs } = options;
  await using fleet = await startFleet(options);
  const point = fleet.figures;
  const minute = await measureMinute(fleet);
  const moves = CLOUDS[options.cloud].showsHosts ? await measureManyMoves(fleet) : {};
  const beating = await measureHeartbeats(fleet);
  await fleet.controller.stop();
  await fleet.simulators.stopHeartbeats();
  const again = { settleMs, times: RESTARTS };
  const restart = await measureRestart(options.binary, fleet.simulators, again);
  const figures = {
    initialise5000: point.seconds,
    cpu5000: point.cpuSeconds,
    cloudRequests5000: point.cloudRequests,
    writes5000: point.writesPerNode,
    peak5000: point.peak,
    ownPeak5000: point.peak - point.code,
    settled5000: point.settled,
    anonymous5000: point.anonymous,
    idleCloud5000: minute.cloudRequests,
    idleRequests5000: minute.requests,
    idleCpu5000: minute.cpuSeconds,
    ...moves,
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

async function measureManyMoves(fleet: Fleet): Promise<Figures> {
  const { median, slowest, cost } = await measureMoves(fleet);
  return {
    moveMedian: median,
    moveSlowest: slowest,
    moveCpu: cost.cpuSeconds,
    moveCloud: cost.cloudRequests,
    moveCloudMiB: cost.cloudBytes / MIB,
    moveRequests: cost.requests,
  };
}
