/**
 * Finds the word that an operator probably meant.
 * @module
 */

/** A text longer than twice any word is not a misspelt word, and takes long to compare. */
const WRITTEN_LENGTH_MAX = 100;

/**
 * Finds the word closest to the written text, if it is close enough: at most a third of its letters differ, or it
 * starts with the text.
 *
 * @param written The text that was written
 * @param words The allowed words
 */
export function findClosest(written: string, words: readonly string[]): string | undefined {
  if (written.length > WRITTEN_LENGTH_MAX) return undefined;
  let closest: string | undefined;
  let least = Math.max(1, Math.floor(written.length / 3)) + 1;
  for (const word of words) {
    const distance = toEditDistance(written, word);
    // A word without any letter in common was not meant.
    if (distance < least && distance < word.length) [closest, least] = [word, distance];
  }
  if (closest !== undefined || written.length < 4) return closest;
  return words.find((word) => word.startsWith(written));
}

/** What follows a refusal of a text: `; did you mean check?`. Empty if no word is close enough. */
export function suggest(written: string, words: readonly string[]): string {
  const closest = findClosest(written, words);
  return closest === undefined ? "" : `; did you mean ${closest}?`;
}

/**
 * How many letters must be added, removed, replaced or swapped with their neighbour to get from one word to the other.
 */
function toEditDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  let above: number[] = [];
  for (let at = 1; at <= from.length; at += 1) {
    const before = above;
    above = row;
    row = [at];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (from[at - 1] === to[column - 1] ? 0 : 1);
      const isSwapped = from[at - 1] === to[column - 2] && from[at - 2] === to[column - 1];
      const swapped = isSwapped ? (before[column - 2] ?? Infinity) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, (above[column] ?? 0) + 1, (row[column - 1] ?? 0) + 1));
    }
  }
  return row[to.length] ?? 0;
}
