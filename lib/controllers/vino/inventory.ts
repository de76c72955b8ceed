/**
 * What inventories of the cloud mean for Vinos: reasons to reconcile them, and the machines on the debug pages.
 * @module
 */
import type { Machines, MachinesView } from "../../cloud/capabilities/machines.ts";
import { CloudError } from "../../cloud/errors.ts";
import type { InventorySource } from "../../cloud/inventory/source.ts";
import { abortable } from "../../core/clock.ts";
import type { KeySource } from "../../engine/object_loop.ts";
import type { StoreReader } from "../../kube/cache/store.ts";
import type { Vino } from "./resource/vino.ts";

/**
 * Each inventory is a reason to reconcile all Vinos, even if no VM differs: hosts get tags, and pools come and go. A
 * reconcile that finds nothing to do reads only memory. VMs that were read one by one are a reason, too.
 */
export function fromInventory(
  source: Pick<InventorySource, "current" | "subscribe">,
  vinoes: Pick<StoreReader<Vino>, "keys">,
): KeySource {
  return {
    subscribe: (listener) => {
      let atMs = source.current?.observedAtMs;
      return source.subscribe((changed) => {
        const isWhole = source.current?.observedAtMs !== atMs;
        atMs = source.current?.observedAtMs;
        if (isWhole || changed === "everything" || changed.size > 0) listener(vinoes.keys());
      });
    },
  };
}

/**
 * Waits for the first inventory, or its failure.
 *
 * @throws `signal.reason` when the signal aborts first
 */
export async function untilInventory(
  source: Pick<InventorySource, "current" | "lastError" | "subscribe">,
  signal: AbortSignal,
): Promise<void> {
  const hasAnswer = (): boolean => source.current !== undefined || source.lastError !== undefined;
  const answered = Promise.withResolvers<void>();
  const end = source.subscribe(() => {
    if (hasAnswer()) answered.resolve();
  });
  if (hasAnswer()) answered.resolve();
  await abortable(answered.promise, signal).finally(end);
}

/** What the last inventory shows of machines. Reads only memory. @returns `undefined` before the first inventory */
export async function readLastView(
  machines: Pick<Machines, "observe">,
  signal: AbortSignal,
): Promise<MachinesView | undefined> {
  try {
    return await machines.observe({ isForChange: false }, signal);
  } catch (error) {
    if (error instanceof CloudError) return undefined;
    throw error;
  }
}
