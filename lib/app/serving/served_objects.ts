/**
 * The objects of one controller for pages of their own. The app knows controllers not by name, but by what they offer.
 * @module
 */
import type { RunningController } from "../../controllers/definition.ts";
import type { ServingView } from "../../http/views.ts";
import { toElectionView } from "../leadership.ts";
import type { Parts } from "../parts.ts";
import { formatDefinition } from "./process_view.ts";

/** What of an object every view has. */
export interface NamedView {
  readonly namespace: string;
  readonly name: string;
}

/** Objects as their controller describes them. Reads only memory. */
interface DescribedObjects<T> {
  /** By `namespace/name`. */
  find(key: string): (NamedView & T) | undefined;
  /** In order of namespace and name. Each is described when it is read. */
  list(): Iterable<NamedView & T>;
}

/**
 * The objects of a controller.
 *
 * @param empty What a view has until the controller describes more
 * @returns `undefined` for a controller without objects
 */
export function describeObjects<T extends object>(
  controller: RunningController,
  empty: T,
): DescribedObjects<T> | undefined {
  const { objects } = controller;
  if (objects === undefined) return undefined;
  const find = (key: string): (NamedView & T) | undefined => {
    const object = objects.get(key);
    const description = object && controller.describe?.(object);
    if (object === undefined || description === undefined) return undefined;
    const { namespace = "", name } = object.metadata;
    return Object.assign({ namespace, name, ...empty }, description);
  };
  return {
    find,
    *list() {
      for (const key of [...objects.keys()].sort()) {
        const view = find(key);
        if (view !== undefined) yield view;
      }
    },
  };
}

/** A controller with objects, and how this process serves them. */
interface ServedObjects<T> extends DescribedObjects<T> {
  readonly controller: RunningController;
  /** Whether this process works on them, and what it waits for. */
  readServing(): ServingView;
}

/**
 * Finds the controller that offers what the pages need.
 *
 * @param offers Whether a controller does
 * @param empty What a view has until the controller describes more
 * @returns `undefined` if none of the chosen ones does
 */
export function findServedObjects<T extends object>(
  { caches, groups }: Pick<Parts, "caches" | "groups">,
  offers: (controller: RunningController) => boolean,
  empty: T,
): ServedObjects<T> | undefined {
  for (const { elector, controllers } of groups) {
    for (const { controller, definition } of controllers) {
      const described = offers(controller) ? describeObjects(controller, empty) : undefined;
      if (described === undefined) continue;
      const kinds = new Set(
        definition.watches.map(({ plural, apiVersion }) => `${apiVersion} ${plural}`),
      );
      const readServing = (): ServingView => ({
        ...(elector && { election: toElectionView(elector) }),
        missing: caches.states
          .filter(({ missing }) => missing)
          .filter(({ apiVersion, resource }) => kinds.has(`${apiVersion} ${resource}`))
          .map(formatDefinition),
      });
      return { controller, readServing, ...described };
    }
  }
  return undefined;
}
