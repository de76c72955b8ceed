/**
 * Reports labels and annotations of Landfall that it does not know in Events on the objects: they are misspelt.
 * @module
 */
import type { RunningController } from "../controllers/definition.ts";
import { describeUnknownKeys } from "../controllers/own_keys.ts";
import type { StoreReader } from "../kube/cache/store.ts";
import type { EventRecorder } from "../kube/events/events.ts";
import { type EventWord, toEvent } from "../kube/events/words.ts";
import type { KubeObject } from "../kube/kinds/resource.ts";

/** The Events, written on the object. Frozen: they must not change. */
export const KEY_EVENTS: Readonly<Record<"unknown", EventWord>> = {
  unknown: {
    reason: "UnknownKey",
    type: "Warning",
    meaning:
      "A label or an annotation begins with `landfall.dev/`, and Landfall does not know it. The message names the " +
      "one that was probably meant.",
  },
};

/**
 * Reports them for all objects of these controllers, and for Nodes, from now on.
 *
 * @param nodes Absent: no controller works on Nodes
 * @returns What ends it
 */
export function reportUnknownKeys(
  controllers: readonly Pick<RunningController, "objects">[],
  nodes: Pick<StoreReader<KubeObject>, "subscribe"> | undefined,
  events: EventRecorder,
): () => void {
  const stores = new Set([nodes, ...controllers.map(({ objects }) => objects)]);
  const ends = [...stores].map((store) =>
    store?.subscribe((_key, before, after) => {
      const message = after && describeUnknownKeys(after.metadata);
      if (after === undefined || message === undefined) return;
      // Heartbeats change nothing about it.
      if (before !== undefined && describeUnknownKeys(before.metadata) === message) return;
      events.record(after, toEvent(KEY_EVENTS.unknown, message));
    }),
  );
  return () => {
    for (const end of ends) end?.();
  };
}
