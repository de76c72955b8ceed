/**
 * What is said about a machine in another pool than the spec wants. Pure.
 * @module
 */
import type { MachineProblem } from "../../../cloud/capabilities/machines.ts";
import { EVENT_WORDS } from "../words.ts";
import type { KnownMachine } from "./known.ts";
import type { Snapshot } from "./snapshot.ts";

/** Landfall moves no machine to another pool. `undefined`: the machine is where the spec wants it, or is not shown. */
export function describeOtherPool(
  { name, machine }: Pick<KnownMachine, "machine" | "name">,
  { view, poolId }: Pick<Snapshot, "poolId" | "view">,
): MachineProblem | undefined {
  if (machine === undefined || poolId === undefined || machine.poolId === poolId) return undefined;
  const toName = (id: string): string => view.pools.find((pool) => pool.id === id)?.name ?? id;
  const [is, wanted] = [toName(machine.poolId), toName(poolId)];
  const message =
    `${name} is in pool ${is}, but xenOrchestra.pool wants ${wanted}. Landfall moves no machine to another pool. ` +
    `Set xenOrchestra.pool back to ${is}, or remove the machine: lower count, and raise it again when it is gone`;
  return { reason: EVENT_WORDS.machineDiffers.reason, kind: "notice", message };
}
