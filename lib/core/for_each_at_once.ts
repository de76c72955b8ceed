/**
 * Work for many items, some of them at once.
 * @module
 */

/** What {@linkcode forEachAtOnce} needs. */
interface AtOnceOptions {
  /** How many items are worked on at once. */
  readonly atOnce: number;
  readonly signal: AbortSignal;
}

/**
 * Works on all items, in their order, a few at once. Ends when all work has ended. After the first error the signal of
 * the other work aborts, no more is started, and the error is thrown.
 */
export async function forEachAtOnce<T>(
  items: Iterable<T>,
  { atOnce, signal }: AtOnceOptions,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const left = [...items].values();
  const failed = new AbortController();
  const both = AbortSignal.any([signal, failed.signal]);
  const errors: unknown[] = [];
  const workOff = async (): Promise<void> => {
    for (const item of left) {
      if (both.aborted) return;
      await work(item, both);
    }
  };
  const stop = (error: unknown): void => {
    errors.push(error);
    failed.abort(error);
  };
  await Promise.all(Array.from({ length: atOnce }, () => workOff().catch(stop)));
  if (errors.length > 0) throw errors[0];
  signal.throwIfAborted();
}

/** As {@linkcode forEachAtOnce}. @returns What came of each item, in their order */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  options: AtOnceOptions,
  work: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  await forEachAtOnce(items.entries(), options, async ([at, item], signal) => {
    results[at] = await work(item, signal);
  });
  return results;
}
