/**
 * What the next leader knows that stood by: two replicas, one hand-over.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { settle, SETTINGS } from "./settled.ts";
import { XenOrchestraWorld } from "./xenorchestra/cloud.ts";
import { longTest } from "../support/long_tests.ts";

const REFRESH_MS = 30_000;
const STEP_MS = 1_000;
const MINUTE_MS = 60_000;
const NAMES = ["n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"];
/** Until the Lease of a process that was killed has run out and another one has it. */
const TAKE_OVER_MS = 20_000;

/** Nine Nodes that are well, a leader, and one that stands by. */
function start(): Promise<XenOrchestraWorld> {
  const settings = { ...SETTINGS, refreshIntervalMs: REFRESH_MS, replicas: 2, nodes: NAMES.length };
  return settle(new XenOrchestraWorld(11, () => settings), NAMES, 2 * MINUTE_MS);
}

/** Takes the machine of a Node away, and its kubelet with it. */
function lose(world: XenOrchestraWorld, name: string): void {
  world.cloud.state.removeVm(world.machines.get(name) ?? "");
  world.setReady(name, false);
  world.noteChange();
}

/** Ends the leader in the middle of whatever it does. */
function killLeader({ replicas, server }: XenOrchestraWorld): void {
  replicas.find(({ current }) => current?.process.name === server.holder)?.kill();
}

/** How long it takes until a Node is gone, in milliseconds; `Infinity` when it is not within `ms`. */
async function measureDeletion(
  world: XenOrchestraWorld,
  name: string,
  ms: number,
): Promise<number> {
  const { timeline } = world;
  const startMs = timeline.monotonic();
  while (world.findNode(name) !== undefined) {
    if (timeline.monotonic() - startMs >= ms) return Infinity;
    await timeline.advance(STEP_MS);
  }
  return timeline.monotonic() - startMs;
}

describe("a hand-over", () => {
  test("costs a Node no more than the ordinary hold-off whose machine the standby saw", async () => {
    await using world = await start();
    killLeader(world);
    lose(world, "n1");
    const tookMs = await measureDeletion(world, "n1", 20 * MINUTE_MS);
    expect(tookMs).toBeGreaterThan(DEFAULT_DELETION.holdOffMs);
    expect(tookMs).toBeLessThan(TAKE_OVER_MS + DEFAULT_DELETION.holdOffMs + 3 * REFRESH_MS);
    expect(world.invariants.violations).toEqual([]);
  });

  longTest("starts the count of inventories and the hold-off over", async () => {
    await using world = await start();
    lose(world, "n1");
    // One more look, and the leader would ask.
    await world.timeline.advance(MINUTE_MS);
    expect(world.findNode("n1")).toBeDefined();
    killLeader(world);
    const tookMs = await measureDeletion(world, "n1", 20 * MINUTE_MS);
    expect(tookMs).toBeGreaterThan(DEFAULT_DELETION.holdOffMs);
    expect(world.invariants.violations).toEqual([]);
  });

  longTest(
    "lets no more Nodes go than the limit, those of the leader before included",
    async () => {
      await using world = await start();
      // A third of nine, by the leader; then as many again.
      for (const name of ["n1", "n2", "n3"]) lose(world, name);
      for (const name of ["n1", "n2", "n3"]) {
        expect(await measureDeletion(world, name, 5 * MINUTE_MS)).toBeFinite();
      }
      killLeader(world);
      for (const name of ["n4", "n5"]) lose(world, name);
      expect(await measureDeletion(world, "n4", 5 * MINUTE_MS)).toBe(Infinity);
      expect(world.findNode("n5")).toBeDefined();
      // Once the window has passed.
      expect(await measureDeletion(world, "n4", 10 * MINUTE_MS)).toBeFinite();
      expect(world.invariants.violations).toEqual([]);
    },
  );
});
