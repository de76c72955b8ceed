/**
 * Reports labels and annotations of Landfall that it does not know in Events on the objects: they are misspelt.
 * @module
 */
import type { ControllerDefinition, RunningController } from "../controllers/definition.ts";
import { describeUnknownKeys } from "../controllers/own_keys.ts";
import type { StoreReader } from "../kube/cache/store.ts";
import type { EventSender } from "../kube/events/events.ts";
import { type EventWord, toEvent } from "../kube/events/words.ts";
import { NODES } from "../kube/kinds/node.ts";
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

/** A controller, and its objects. */
interface Reporting {
  readonly definition: Pick<ControllerDefinition, "component" | "kind">;
  readonly controller: Pick<RunningController, "objects">;
}

/**
 * Reports them for all objects of these controllers from now on, each as the first controller that works on it.
 *
 * @param nodes Absent: there is no cloud, and no controller works on Nodes
 * @returns What ends it
 */
export function reportUnknownKeys(
  controllers: readonly Reporting[],
  nodes: Pick<StoreReader<KubeObject>, "subscribe"> | undefined,
  sender: Pick<EventSender, "speakAs">,
): () => void {
  const components = new Map(
    controllers.toReversed().map(({ definition: { kind, component }, controller }) => {
      return [kind === NODES ? nodes : controller.objects, component] as const;
    }),
  );
  const ends = [...components].map(([store, component]) => {
    const events = sender.speakAs(component);
    return store?.subscribe((_key, before, after) => {
      const message = after && describeUnknownKeys(after.metadata);
      if (after === undefined || message === undefined) return;
      // Heartbeats change nothing about it.
      if (before !== undefined && describeUnknownKeys(before.metadata) === message) return;
      events.record(after, toEvent(KEY_EVENTS.unknown, message));
    });
  });
  return () => {
    for (const end of ends) end?.();
  };
}
