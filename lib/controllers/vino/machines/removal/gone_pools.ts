/**
 * Pools of which a person says that they are gone for good with all their machines. Pure.
 * @module
 */
import type {
  MachineOwner,
  MachinePlan,
  MachinePool,
} from "../../../../cloud/capabilities/machines.ts";
import { quote } from "../../../../core/text/printable.ts";
import type { VinoMachine } from "../../resource/vino_machine.ts";
import { GONE_POOLS } from "../../words.ts";

/** IDs of the pools of which a person said that they are gone. @param annotations Of the Vino */
export function readGonePools({
  annotations = {},
}: {
  readonly annotations?: Readonly<Record<string, string>>;
}): ReadonlySet<string> {
  return parseGonePools(annotations[GONE_POOLS]);
}

function parseGonePools(text: string | undefined): ReadonlySet<string> {
  return new Set(text?.split(",").map((id) => id.trim()));
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

/**
 * How a person says that a pool is gone; no full stop. `undefined`: a person said it.
 *
 * @param said What the annotation has
 */
export function describeWayOut(
  { namespace, name }: Pick<MachineOwner, "name" | "namespace">,
  poolId: string,
  said: string | undefined,
): string | undefined {
  if (parseGonePools(said).has(poolId)) return undefined;
  const wrong = `The annotation ${GONE_POOLS} is ${quote(said ?? "")}, without the ID of that pool. `;
  const command = `kubectl annotate vino ${name} --namespace=${namespace} --overwrite ${GONE_POOLS}=${poolId}`;
  const what =
    "If that pool is gone for good with all its machines, say so, and Landfall forgets them";
  return `${said === undefined ? "" : wrong}${what}: ${command}`;
}

/** Says of the pools that a person named why they have no effect; sentences without a full stop. */
export function describeIdlePools(
  said: string | undefined,
  pools: readonly MachinePool[],
  machines: readonly VinoMachine[],
): string[] {
  // As long as a machine may be in a lost pool, its own message says what to write.
  if (said === undefined || machines.some(({ status }) => status?.state === "Unknown")) return [];
  const annotation = `the annotation ${GONE_POOLS}`;
  const shown = pools.filter(({ isComplete }) => isComplete);
  return [...parseGonePools(said)].map((value) => {
    const pool = shown.find(({ id, name }) => id === value || name === value);
    return pool === undefined
      ? `No machine of this Vino is in a lost pool ${quote(value)}: remove ${annotation}`
      : `The cloud shows pool ${pool.name}, so it is not gone: remove ${annotation}`;
  });
}
