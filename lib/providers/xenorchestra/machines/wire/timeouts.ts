/**
 * How long changes may take.
 * @module
 */

/** Milliseconds for a change that Xen Orchestra carries out before it answers. */
export const CHANGE_MS = 30_000;
/** Milliseconds for what may need minutes of a storage: a start, a deletion, an upload. */
export const SLOW_MS = 120_000;
/** Milliseconds for a request that is only taken down. */
export const TAKEN_MS = 20_000;
