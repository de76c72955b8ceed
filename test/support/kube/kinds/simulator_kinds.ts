/**
 * Kinds of the simulated API server, for tests of its parts.
 * @module
 */
import type { Kind } from "../../../../lib/simulator/kubernetes/schema/kind.ts";
import { KINDS } from "../../../../lib/simulator/kubernetes/schema/kinds.ts";

/** The kind with a plural name. @throws TypeError when the simulator has none */
export function kindOf(plural: string): Kind {
  const kind = KINDS.find((one) => one.plural === plural);
  if (kind === undefined) throw new TypeError(`Cannot find kind: ${plural}`);
  return kind;
}
