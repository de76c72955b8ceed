/**
 * The scenario of SIPClusters: two of them, with a crash at one write or another.
 * @module
 */
import { consumerOf, pathOf } from "../../../lib/simulator/metal3/host_state.ts";
import { breakHost } from "../../../lib/simulator/metal3/hosts.ts";
import { readExtent } from "../../support/extent.ts";
import { type Asked, type CrashEnding, type CrashPoint, tellWithCrashes } from "../crash_points.ts";
import { tellStory } from "../ending.ts";
import { listUntrue } from "../sipcluster/truth.ts";
import { SipWorld, TENANTS } from "../sipcluster/world.ts";
import { check, type Telling, toReplay } from "./scenario.ts";
import { ALONE } from "./stage.ts";

const NAME = "sipclusters/two-clusters";
const SEED = 5;
/** Longer than every pause of a controller. */
const CHAPTER_MS = 45_000;
const RIGHT = { rate: 1, skewMs: 0 } as const;
const SMALL = { controlPlanes: 1, workers: 2, standby: 1, spreadsWorkers: false };
const LARGE = { controlPlanes: 3, workers: 3, standby: 1, spreadsWorkers: false };
/** One of so many writes is tried, before and after the server does it. */
const STRIDE = { some: 97, all: 1 } as const;

/** One cluster is made, grows, loses a broken host, shrinks and is deleted, the other stays. */
const CHAPTERS: readonly ((world: SipWorld) => void)[] = [
  (world) => world.order("blue", SMALL),
  (world) => world.order("red", LARGE),
  (world) => world.order("blue", { ...SMALL, workers: 4 }),
  (world) => {
    const host = world.hosts.find(
      (one) => consumerOf(one) === undefined && one.metadata.name === "r1-worker-1",
    );
    if (host) breakHost(world.objects, pathOf(host), "the fan is broken");
  },
  (world) => world.order("red", SMALL),
  (world) => void world.objects.delete("sipclusters", { namespace: TENANTS, name: "blue" }),
];

/** Each way to tell it. */
export const TELLINGS: readonly Telling[] = [
  {
    name: NAME,
    isOfCi: false,
    hasPoints: true,
    tell: (only) => tellWithCrashes(tell, list, only),
  },
];

function list(asked: readonly Asked[]): CrashPoint[] {
  return asked.flatMap((_one, index): CrashPoint[] => {
    const at = index + 1;
    if (index % STRIDE[readExtent()] !== 0) return [];
    return [
      { at, when: "before" },
      { at, when: "after" },
    ];
  });
}

async function tell(point?: CrashPoint): Promise<CrashEnding> {
  const world = new SipWorld(SEED, 1, ALONE);
  const { crashPoints } = world;
  let left: unknown;
  const ending = await tellStory(toReplay(NAME), world, [
    async () => {
      world.build(3);
      for (const replica of world.replicas) replica.start(RIGHT);
      crashPoints.begin(point);
      for (const chapter of CHAPTERS) {
        chapter(world);
        await world.timeline.advance(CHAPTER_MS);
      }
      left = world.describe();
      check("what is not right", listUntrue(world), []);
      check("more than 30 writes", crashPoints.asked.length > 30, true);
    },
  ]);
  return { ...ending, left, asked: [...crashPoints.asked], isReached: crashPoints.isReached };
}
