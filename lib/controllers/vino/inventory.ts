/**
 * What inventories of the cloud mean for Vinos: reasons to reconcile them, and the machines on the debug pages.
 * @module
 */
import type { Machines, MachinesView } from "../../cloud/capabilities/machines.ts";
import { CloudError } from "../../cloud/errors.ts";
import type { InventorySource } from "../../cloud/inventory/source.ts";
import type { KeySource } from "../../engine/key_sources.ts";
import type { Key, StoreReader } from "../../kube/cache/store.ts";
import type { Vino } from "./resource/vino.ts";

/**
 * Each inventory is a reason to reconcile all Vinos, even if no VM differs: hosts get tags, and pools come and go. A
 * reconcile that finds nothing to do reads only memory. VMs that were read one by one are a reason, too. No Vino is
 * reconciled before the first inventory, or its failure.
 */
export class InventoryKeySource implements KeySource {
  readonly reader: NonNullable<KeySource["reader"]>;
  readonly #source: Pick<InventorySource, "current" | "lastError" | "subscribe">;
  readonly #vinoes: Pick<StoreReader<Vino>, "keys">;

  constructor(
    source: Pick<InventorySource, "current" | "lastError" | "subscribe">,
    vinoes: Pick<StoreReader<Vino>, "keys">,
  ) {
    this.#source = source;
    this.#vinoes = vinoes;
    const hasAnswer = (): boolean => source.current !== undefined || source.lastError !== undefined;
    this.reader = {
      get synced() {
        return hasAnswer();
      },
      untilSynced: (signal) => untilAnswer(source, hasAnswer, signal),
    };
  }

  subscribe(listener: (keys: Iterable<Key>) => void): () => void {
    let atMs = this.#source.current?.observedAtMs;
    return this.#source.subscribe((changed) => {
      const isWhole = this.#source.current?.observedAtMs !== atMs;
      atMs = this.#source.current?.observedAtMs;
      if (isWhole || changed === "everything" || changed.size > 0) listener(this.#vinoes.keys());
    });
  }
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

async function untilAnswer(
  source: Pick<InventorySource, "subscribe">,
  hasAnswer: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted();
  if (hasAnswer()) return;
  await new Promise<void>((resolve, reject) => {
    const end = source.subscribe(() => {
      if (!hasAnswer()) return;
      leave();
      resolve();
    });
    const abort = (): void => {
      leave();
      reject(signal.reason);
    };
    const leave = (): void => {
      end();
      signal.removeEventListener("abort", abort);
    };
    signal.addEventListener("abort", abort, { once: true });
  });
}
