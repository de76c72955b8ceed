/**
 * Labels and annotations of Landfall that are misspelt, for `landfall check`.
 * @module
 */
import type { ControllerDefinition } from "../../controllers/definition.ts";
import { describeUnknownKeys } from "../../controllers/own_keys.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { KubeError } from "../../kube/api/errors.ts";
import { listAll } from "../../kube/cache/watcher.ts";
import { NODES } from "../../kube/kinds/node.ts";
import type { KubeObject } from "../../kube/kinds/resource.ts";
import { SERVICES } from "../../kube/kinds/service.ts";
import type { CheckFinding } from "./report.ts";

const OBJECTS_PER_PAGE = 500;
const NAMED_MAX = 3;

/** Says which objects have such labels or annotations, once for all with the same. Pure. */
export function listUnknownKeys(noun: string, objects: readonly KubeObject[]): CheckFinding[] {
  const groups = Map.groupBy(objects, ({ metadata }) => describeUnknownKeys(metadata));
  groups.delete(undefined);
  return [...groups].map(([message = "", some]) => {
    const names = some
      .slice(0, NAMED_MAX)
      .map(({ metadata: { namespace, name } }) =>
        namespace === undefined ? name : `${namespace}/${name}`,
      );
    const more = some.length > NAMED_MAX ? ", …" : "";
    const what = some.length === 1 ? noun : `${some.length} ${noun}s`;
    return {
      level: "warning",
      code: "unknownKey",
      message: `${what} ${names.join(", ")}${more}: ${message}`,
      advice: "write it as it is meant, or remove it",
    };
  });
}

/**
 * Looks at the objects of the chosen controllers, except Nodes and Services, which other checks read.
 *
 * @throws the signal's reason
 */
export async function findUnknownKeys(
  client: KubeClient,
  chosen: readonly Pick<ControllerDefinition, "kind">[],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  const kinds = new Set(chosen.map(({ kind }) => kind));
  for (const read of [NODES, SERVICES]) kinds.delete(read);
  const found = await Promise.all(
    [...kinds].map(async (kind) => {
      try {
        const { items } = await listAll(client, kind, { limit: OBJECTS_PER_PAGE }, signal);
        return listUnknownKeys(kind.kind, items);
      } catch (error) {
        signal.throwIfAborted();
        // What cannot be listed, other findings say.
        if (error instanceof KubeError) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}
