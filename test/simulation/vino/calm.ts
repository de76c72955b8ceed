/**
 * The end of a story of Vinos: all faults end, all must come right within a bounded time, and stay so.
 * @module
 */
import { consumerOf, isPaused, pathOf } from "../../../lib/simulator/metal3/host_state.ts";
import { endFaults, supervise } from "../steps/controller.ts";
import { isOfVino, listUntrue } from "./judges/truth.ts";
import { giveBack, unpause } from "./steps/hosts.ts";
import { deleteOthersSecrets } from "./steps/others.ts";
import {
  askForLargerDisks,
  confirmRemovals,
  deleteHopeless,
  nameBack,
  publishAgain,
} from "./steps/people.ts";
import type { VinoWorld } from "./world.ts";

const LOOK_MS = 5_000;
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
    deleteHopeless(world);
    publishAgain(world);
    askForLargerDisks(world);
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

/** A process that remembers nothing finds all as it should be, and changes nothing. @throws an error if it does not */
export async function restart(world: VinoWorld): Promise<void> {
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

/**
 * What people put right: things of others that are in the way, names of VMs, hosts that are paused, those in use, and
 * those that are of no Vino any more.
 */
function tidyUp(world: VinoWorld): void {
  world.others.leave();
  deleteOthersSecrets(world);
  nameBack(world);
  for (const host of world.hosts) {
    if (isPaused(host)) unpause(world, host);
    if (consumerOf(host) !== undefined) giveBack(world, host);
    // Without its label, or with another one, Landfall takes it for that of somebody else.
    if (!isOfVino(world, host)) world.objects.delete("baremetalhosts", pathOf(host));
  }
}
