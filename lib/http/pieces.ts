/**
 * Long lists in pieces, so that other work can run in between.
 * @module
 */
import { setImmediate } from "node:timers/promises";

/** Describing this many Nodes takes a few milliseconds. */
const PIECE_LENGTH = 50;

/**
 * Reads a list in pieces. Thousands of items in one piece would delay probes and the renewal of the Lease.
 *
 * @param items The list may create each item when it is read
 */
export async function* inPieces<T>(items: Iterable<T>): AsyncGenerator<readonly T[], void> {
  let piece: T[] = [];
  for (const item of items) {
    piece.push(item);
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = [];
    await setImmediate();
  }
  if (piece.length > 0) yield piece;
}
