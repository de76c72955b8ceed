/**
 * One seed of Vinos from its beginning to its end: trouble, then calm in which everything must come right.
 * @module
 */
import {
  supervise,
  endFaults,
  CONTROLLER_PROCESS_STEPS,
  listServerSteps,
} from "../steps/controller.ts";
import { type Ending, tellStory, type RestRules, restartAtRest, untilRight } from "../ending.ts";
import { drawOrder } from "./orders.ts";
import { tagHypervisor, tagOneHypervisor, CLOUD_STEPS } from "./steps/cloud.ts";
import { NAMES, VinoWorld } from "./world.ts";
import { isPaused, pathOf } from "../../../lib/simulator/metal3/host_state.ts";
import { isOfVino, listUntrue } from "./judges/truth.ts";
import { unpause } from "../steps/hosts.ts";
import { giveBack, isTakenByHand, HOST_STEPS } from "./steps/hosts.ts";
import { finishOverrides, IRONIC_STEPS } from "./steps/ironic.ts";
import { deleteOthersSecrets, OTHERS_STEPS } from "./steps/others.ts";
import {
  askForLargerDisks,
  confirmRemovals,
  deleteHopeless,
  nameBack,
  publishAgain,
  deleteDisksLeft,
  deleteMachinesInTheWay,
  PEOPLE_STEPS,
} from "./steps/people.ts";
import type { Step } from "../steps/mod.ts";

const START_MS = 20_000;
const TROUBLE_MS = [60_000, 240_000] as const;
const PAUSE_MS = 8_000;
/** Machines of Cluster API that wait for hosts from the beginning. */
const MACHINES_MAX = 5;
/** How often a story goes without one thing that may happen. */
const SPARED_SHARE = 0.3;
/** How often processes die in the middle of a change. */
const CRASH_SHARES = [0, 0.02, 0.1] as const;

/** Runs a seed. */
export async function runVinoStory(seed: number): Promise<Ending> {
  const world = new VinoWorld(seed, seed % 2 === 0 ? 2 : 1);
  const flags = `--vinos --seed ${seed}`;
  return await tellStory(flags, world, [begin, trouble, calm, restart]);
}

async function begin(world: VinoWorld): Promise<void> {
  for (const host of world.hypervisors) if (world.random.chance(0.6)) tagHypervisor(world, host);
  for (const name of NAMES) {
    if (world.random.chance(0.7)) world.order(name, drawOrder(world.random));
  }
  for (let left = world.random.between(0, MACHINES_MAX); left > 0; left -= 1) world.addMachine();
  supervise(world);
  await world.timeline.advance(START_MS);
}

async function trouble(world: VinoWorld): Promise<void> {
  const { random, timeline, trace, crashes, cloudJudge, powerJudge } = world;
  const steps = VINO_STEPS.filter(() => !random.chance(SPARED_SHARE));
  crashes.share = random.pick(CRASH_SHARES);
  const endMs = timeline.monotonic() + random.between(...TROUBLE_MS);
  while (timeline.monotonic() < endMs && world.violations.length === 0) {
    powerJudge.note();
    const { name, act } = random.weigh(steps);
    const what = act(world);
    if (what !== undefined) trace.note("STEP", `${name}: ${what}`);
    supervise(world);
    await timeline.advance(random.between(100, PAUSE_MS));
    cloudJudge.checkForeign();
  }
}

/** For so long nothing more may be changed once all is right; longer than every tick of the controller. */
const QUIET_MS = 90_000;
/** Longest time until all is right: back-offs of five minutes can follow each other. */
const CALM_MS_MAX = 3_600_000;

/**
 * Ends all that goes wrong, and waits until all is right and at rest.
 *
 * @throws an error that says what is not right in time. It returns at once when a judge has something to say
 */
export async function calm(world: VinoWorld): Promise<void> {
  const { trace, crashes, cloud } = world;
  trace.note("STORY", "all faults end");
  crashes.share = 0;
  endFaults(world);
  cloud.faults.clear();
  cloud.hypervisor.faults.clear();
  tidyUp(world);
  await untilRight(world, toRules(world));
}

/** The same while nothing goes wrong, and nobody puts anything right. */
export async function untilAllRight(world: VinoWorld, quietMs: number): Promise<void> {
  await untilRight(world, { ...toRules(world), quietMs });
}

/** A process that remembers nothing finds all as it should be, and changes nothing. @throws an error if it does not */
export async function restart(world: VinoWorld): Promise<void> {
  if (world.violations.length === 0) await restartAtRest(world, toRules(world));
}

function toRules(world: VinoWorld): RestRules {
  return {
    look: () => {
      supervise(world);
      confirmRemovals(world);
      deleteHopeless(world);
      deleteDisksLeft(world);
      publishAgain(world);
      askForLargerDisks(world);
      deleteMachinesInTheWay(world);
      finishOverrides(world);
      world.cloudJudge.checkForeign();
    },
    supervise: () => supervise(world),
    listViolations: () => world.violations,
    listUntrue: () => [...listUntrue(world), ...world.overrideJudge.listUntrue()],
    describeWork: () => `${world.writes} writes`,
    quietMs: QUIET_MS,
    maxMs: CALM_MS_MAX,
  };
}

/**
 * What people put right: things of others that are in the way, names of VMs, hosts that are paused, those in use, and
 * those that are of no Vino any more.
 */
function tidyUp(world: VinoWorld): void {
  world.others.leave();
  deleteOthersSecrets(world);
  nameBack(world);
  tagOneHypervisor(world);
  for (const machine of world.clusterApi.list()) {
    if (world.random.chance(0.5)) world.clusterApi.remove(machine);
  }
  for (const host of world.hosts) {
    if (isPaused(host)) unpause(world, host);
    if (isTakenByHand(host)) giveBack(world, host);
    // Without its label, or with another one, Landfall takes it for that of somebody else.
    if (!isOfVino(world, host)) world.objects.delete("baremetalhosts", pathOf(host));
  }
}

/** Everything that may happen. */
const VINO_STEPS: readonly Step<VinoWorld>[] = [
  ...PEOPLE_STEPS,
  ...HOST_STEPS,
  ...IRONIC_STEPS,
  ...CLOUD_STEPS,
  ...OTHERS_STEPS,
  ...listServerSteps(["baremetalhosts", "vinoes/status", "vinoes", "secrets", "ippools"]),
  ...CONTROLLER_PROCESS_STEPS,
];
