import type { EventMode } from "../../lib/simulator/xenorchestra/events.ts";
import { describeOutages, type Outage } from "../support/outages/story.ts";

/** A pool is lost, which removes each of its machines by an event; and the events themselves go wrong. */
function toLoss(mode: EventMode): Outage {
  return {
    title: `a pool is lost while events are ${mode}`,
    begin: ({ servers: { cloud }, pools: { alpha } }) => {
      cloud.events.mode = mode;
      cloud.state.dropPool(alpha.id);
      return () => {
        cloud.events.mode = "right";
        cloud.state.restorePool(alpha.id);
      };
    },
    lists: ["beta"],
  };
}

describeOutages("when events mislead:", [
  toLoss("right"),
  { ...toLoss("doubled"), isVariant: true },
  toLoss("lossy"),
  toLoss("silent"),
  {
    title: "a pool blinks, and all its machines are removed and added",
    begin: ({ servers: { cloud }, pools: { alpha } }) => cloud.state.dropPool(alpha.id, 3_000),
    lists: ["alpha", "beta"],
    proves: ["alpha", "beta"],
  },
  {
    title: "the stream is cut, and no other is to be had",
    begin: ({ servers: { cloud } }) => {
      const end = cloud.faults.set({ kind: "status", status: 503 }, { route: "GET /events" });
      cloud.events.drop();
      return end;
    },
    lists: ["alpha", "beta"],
    proves: ["alpha", "beta"],
  },
]);
