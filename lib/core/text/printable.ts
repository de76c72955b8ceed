/**
 * Texts of others as they can stand in a message, a log line or a terminal: anybody names machines, Nodes and files.
 * @module
 */

/** What moves the cursor, sets colours, turns the direction of writing or ends a line unseen; halves of characters. */
const INVISIBLE = /[\x7f-\x9f\p{Cf}\p{Cs}\u2028\u2029]/gu;
const SHOWN_LENGTH_MAX = 160;
/** Most texts are such, and what comes after costs several times as much. */
const PLAIN_WORD = /^[!-~]*$/;

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

/** A text of at most so many characters; what is longer ends in an ellipsis. */
export function shorten(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`;
}

/**
 * A text in one line that is safe to show in a terminal: white space becomes one blank, and what moves the cursor, sets
 * colours or turns the direction of writing becomes `?`.
 */
export function toPlainText(text: string): string {
  if (PLAIN_WORD.test(text)) return text;
  return text.replaceAll(/\s+/g, " ").replaceAll(/[\p{Cc}\p{Cf}]/gu, "?");
}
