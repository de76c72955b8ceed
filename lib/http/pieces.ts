/**
 * Long lists in pieces: between two of them everything else has its turn.
 * @module
 */
import { setImmediate } from "node:timers/promises";

/** So many Nodes are described within a few milliseconds. */
const PIECE_LENGTH = 50;

/**
 * Takes items from a list, a piece at a time. Thousands in one piece would hold up probes and the renewal of the Lease.
 *
 * @param items Each is made, if it is made at all, when it is taken
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
