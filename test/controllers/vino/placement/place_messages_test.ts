import { expect, test } from "bun:test";
import { describeLostHost } from "../../../../lib/controllers/vino/placement/place_messages.ts";
import { toView } from "../../../support/vino/known.ts";

const LYON = { id: "pool-1", name: "lyon", isComplete: true };
const PARIS = { id: "pool-2", name: "paris", isComplete: false };
const NICE = { id: "pool-3", name: "nice", isComplete: false };

test.each([
  [
    "the pool that may have it, and the host's ID",
    { hostId: "h9" },
    [LYON, PARIS],
    "The cloud does not show its host h9: pool paris is disconnected or still loading",
  ],
  [
    "all pools that may have it",
    {},
    [LYON, PARIS, NICE],
    "The cloud does not show its host: pools paris, nice are disconnected or still loading",
  ],
  ["the pool that has none", {}, [LYON], "Pool lyon shows no host where it can start"],
])("describeLostHost() names %s", (_what, placed, pools, message) => {
  expect(describeLostHost(placed, { view: toView([], { pools }), poolId: "pool-1" })).toBe(message);
});
