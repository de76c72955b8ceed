/**
 * One seed of SIPClusters from its beginning to its end: trouble, then calm in which everything must come right.
 * @module
 */
import { isPaused, pathOf } from "../../../lib/simulator/metal3/host_state.ts";
import { mendHost } from "../../../lib/simulator/metal3/hosts.ts";
import { type RestRules, restartAtRest, untilRight, type Ending, tellStory } from "../ending.ts";
import { endFaults, supervise } from "../steps/controller.ts";
import { unpause } from "../steps/hosts.ts";
import { findRole, isBroken, LABELS, readMessage } from "./hosts.ts";
import { keyOf } from "./judge.ts";
import { drawOrder, giveRivalBack, SIP_STEPS } from "./steps.ts";
import { listUntrue } from "./truth.ts";
import { NAMES, SipWorld } from "./world.ts";

const START_MS = 10_000;
const TROUBLE_MS = [60_000, 180_000] as const;
const PAUSE_MS = 4_000;
/** For so long nothing more may be written once all is right; longer than every poll of the controller. */
const QUIET_MS = 90_000;
/** Longest time until all is right: what is not watched is checked every ten minutes, and the rest takes less. */
const CALM_MS_MAX = 1_500_000;
/** What a cluster says of hosts that lost their labels while no process led, and that it may not label. */
const IN_DOUBT = /In status\.hosts, in use, and without labels: ([^.]+)\. .*write the labels again/;
/** How often a story goes without one thing that may happen. */
const SPARED_SHARE = 0.3;

/** Runs a seed. */
export async function runSipStory(seed: number): Promise<Ending> {
  const world = new SipWorld(seed, seed % 2 === 0 ? 2 : 1);
  const flags = `--sipclusters --seed ${seed}`;
  return await tellStory(flags, world, [
    begin,
    trouble,
    calm,
    () => restartAtRest(world, toRules(world)),
  ]);
}

async function begin(world: SipWorld): Promise<void> {
  world.build(world.random.between(2, 4));
  for (const name of NAMES) {
    if (world.random.chance(0.5)) world.order(name, drawOrder(world.random));
  }
  supervise(world);
  await world.timeline.advance(START_MS);
}

async function trouble(world: SipWorld): Promise<void> {
  const { random, timeline, judge, trace } = world;
  const steps = SIP_STEPS.filter(() => !random.chance(SPARED_SHARE));
  const endMs = timeline.monotonic() + random.between(...TROUBLE_MS);
  while (timeline.monotonic() < endMs && judge.violations.length === 0) {
    const { name, act } = random.weigh(steps);
    const what = act(world);
    if (what !== undefined) trace.note("STEP", `${name}: ${what}`);
    supervise(world);
    await timeline.advance(random.between(100, PAUSE_MS));
  }
}

async function calm(world: SipWorld): Promise<void> {
  world.trace.note("STORY", "all faults end");
  endFaults(world);
  tidyUp(world);
  await untilRight(world, toRules(world));
}

function toRules(world: SipWorld): RestRules {
  const { judge } = world;
  return {
    look: () => {
      supervise(world);
      writeLabels(world);
    },
    supervise: () => supervise(world),
    listViolations: () => judge.violations,
    listUntrue: () => listUntrue(world),
    describeWork: () => `${judge.writes} writes`,
    quietMs: QUIET_MS,
    maxMs: CALM_MS_MAX,
  };
}

/** What only people may do: they label again the hosts in doubt of which a cluster says that they must. */
function writeLabels({ objects, clusters, hosts, trace }: SipWorld): void {
  for (const cluster of clusters) {
    const [, keys = ""] = IN_DOUBT.exec(readMessage(cluster, "Scheduled")) ?? [];
    for (const host of hosts.filter((one) => keys.split(", ").includes(keyOf(one)))) {
      const { name, namespace } = cluster.metadata;
      const role = findRole(cluster, host) ?? "";
      const labels = {
        [LABELS.namespace]: String(namespace),
        [LABELS.name]: name,
        [LABELS.role]: role,
      };
      objects.patch("baremetalhosts", pathOf(host), { metadata: { labels } });
      trace.note("PERSON", `labels ${keyOf(host)} again for ${keyOf(cluster)}`);
    }
  }
}

/** What people put right: broken and paused hosts, and machines of clusters that are to go. */
function tidyUp(world: SipWorld): void {
  const { objects, hosts, clusters, clusterApi, random } = world;
  for (const host of hosts) {
    // A host may be broken, paused and being deleted at once: while it is paused, its cluster waits for it.
    if (isBroken(host)) mendHost(objects, pathOf(host));
    if (isPaused(host)) unpause(world, host);
  }
  if (random.chance(0.5)) while (giveRivalBack(world) !== undefined);
  const kept = new Set(
    clusters
      .filter(({ metadata }) => !("deletionTimestamp" in metadata))
      .map(({ metadata }) => metadata.name),
  );
  for (const machine of clusterApi.list()) {
    if (!kept.has(machine.name.split("-")[0] ?? "")) clusterApi.remove(machine);
  }
}
