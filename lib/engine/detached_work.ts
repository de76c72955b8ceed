/**
 * Lets work that takes long go on without a worker, so that other keys are not held up.
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { LeadershipLostError } from "../core/fence.ts";
import type { Key } from "../kube/cache/store.ts";
import type { ReconcileResult } from "./workers.ts";

/** Work on one key. */
export interface DetachedRun {
  /** Aborts when the work must end. */
  readonly signal: AbortSignal;
  /** Gives the worker back now, because the work is about to wait for other work. */
  detach(): void;
}

/** What {@linkcode DetachedWork} needs. */
interface DetachedWorkOptions {
  readonly clock: Clock;
  /** How long work may hold a worker, in milliseconds. */
  readonly sliceMs: number;
  /** How long detached work may go on after a stop, in milliseconds. */
  readonly graceMs: number;
  /** Adds a key to the queue: its work has ended, or it changed while the work ran. */
  readonly enqueue: (key: Key) => void;
}

/** Work that goes on, or has failed and was not reported yet. */
interface Entry {
  readonly ended: Promise<void>;
  readonly controller: AbortController;
  /** Whether the key was handed out again meanwhile. */
  isAskedAgain: boolean;
  failure?: { readonly error: unknown };
  isOver: boolean;
}

const PENDING: ReconcileResult = { isPending: true };

/**
 * Work by key, at most one for each.
 *
 * Work that ends within its slice is an ordinary reconcile. Longer work goes on, its worker is free, and the key is
 * added to the queue when it ends. The next reconcile of the key then throws its error, if it failed, so that the queue
 * counts it; otherwise that reconcile does new work, which sees everything that changed.
 */
export class DetachedWork {
  readonly #options: DetachedWorkOptions;
  readonly #entries = new Map<Key, Entry>();
  #stop: AbortSignal = new AbortController().signal;

  constructor(options: DetachedWorkOptions) {
    this.#options = options;
  }

  /** Whether work on a key goes on. */
  isRunning(key: Key): boolean {
    return this.#entries.get(key)?.isOver === false;
  }

  /**
   * Does work on a key for a worker.
   *
   * @param signal The signal of the reconcile; when it aborts, so does the work, if it was not detached
   */
  async run(
    key: Key,
    work: (run: DetachedRun) => Promise<ReconcileResult>,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const before = this.#entries.get(key);
    if (before !== undefined && !before.isOver) {
      before.isAskedAgain = true;
      return PENDING;
    }
    this.#entries.delete(key);
    if (before?.failure !== undefined) {
      // What changed since is tried at once; the failure counts all the same.
      if (before.isAskedAgain) this.#options.enqueue(key);
      throw before.failure.error;
    }
    return await this.#start(key, work, signal);
  }

  /** Waits until the signal aborts, then ends all detached work: after the grace, or at once without leadership. */
  async follow(signal: AbortSignal): Promise<void> {
    const { clock, graceMs } = this.#options;
    this.#stop = signal;
    await untilAborted(signal);
    const rest = new AbortController();
    const isLost = signal.reason instanceof LeadershipLostError;
    const entries = [...this.#entries.values()].filter(({ isOver }) => !isOver);
    const ended = Promise.all(entries.map((entry) => entry.ended));
    const grace = isLost ? Promise.resolve() : clock.sleep(graceMs, rest.signal);
    await Promise.race([ended, grace]).catch(() => undefined);
    for (const { controller } of entries) controller.abort(signal.reason);
    await Promise.race([ended, clock.sleep(OBEY_MS, rest.signal)]).catch(() => undefined);
    rest.abort();
  }

  async #start(
    key: Key,
    work: (run: DetachedRun) => Promise<ReconcileResult>,
    signal: AbortSignal,
  ): Promise<ReconcileResult> {
    const { clock, sliceMs, enqueue } = this.#options;
    const controller = new AbortController();
    const released = Promise.withResolvers<ReconcileResult>();
    const slice = new AbortController();
    const obey = (): void => controller.abort(signal.reason);
    let isDetached = false;
    const detach = (): void => {
      isDetached = true;
      signal.removeEventListener("abort", obey);
      slice.abort();
      released.resolve(PENDING);
    };
    if (signal.aborted) obey();
    else signal.addEventListener("abort", obey, { once: true });
    const done = work({ signal: controller.signal, detach });
    const end = (failure?: Entry["failure"]): void => {
      entry.isOver = true;
      if (failure) entry.failure = failure;
      signal.removeEventListener("abort", obey);
      slice.abort();
      // Only a failure waits to be reported. The key may be gone for good, so nothing would remove it later.
      if (!isDetached || failure === undefined) this.#entries.delete(key);
      if (isDetached && !this.#stop.aborted) enqueue(key);
    };
    const ended = done.then(
      () => end(),
      (error: unknown) => end({ error }),
    );
    const entry: Entry = { ended, controller, isAskedAgain: false, isOver: false };
    this.#entries.set(key, entry);
    clock.sleep(sliceMs, slice.signal).then(detach, () => undefined);
    return await Promise.race([ended.then(() => done), released.promise]);
  }
}

/** How long work may take to obey its signal. */
const OBEY_MS = 1_000;

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
}
