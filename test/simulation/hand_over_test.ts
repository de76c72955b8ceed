/**
 * What the next leader knows that stood by: two replicas, one hand-over.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { XenOrchestraWorld } from "./xenorchestra/cloud.ts";

const REFRESH_MS = 30_000;
const STEP_MS = 1_000;
const MINUTE_MS = 60_000;
const NAMES = ["n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"];
/** Until the Lease of a process that was killed has run out and another one has it. */
const TAKE_OVER_MS = 20_000;

interface HandOver extends AsyncDisposable {
  readonly world: XenOrchestraWorld;
  /** Takes the machine of a Node away, and its kubelet with it. */
  lose(name: string): void;
  /** Ends the leader in the middle of whatever it does. */
  killLeader(): void;
  /** How long it takes until a Node is gone, in milliseconds; `Infinity` when it is not within `ms`. */
  measureDeletion(name: string, ms: number): Promise<number>;
}

/** Nine Nodes that are well, a leader, and one that stands by. */
async function start(): Promise<HandOver> {
  const settings = { refreshIntervalMs: REFRESH_MS, replicas: 2, pools: 2, nodes: NAMES.length };
  const world = new XenOrchestraWorld(11, () => ({ ...settings, deletion: DEFAULT_DELETION }));
  const { timeline, replicas, cloud, machines, server } = world;
  for (const name of NAMES) {
    world.addMachine(name);
    world.join(name);
  }
  world.noteChange();
  for (const replica of replicas) replica.start({ rate: 1, skewMs: 0 });
  await timeline.advance(2 * MINUTE_MS);
  return {
    world,
    lose(name) {
      cloud.state.removeVm(machines.get(name) ?? "");
      world.setReady(name, false);
      world.noteChange();
    },
    killLeader() {
      replicas.find(({ current }) => current?.process.name === server.holder)?.kill();
    },
    async measureDeletion(name, ms) {
      const startMs = timeline.monotonic();
      while (world.findNode(name) !== undefined) {
        if (timeline.monotonic() - startMs >= ms) return Infinity;
        await timeline.advance(STEP_MS);
      }
      return timeline.monotonic() - startMs;
    },
    async [Symbol.asyncDispose]() {
      for (const replica of replicas) replica.kill();
      await world.leave();
    },
  };
}

describe("a hand-over", () => {
  test("costs a Node no more than the ordinary hold-off whose machine the standby saw", async () => {
    await using story = await start();
    const { world } = story;
    story.killLeader();
    story.lose("n1");
    const tookMs = await story.measureDeletion("n1", 20 * MINUTE_MS);
    expect(tookMs).toBeGreaterThan(DEFAULT_DELETION.holdOffMs);
    expect(tookMs).toBeLessThan(TAKE_OVER_MS + DEFAULT_DELETION.holdOffMs + 3 * REFRESH_MS);
    expect(world.invariants.violations).toEqual([]);
  });

  test("starts the count of inventories and the hold-off over", async () => {
    await using story = await start();
    const { world } = story;
    story.lose("n1");
    // One more look, and the leader would ask.
    await world.timeline.advance(MINUTE_MS);
    expect(world.findNode("n1")).toBeDefined();
    story.killLeader();
    const tookMs = await story.measureDeletion("n1", 20 * MINUTE_MS);
    expect(tookMs).toBeGreaterThan(DEFAULT_DELETION.holdOffMs);
    expect(world.invariants.violations).toEqual([]);
  });

  test("lets no more Nodes go than the limit, those of the leader before included", async () => {
    await using story = await start();
    const { world } = story;
    // A third of nine, by the leader; then as many again.
    for (const name of ["n1", "n2", "n3"]) story.lose(name);
    for (const name of ["n1", "n2", "n3"]) {
      expect(await story.measureDeletion(name, 5 * MINUTE_MS)).toBeFinite();
    }
    story.killLeader();
    for (const name of ["n4", "n5"]) story.lose(name);
    expect(await story.measureDeletion("n4", 5 * MINUTE_MS)).toBe(Infinity);
    expect(world.findNode("n5")).toBeDefined();
    // Once the window has passed.
    expect(await story.measureDeletion("n4", 10 * MINUTE_MS)).toBeFinite();
    expect(world.invariants.violations).toEqual([]);
  });
});
