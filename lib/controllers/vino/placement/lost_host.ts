/**
 * Says why a machine has no host that the cloud shows. Pure.
 * @module
 */
import { nameSome } from "../../kinds/problems.ts";
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
