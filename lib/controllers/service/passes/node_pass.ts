/**
 * Has all load balancers reconciled once after a burst of changes of Nodes, and measures how long that takes.
 * @module
 */
import { type Clock, Sleeper } from "../../../core/clock.ts";
import type { Key } from "../../../kube/cache/store.ts";
import type { ServiceMetrics } from "../metrics.ts";

/** What a {@linkcode NodePass} needs. */
interface NodePassOptions {
  readonly clock: Clock;
  readonly metrics: Pick<ServiceMetrics, "countNodeFailure" | "noteHostUpdate" | "noteNodePass">;
  /** The load balancers whose Nodes are not those of the cluster now. */
  readonly listOutdated: () => Iterable<Key>;
  readonly enqueue: (key: Key) => void;
}

/** How long to collect changes: Nodes come and go in groups. */
const BURST_MS = 1_000;

/**
 * Starts passes. A pass only says which load balancers to reconcile. Each reads the Nodes when it is planned, so no
 * pass can undo a newer one.
 */
export class NodePass {
  readonly #options: NodePassOptions;
  readonly #sleeper: Sleeper;
  #isDue = false;
  #startedMs = 0;
  readonly #left = new Set<Key>();

  constructor(options: NodePassOptions) {
    this.#options = options;
    this.#sleeper = new Sleeper(options.clock);
  }

  /** Starts a pass soon. */
  request(): void {
    this.#isDue = true;
    this.#sleeper.wake();
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      if (!this.#isDue) await this.#sleeper.sleep(Infinity, signal);
      await clock.sleep(BURST_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      this.#isDue = false;
      this.#start();
    }
  }

  /** Notes that a load balancer was reconciled. */
  noteEnd(key: Key, isOk: boolean): void {
    if (!this.#left.delete(key)) return;
    const { clock, metrics } = this.#options;
    const ms = clock.monotonic() - this.#startedMs;
    if (isOk) metrics.noteHostUpdate(ms);
    else metrics.countNodeFailure();
    if (this.#left.size === 0) metrics.noteNodePass(ms);
  }

  #start(): void {
    const { clock, listOutdated, enqueue } = this.#options;
    // Load balancers that still lack the Nodes of the last pass count from its start.
    if (this.#left.size === 0) this.#startedMs = clock.monotonic();
    for (const key of listOutdated()) {
      this.#left.add(key);
      enqueue(key);
    }
  }
}
