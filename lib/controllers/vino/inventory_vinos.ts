/**
 * Changes of the cloud, as reasons to reconcile Vinos.
 * @module
 */
import type { InventorySource } from "../../cloud/inventory/source.ts";
import type { KeySource } from "../../engine/key_sources.ts";
import type { Key, StoreReader } from "../../kube/cache/store.ts";
import type { Vino } from "./resource/vino.ts";

/** After how many inventories all Vinos are reconciled if single instances were read. */
const OWED = 2;

/**
 * Each inventory that differs is a reason to reconcile all Vinos: which machine is whose stands in its name, and a
 * reconcile that finds nothing to do reads only memory. A Vino of which more is known than the last inventory showed is
 * reconciled after the next one in any case. No Vino is reconciled before the first inventory, or its failure.
 *
 * Between two inventories, single instances may be read: then machines are only in the next inventory as they are now,
 * and it may not differ any more. So all Vinos are reconciled after it, and after one more: the next one may have been
 * asked for before the instances were read.
 */
export class InventoryVinos implements KeySource {
  readonly reader: NonNullable<KeySource["reader"]>;
  readonly #source: Pick<InventorySource, "current" | "lastError" | "subscribe">;
  readonly #vinoes: Pick<StoreReader<Vino>, "keys">;
  readonly #isAhead: (key: Key) => boolean;

  /** @param isAhead Whether more is known of a Vino than the last inventory showed */
  constructor(
    source: Pick<InventorySource, "current" | "lastError" | "subscribe">,
    vinoes: Pick<StoreReader<Vino>, "keys">,
    isAhead: (key: Key) => boolean,
  ) {
    this.#source = source;
    this.#vinoes = vinoes;
    this.#isAhead = isAhead;
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
    let owed = 0;
    return this.#source.subscribe((changed, hasRecovered) => {
      const before = atMs;
      atMs = this.#source.current?.observedAtMs;
      const isChange = changed === "everything" || changed.size > 0;
      const isWhole = atMs !== before;
      const isNews = hasRecovered || isChange || (isWhole && owed > 0);
      if (isWhole) owed = Math.max(0, owed - 1);
      else if (isChange) owed = OWED;
      const keys = [...this.#vinoes.keys()];
      listener(isNews ? keys : keys.filter((key) => this.#isAhead(key)));
    });
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
