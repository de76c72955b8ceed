/**
 * Pools that are gone for good with all their machines. Only a person can say that. Pure.
 * @module
 */
import type { MachineOwner, MachinePlan } from "../../../../cloud/capabilities/machines.ts";
import { GONE_POOLS } from "../../words.ts";

/** IDs of the pools of which a person said that they are gone. @param annotations Of the Vino */
export function readGonePools({
  annotations = {},
}: {
  readonly annotations?: Readonly<Record<string, string>>;
}): ReadonlySet<string> {
  return new Set(annotations[GONE_POOLS]?.split(",").map((id) => id.trim()));
}

/**
 * Whether a machine is gone together with its pool. A pool that the cloud shows is not gone, also if a person said so.
 *
 * @param plan Of its removal, from a look
 * @param gone As {@linkcode readGonePools} reads them
 */
export function isGoneWithPool(
  { state, needsLook, steps, problems }: MachinePlan,
  gone: ReadonlySet<string>,
): boolean {
  if (state !== "Unknown" || needsLook === true || steps.length > 0) return false;
  return problems.some(
    ({ missingPoolId }) => missingPoolId !== undefined && gone.has(missingPoolId),
  );
}

/** How a person says that a pool is gone; no full stop. */
export function describeWayOut({ namespace, name }: MachineOwner, poolId: string): string {
  const command = `kubectl annotate vino ${name} --namespace=${namespace} --overwrite ${GONE_POOLS}=${poolId}`;
  return `If that pool is gone for good with all its machines, say so, and Landfall forgets them: ${command}`;
}
