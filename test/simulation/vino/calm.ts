/**
 * The end of a story of Vinos: all faults end, all must come right within a bounded time, and stay so.
 * @module
 */
import { isPaused, pathOf } from "../../../lib/simulator/metal3/host_state.ts";
import { type RestRules, restartAtRest, untilRight } from "../rest.ts";
import { endFaults, supervise } from "../steps/controller.ts";
import { isOfVino, listUntrue } from "./judges/truth.ts";
import { unpause } from "../steps/hosts.ts";
import { tagOneHypervisor } from "./steps/cloud.ts";
import { giveBack, isTakenByHand } from "./steps/hosts.ts";
import { finishOverrides } from "./steps/ironic.ts";
import { deleteOthersSecrets } from "./steps/others.ts";
import {
  askForLargerDisks,
  confirmRemovals,
  deleteHopeless,
  nameBack,
  publishAgain,
  deleteMachinesInTheWay,
} from "./steps/people.ts";
import type { VinoWorld } from "./world.ts";

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
      publishAgain(world);
      askForLargerDisks(world);
      deleteMachinesInTheWay(world);
      finishOverrides(world);
      world.cloudJudge.checkForeign();
    },
    supervise: () => supervise(world),
    listViolations: () => world.violations,
    listUntrue: () => [...listUntrue(world), ...world.overrideJudge.listUntrue()],
    countWrites: () => world.writes,
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
