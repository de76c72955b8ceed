/**
 * What objects say themselves, for `landfall check`: labels and annotations of Landfall that are misspelt, and why they
 * are not ready.
 * @module
 */
import * as v from "valibot";
import type { ControllerDefinition } from "../../controllers/definition.ts";
import { describeUnknownKeys } from "../../controllers/own_keys.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { NODES } from "../../kube/kinds/node.ts";
import type { KubeObject } from "../../kube/kinds/resource.ts";
import { SERVICES } from "../../kube/kinds/service.ts";
import { tryList } from "../listing.ts";
import type { CheckFinding } from "./report.ts";

const NAMED_MAX = 3;
const TEXT = v.string();
const WITH_CONDITIONS = v.looseObject({
  status: v.looseObject({
    conditions: v.array(v.looseObject({ type: TEXT, status: TEXT, reason: TEXT, message: TEXT })),
  }),
});

/** Says which objects have such labels or annotations, once for all with the same. Pure. */
export function listUnknownKeys(noun: string, objects: readonly KubeObject[]): CheckFinding[] {
  const advice = "write it as it is meant, or remove it";
  return toFindings(noun, objects, ({ metadata }) => describeUnknownKeys(metadata)).map((one) => ({
    ...one,
    code: "unknownKey",
    advice,
  }));
}

/** Says which objects are not ready by their own condition, with its message, which says what to do. */
function listNotReady(noun: string, objects: readonly KubeObject[]): CheckFinding[] {
  return toFindings(noun, objects, (object) => {
    const parsed = v.safeParse(WITH_CONDITIONS, object);
    const conditions = parsed.success ? parsed.output.status.conditions : [];
    const found = conditions.find(({ type }) => type === "Ready");
    return found?.status === "False" ? `not ready: ${found.reason}: ${found.message}` : undefined;
  }).map((one) => ({ ...one, code: "notReady" }));
}

/** A warning for all objects of which the same is to say. @param describe `undefined`: nothing is to say */
function toFindings<T extends KubeObject>(
  noun: string,
  objects: readonly T[],
  describe: (object: T) => string | undefined,
): Omit<CheckFinding, "code">[] {
  const groups = Map.groupBy(objects, describe);
  groups.delete(undefined);
  return [...groups].map(([message = "", some]) => {
    const names = some
      .slice(0, NAMED_MAX)
      .map(({ metadata: { namespace, name } }) =>
        namespace === undefined ? name : `${namespace}/${name}`,
      );
    const more = some.length > NAMED_MAX ? ", …" : "";
    const what = some.length === 1 ? noun : `${some.length} ${noun}s`;
    return { level: "warning", message: `${what} ${names.join(", ")}${more}: ${message}` };
  });
}

/**
 * Looks at the objects of the chosen controllers, except Nodes and Services, which other checks read.
 *
 * @throws the signal's reason
 */
export async function inspectObjects(
  client: KubeClient,
  chosen: readonly Pick<ControllerDefinition, "kind">[],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  const kinds = new Set(chosen.map(({ kind }) => kind));
  for (const read of [NODES, SERVICES]) kinds.delete(read);
  const found = await Promise.all(
    [...kinds].map(async (kind) => {
      const items = (await tryList(client, kind, signal)) ?? [];
      return [...listUnknownKeys(kind.kind, items), ...listNotReady(kind.kind, items)];
    }),
  );
  return found.flat();
}
