import { expect, test } from "bun:test";
import { RightWorld } from "./right_world.ts";

test("no judge has anything to say of the world that the other tests spoil", async () => {
  using right = await RightWorld.create();
  await right.world.timeline.advance(600_000);
  expect(right.listWrong()).toEqual([]);
});
