/**
 * Waiting for shared work, where each caller has its own signal.
 * @module
 */

/**
 * Settles as `promise` does, or rejects with `signal.reason` as soon as the signal aborts.
 * The work behind the promise continues: it belongs to the code that started it.
 *
 * @param promise Work that several callers share
 * @param signal Ends this caller's wait only
 */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    // This caller no longer waits; a failure concerns the others.
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
