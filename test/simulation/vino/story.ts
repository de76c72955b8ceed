/**
 * One seed of Vinos from its beginning to its end: trouble, then calm in which everything must come right.
 * @module
 */
import { supervise } from "../steps/controller.ts";
import { type Ending, tellStory } from "../ending.ts";
import { calm, restart } from "./calm.ts";
import { drawOrder } from "./orders.ts";
import { tagHypervisor } from "./steps/cloud.ts";
import { VINO_STEPS } from "./steps/mod.ts";
import { NAMES, VinoWorld } from "./world.ts";

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
