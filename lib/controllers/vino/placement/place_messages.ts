/**
 * What is said about a machine that has no host, or is in another pool than the spec wants. Pure.
 * @module
 */
import type { MachineProblem } from "../../../cloud/capabilities/machines.ts";
import { nameSome } from "../../kinds/problems.ts";
import { EVENT_WORDS } from "../words.ts";
import type { KnownMachine } from "./known.ts";
import type { PlacedMachine } from "./placement.ts";
import type { Snapshot } from "./snapshot.ts";

/** Why nothing can be done for a machine without a host; a sentence without a full stop that names the pool. */
export function describeLostHost(
  { hostId }: Pick<PlacedMachine, "hostId">,
  { view: { pools }, poolId = "" }: Pick<Snapshot, "poolId" | "view">,
): string {
  const lost = pools.filter(({ isComplete }) => !isComplete).map(({ name }) => name);
  if (lost.length === 0) {
    const pool = pools.find(({ id }) => id === poolId);
    return `Pool ${pool?.name ?? poolId} shows no host where it can start`;
  }
  const host = hostId === undefined ? "its host" : `its host ${hostId}`;
  return lost.length === 1
    ? `The cloud does not show ${host}: pool ${nameSome(lost)} is disconnected or still loading`
    : `The cloud does not show ${host}: pools ${nameSome(lost)} are disconnected or still loading`;
}

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
