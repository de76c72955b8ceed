/**
 * Long lists in pieces, so that other work can run in between.
 * @module
 */
import { setImmediate } from "node:timers/promises";

/** Describing this many Nodes takes a few milliseconds. */
const PIECE_LENGTH = 50;

/**
 * Takes items from a list, a piece at a time. Thousands in one piece would delay probes and the renewal of the Lease.
 *
 * @param items Each may be created when it is taken
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
