/**
 * A double of the garbage collector of kube-controller-manager: objects go when all their owners are gone.
 * @module
 */
import type { ObjectAccess } from "../object_access.ts";
import { isArray, isObject, stringAt, type ApiObject, type JsonObject } from "../patches/json.ts";

/**
 * Deletes every object whose owners are all gone, and what those owned, in the background like `kubectl delete`.
 * An owner in another namespace counts as gone, as it does for the real one.
 *
 * @returns `plural/namespace/name` of each, in the order in which they were deleted
 */
export function collectGarbage(objects: ObjectAccess): readonly string[] {
  const collected: string[] = [];
  for (;;) {
    const orphans = listOrphans(objects);
    if (orphans.length === 0) return collected;
    for (const { plural, object } of orphans) {
      const { name, namespace } = object.metadata;
      const path = typeof namespace === "string" ? { name, namespace } : { name };
      objects.delete(plural, path);
      collected.push([plural, namespace, name].filter((part) => part !== undefined).join("/"));
    }
  }
}

interface Placed {
  readonly plural: string;
  readonly object: ApiObject;
}

function listOrphans(objects: ObjectAccess): readonly Placed[] {
  const all: readonly Placed[] = objects
    .plurals()
    .flatMap((plural) => objects.list(plural).map((object) => ({ plural, object })));
  const places = new Map(all.map(({ object }) => [object.metadata.uid, placeOf(object)]));
  return all.filter(({ object }) => {
    const owners = ownersOf(object);
    // One that only waits for its finalizers was deleted before.
    if (owners.length === 0 || "deletionTimestamp" in object.metadata) return false;
    return owners.every((owner) => {
      const place = places.get(stringAt(owner, "uid"));
      return place === undefined || (place !== "" && place !== placeOf(object));
    });
  });
}

/** The namespace, `""` for the whole cluster. */
function placeOf({ metadata }: ApiObject): string {
  return stringAt(metadata, "namespace");
}

function ownersOf({ metadata }: ApiObject): readonly JsonObject[] {
  const owners = metadata["ownerReferences"];
  return isArray(owners) ? owners.filter(isObject) : [];
}
