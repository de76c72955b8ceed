import { expect } from "bun:test";
import { ALONE } from "../scenarios/stage.ts";
import { rest } from "../timeline.ts";
import { VinoWorld } from "./world.ts";
import { longTest } from "../../support/long_tests.ts";

const RIGHT = { rate: 1, skewMs: 0 } as const;
const WORLDS = 5;

/** A process dies in the middle of its work, another one takes its place, and then the story is over. */
async function live(): Promise<WeakRef<VinoWorld>> {
  const world = new VinoWorld("settled", 1, ALONE);
  for (const replica of world.replicas) {
    replica.start(RIGHT);
    await world.timeline.advance(3_000);
    replica.kill();
    replica.start(RIGHT);
    await world.timeline.advance(3_000);
  }
  await world.leave();
  return new WeakRef(world);
}

longTest("nothing of a world is kept after leave(), although a process died in it", async () => {
  const worlds: WeakRef<VinoWorld>[] = [];
  for (let number = 0; number < WORLDS; number += 1) worlds.push(await live());
  await rest();
  Bun.gc(true);
  await rest();
  Bun.gc(true);
  // The collector takes what is on the stack for references: the last one may seem to be in use.
  expect(worlds.filter((world) => world.deref() !== undefined).length).toBeLessThanOrEqual(1);
});
