/**
 * One seed from its beginning to its end: trouble, then calm in which everything must come right.
 * @module
 */
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { type Ending, tellStory, untilRight } from "./ending.ts";
import { CLOUDSTACK } from "./cloudstack/script.ts";
import { countRetries, listUntrue } from "./judges/calm.ts";
import { NODE_STEPS } from "./steps/node.ts";
import { decide, tidyUp } from "./world/person.ts";
import { PROCESS_STEPS, SERVER_STEPS } from "./steps/process.ts";
import type { Random } from "../support/random.ts";
import { SETTINGS_STEPS } from "./steps/settings.ts";
import { type Script, type Step, takeStep } from "./steps/mod.ts";
import type { Cloud, WorldSettings } from "./world/cloud.ts";
import type { World } from "./world/mod.ts";
import { XEN_ORCHESTRA } from "./xenorchestra/script.ts";

/** One of so many stories is of CloudStack, the others are of Xen Orchestra. */
const CLOUDSTACK_EVERY = 4;
/**
 * How long a Lease lasts, how long its holder tries to renew it, and how often everybody tries; milliseconds.
 * Rarely in most stories, for half of all requests would be about Leases.
 */
const ELECTIONS = [
  [15_000, 10_000, 2_000],
  [15_000, 10_000, 5_000],
  [30_000, 20_000, 8_000],
  [30_000, 20_000, 10_000],
  [8_000, 6_000, 3_000],
] as const;
/** How often a story spares the processes, the API server, or the settings. */
const QUIET_SHARE = 0.4;
/** How often a story goes without one thing that may happen. */
const SPARED_SHARE = 0.3;
/** How long trouble lasts: mostly short, for a thousand seeds in a minute, and now and then as long as an outage. */
const TROUBLES = [
  { weight: 234, ms: 55_000, pauseMs: 2_000 },
  { weight: 5, ms: 300_000, pauseMs: 6_000 },
  { weight: 1, ms: 900_000, pauseMs: 12_000 },
  // Nothing but an outage that lasts for longer than a Node takes to go.
  { weight: 6, ms: 1_200_000, pauseMs: 60_000, isOutage: true },
] as const;
/** For so long nothing more may be written or tried again once all is right. */
const QUIET_MS = 15_000;
/**
 * Longest time until all is right. A watch that stalled is given up after 40 s; a process that started in trouble
 * waits 600 s before it misses what it never saw; a Node that failed often is tried again after 360 s; a deletion
 * counts for 600 s at most. They may follow each other, and the rest is little beside them.
 */
const CALM_MS_MAX = 1_920_000;
const START_MS = 10_000;
const SKEW_MS_MAX = 3_600_000;
/** Clocks go up to one in a hundred too fast or too slow. */
const RATE_SPREAD = 0.02;
/** How often the person in the story waits for what comes right by itself in ten minutes. */
const PATIENT_SHARE = 0.03;
/** How often there is one process at a time: as many run it. */
const ALONE_SHARE = 0.4;
/** A supervisor waits longer before it kills. */
const STOP_MS_MAX = 15_000;
/** Deadlines of requests that are over end by themselves. */
const DEADLINE_MS_MAX = 90_000;

/** Runs a seed. */
export async function runStory(seed: number): Promise<Ending> {
  const isOfCloudStack = seed % CLOUDSTACK_EVERY === CLOUDSTACK_EVERY - 1;
  return await (isOfCloudStack ? tell(seed, CLOUDSTACK) : tell(seed, XEN_ORCHESTRA));
}

async function tell<C extends Cloud>(seed: number, script: Script<C>): Promise<Ending> {
  const world = script.createWorld(seed, toSettings);
  return await tellStory(`--seed ${seed}`, world, [begin, () => trouble(world, script), calm, end]);
}

function toSettings(random: Random): WorldSettings {
  const deletion = {
    ...DEFAULT_DELETION,
    confirmations: random.between(1, 3),
    holdOffMs: random.pick([0, 10_000, 10_000, 60_000]),
    fleetShare: random.pick([0.34, 0.5, 1, 1]),
    fleetWindowMs: random.pick([120_000, 600_000]),
    whileOtherPartsAreLost: random.chance(0.5),
  };
  const replicas = random.chance(ALONE_SHARE) ? 1 : 2;
  const pools = random.pick([2, 2, 3]);
  const [lease, renew, retry] = random.pick(ELECTIONS);
  const election = { leaseDurationMs: lease, renewDeadlineMs: renew, retryPeriodMs: retry };
  const nodes = random.between(4, 8);
  return { deletion, refreshIntervalMs: 10_000, replicas, pools, nodes, election };
}

async function begin(world: World): Promise<void> {
  supervise(world);
  for (let at = 1; at <= world.settings.nodes; at += 1) {
    world.addMachine(`n${at}`);
    if (world.random.chance(0.7)) world.join(`n${at}`);
  }
  world.noteChange();
  await world.timeline.advance(START_MS);
}

