/**
 * Texts of others as they can stand in a message, a log line or a terminal: anybody names machines, Nodes and files.
 * @module
 */

/** What moves the cursor, sets colours, turns the direction of writing or ends a line unseen; halves of characters. */
const INVISIBLE = /[\x7f-\x9f\p{Cf}\p{Cs}\u2028\u2029]/gu;
const SHOWN_LENGTH_MAX = 160;

/**
 * Escapes what JSON leaves as it is although it cannot be seen, as `\u202e`. What was JSON stays the same JSON.
 *
 * @param json A text in which every lower control character is escaped already
 */
export function escapeInvisible(json: string): string {
  return json.replaceAll(INVISIBLE, (character) =>
    // A character beyond the first 65,536 has two halves.
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** A text in double quotes, in one line and nothing in it unseen; of a long one the beginning and its length. */
export function quote(text: string): string {
  if (text.length <= SHOWN_LENGTH_MAX) return escapeInvisible(JSON.stringify(text));
  const shown = escapeInvisible(JSON.stringify(text.slice(0, SHOWN_LENGTH_MAX)));
  return `${shown.slice(0, -1)}…" (${text.length} characters)`;
}
