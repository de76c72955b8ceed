/**
 * One seed of Vinos from its beginning to its end: trouble, then calm in which everything must come right.
 * @module
 */
import { consumerOf, isPaused, pathOf } from "../../../lib/simulator/metal3/host_state.ts";
import { endFaults, supervise } from "../steps/controller.ts";
import type { Ending } from "../story.ts";
import { drawOrder } from "./orders.ts";
import { giveBack, unpause } from "./steps/hosts.ts";
import { VINO_STEPS } from "./steps/mod.ts";
import { confirmRemovals, deleteUnmarked, nameBack } from "./steps/people.ts";
import { isOfVino, listUntrue } from "./truth.ts";
import { NAMES, VinoWorld } from "./world.ts";

const START_MS = 20_000;
const TROUBLE_MS = [60_000, 240_000] as const;
const PAUSE_MS = 8_000;
const LOOK_MS = 5_000;
/** For so long nothing more may be changed once all is right; longer than every tick of the controller. */
const QUIET_MS = 90_000;
/** Longest time until all is right: back-offs of five minutes can follow each other. */
const CALM_MS_MAX = 3_600_000;
/** How often a story goes without one thing that may happen. */
const SPARED_SHARE = 0.3;
/** How often processes die in the middle of a change. */
const CRASH_SHARES = [0, 0.02, 0.1] as const;

/** Runs a seed. */
export async function runVinoStory(seed: number): Promise<Ending> {
  const world = new VinoWorld(seed, seed % 2 === 0 ? 2 : 1);
  const failures: string[] = [];
  try {
    await begin(world);
    await trouble(world);
    await calm(world);
    await restart(world);
  } catch (error) {
    world.trace.note("STORY", String(error));
    failures.push(String(error));
  } finally {
    world.leave();
  }
  const { violations, trace, timeline } = world;
  return {
    seed,
    violations: [...violations, ...failures],
    trace: [...trace.lines],
    hash: trace.toHash(),
    virtualMs: timeline.monotonic(),
  };
}

async function begin(world: VinoWorld): Promise<void> {
  for (const name of NAMES) {
    if (world.random.chance(0.7)) world.order(name, drawOrder(world.random));
  }
  supervise(world);
  await world.timeline.advance(START_MS);
}

async function trouble(world: VinoWorld): Promise<void> {
  const { random, timeline, trace, crashes, cloudJudge } = world;
  const steps = VINO_STEPS.filter(() => !random.chance(SPARED_SHARE));
  crashes.share = random.pick(CRASH_SHARES);
  const endMs = timeline.monotonic() + random.between(...TROUBLE_MS);
  while (timeline.monotonic() < endMs && world.violations.length === 0) {
    const { name, act } = random.weigh(steps);
    const what = act(world);
    if (what !== undefined) trace.note("STEP", `${name}: ${what}`);
    supervise(world);
    await timeline.advance(random.between(100, PAUSE_MS));
    cloudJudge.checkForeign();
  }
}

async function calm(world: VinoWorld): Promise<void> {
  const { timeline, trace, cloudJudge, crashes, cloud } = world;
  trace.note("STORY", "all faults end");
  crashes.share = 0;
  endFaults(world);
  cloud.faults.clear();
  cloud.hypervisor.faults.clear();
  tidyUp(world);
  const endMs = timeline.monotonic() + CALM_MS_MAX;
  let right: { readonly sinceMs: number; readonly writes: number } | undefined;
  for (;;) {
    await timeline.advance(LOOK_MS);
    supervise(world);
    confirmRemovals(world);
    deleteUnmarked(world);
    cloudJudge.checkForeign();
    if (world.violations.length > 0) return;
    const nowMs = timeline.monotonic();
    const untrue = listUntrue(world);
    if (untrue.length > 0) right = undefined;
    else if (right === undefined || right.writes !== world.writes) {
      right = { sinceMs: nowMs, writes: world.writes };
    } else if (nowMs - right.sinceMs >= QUIET_MS) return;
    if (nowMs < endMs) continue;
    throw new Error(`not right in time: ${untrue.join("; ") || "writes go on"}`);
  }
}

/** A process that remembers nothing finds all as it should be, and changes nothing. */
async function restart(world: VinoWorld): Promise<void> {
  if (world.violations.length > 0) return;
  const { timeline, trace, replicas, writes } = world;
  trace.note("STORY", "all processes end, and others start");
  for (const replica of replicas) replica.kill();
  supervise(world);
  await timeline.advance(QUIET_MS);
  if (world.writes !== writes) {
    throw new Error(`a new process changed ${world.writes - writes} things, and all was right`);
  }
  const untrue = listUntrue(world);
  if (untrue.length > 0) throw new Error(`wrong after a restart: ${untrue.join("; ")}`);
}

/** What people put right: names of VMs, hosts that are paused, those in use, and those that are of no Vino any more. */
function tidyUp(world: VinoWorld): void {
  nameBack(world);
  for (const host of world.hosts) {
    if (isPaused(host)) unpause(world, host);
    if (consumerOf(host) !== undefined) giveBack(world, host);
    // Without its label, or with another one, Landfall takes it for that of somebody else.
    if (!isOfVino(world, host)) world.objects.delete("baremetalhosts", pathOf(host));
  }
}