async function trouble<C extends Cloud>(world: World<C>, script: Script<C>): Promise<void> {
  const { random, timeline, invariants } = world;
  const { ms, pauseMs, ...more } = random.weigh(TROUBLES);
  const endMs = timeline.monotonic() + ms;
  const isOutage = "isOutage" in more;
  const drawn = isOutage ? script.outageSteps : drawSteps(random, script);
  const steps = [...drawn, ...script.listMoreSteps(world)];
  if (isOutage) script.beginOutage(world, ms);
  while (timeline.monotonic() < endMs && invariants.violations.length === 0) {
    takeStep(world, steps);
    supervise(world);
    await timeline.advance(random.between(100, pauseMs));
  }
}

/** Where everything goes wrong all the time, nothing gets as far as a deletion: each story has a choice of it. */
function drawSteps<C extends Cloud>(random: Random, script: Script<C>): readonly Step<World<C>>[] {
  const spared = new Set<Step<World<C>>>(
    [SERVER_STEPS, PROCESS_STEPS, SETTINGS_STEPS].filter(() => random.chance(QUIET_SHARE)).flat(),
  );
  const all = [
    ...NODE_STEPS,
    ...script.steps,
    ...SERVER_STEPS,
    ...PROCESS_STEPS,
    ...SETTINGS_STEPS,
  ];
  return all.filter((step) => !random.chance(SPARED_SHARE) && !spared.has(step));
}

/** Ends all faults, and waits until all is right and at rest. @throws an error that says what is not right in time */
export async function calm(world: World): Promise<void> {
  const { timeline, trace, cloud } = world;
  trace.note("STORY", "all faults end");
  world.endFaults();
  tidyUp(world);
  cloud.tidyUp(world);
  world.noteChange();
  const isPatient = world.random.chance(PATIENT_SHARE);
  let right = { sinceMs: 0, requests: 0 };
  await untilRight(world, {
    look: () => {
      supervise(world, true);
      decide(world, isPatient);
      cloud.balancing?.decide(world);
      world.noteChange();
    },
    listViolations: () => world.invariants.violations,
    listUntrue: () => listUntrue(world),
    describeWork: () => describeWork(world),
    onRight: (sinceMs) => {
      right = { sinceMs, requests: cloud.requests };
    },
    quietMs: QUIET_MS,
    maxMs: CALM_MS_MAX + (cloud.balancing?.measureLead(world) ?? 0),
  });
  if (world.invariants.violations.length > 0) return;
  checkBudget(world, { ...right, ms: timeline.monotonic() - right.sinceMs });
}

/** While all is right and at rest, the cloud is asked for inventories alone. */
function checkBudget(
  { cloud, settings, said }: World,
  { requests, ms }: { readonly requests: number; readonly ms: number },
): void {
  // Clocks may be too fast, one refresh may be under way at either end, and one may fail that began before.
  const refreshes = Math.ceil((ms * (1 + RATE_SPREAD)) / said.refreshIntervalMs) + 2;
  const budget = cloud.toBudget(refreshes * settings.replicas, ms);
  const asked = cloud.requests - requests;
  if (asked > budget)
    throw new Error(`the cloud was asked ${asked} times in ${ms} ms, and ${budget} are enough`);
}

/** What grows for as long as anything goes on. */
function describeWork(world: World): string {
  return `${world.invariants.writes} ${countRetries(world)}`;
}

/** Stops both, and looks at what they leave behind. */
export async function end(world: World): Promise<void> {
  const { timeline, trace, incarnations, replicas, server, cloud } = world;
  trace.note("STORY", "both stop");
  for (const replica of replicas) replica.stop();
  await timeline.advance(STOP_MS_MAX);
  const late = incarnations.filter(({ process, end }) => !process.isDead && end === undefined);
  if (late.length > 0)
    throw new Error(`not stopped in time: ${late.map(({ process }) => process.name).join(", ")}`);
  await timeline.advance(DEADLINE_MS_MAX);
  const left = [
    ...incarnations
      .filter(({ process }) => process.timers > 0)
      .map(({ process }) => `${process.timers} timers of ${process.name}`),
    ...incarnations
      .filter(({ kube, election, cloud }) => kube.size + election.size + cloud.size > 0)
      .map(({ process }) => `connections of ${process.name}`),
    ...(server.watches.count > 0 ? [`${server.watches.count} watches`] : []),
    ...(cloud.streams > 0 ? [`${cloud.streams} streams`] : []),
  ];
  if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
}

/** Starts again what has ended, as a supervisor does, on a machine whose clocks are a little off. */
function supervise({ replicas, random, cloud }: World, isCalm: boolean = false): void {
  for (const replica of replicas) {
    if (replica.current !== undefined) continue;
    const drawnMs = random.chance(0.2) ? random.between(-SKEW_MS_MAX, SKEW_MS_MAX) : 0;
    const skewMs = isCalm && cloud.needsRightClock ? 0 : drawnMs;
    replica.start({ rate: 1 + (random.next() - 0.5) * RATE_SPREAD, skewMs });
  }
}
