/**
 * Waiting for work that others wait for too, each with a signal of its own.
 * @module
 */

/**
 * Settles as `promise` does, or rejects with `signal.reason` as soon as the signal aborts.
 * The work behind the promise goes on: it belongs to whoever started it.
 *
 * @param promise Work that several callers share
 * @param signal Ends this caller's wait only
 */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // Nobody listens to it here any more; its failure is for the others.
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
