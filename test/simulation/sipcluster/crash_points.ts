/**
 * The same story with a crash at the k-th request that writes: whatever the process did before it, the end is the same.
 * @module
 */
import { consumerOf, pathOf } from "../../../lib/simulator/metal3/host_state.ts";
import { breakHost } from "../../../lib/simulator/metal3/hosts.ts";
import { listUntrue } from "./truth.ts";
import { SipWorld, TENANTS } from "./world.ts";

/** How a story ended. */
export interface CrashEnding {
  /** What is there in the end. */
  readonly end: string;
  /** How many writes the processes sent. */
  readonly writes: number;
  readonly problems: readonly string[];
}

/** When in the k-th write the process dies: before it is sent, or after the server did it. */
export type Moment = "before" | "after";

const SEED = 5;
/** Longer than a Lease, so that the next process leads, and longer than every pause of a controller. */
const CHAPTER_MS = 60_000;
const RIGHT = { rate: 1, skewMs: 0 } as const;
const SMALL = { controlPlanes: 1, workers: 2, standby: 1, spreadsWorkers: false };
const LARGE = { controlPlanes: 3, workers: 3, standby: 1, spreadsWorkers: false };

/**
 * Tells of two clusters: one is made, grows, loses a broken host, shrinks and is deleted, the other stays.
 *
 * @param crash Which write kills the process, from 1, and when. Absent: none does
 */
export async function tellWithCrash(crash?: {
  readonly write: number;
  readonly moment: Moment;
}): Promise<CrashEnding> {
  const world = new SipWorld(SEED, 1);
  const [replica] = world.replicas;
  if (replica === undefined) throw new TypeError("there is a replica");
  let writes = 0;
  world.onWrite = () => {
    writes += 1;
    if (writes !== crash?.write) return;
    const die = (): void => {
      replica.kill();
      replica.start(RIGHT);
    };
    if (crash.moment === "before") die();
    else world.timeline.schedule(5, die);
  };
  try {
    world.build(3);
    replica.start(RIGHT);
    for (const chapter of CHAPTERS) {
      chapter(world);
      await world.timeline.advance(CHAPTER_MS);
    }
    return {
      end: world.describe(),
      writes,
      problems: [...world.judge.violations, ...listUntrue(world)],
    };
  } finally {
    world.leave();
  }
}

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
