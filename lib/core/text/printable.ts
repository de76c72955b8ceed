/**
 * Makes external texts safe for a message, a log line or a terminal. Clients choose names of machines, Nodes and files;
 * servers repeat secrets of a request in their answer; and operators write secrets on the wrong line.
 * @module
 */

/** Characters that move the cursor, set colours, change the direction of writing or end a line; half characters. */
const INVISIBLE = /[\x7f-\x9f\p{Cf}\p{Cs}\u2028\u2029]/gu;
const SHOWN_LENGTH_MAX = 160;
/** Most texts match, and the full check costs several times as much. */
const PLAIN_WORD = /^[!-~]*$/;
const PLAIN_SENTENCE = /^[ -~]*$/;
const LOWER_CONTROL = /\p{Cc}/gu;

/**
 * Escapes invisible characters that JSON leaves as they are, as `\u202e`. The meaning of the JSON does not change.
 *
 * @param json A text with every lower control character escaped already
 */
export function escapeInvisible(json: string): string {
  return json.replaceAll(INVISIBLE, toEscape);
}

/** A message in one line for people, who may read it in a terminal: invisible characters are shown as `\u202e`. */
export function toMessage(text: string): string {
  return PLAIN_SENTENCE.test(text)
    ? text
    : escapeInvisible(text.replaceAll(LOWER_CONTROL, toEscape));
}

/** A text in double quotes, in one line, without invisible characters; for a long one its beginning and length. */
export function quote(text: string): string {
  if (text.length <= SHOWN_LENGTH_MAX) return escapeInvisible(JSON.stringify(text));
  const shown = escapeInvisible(JSON.stringify(text.slice(0, SHOWN_LENGTH_MAX)));
  return `${shown.slice(0, -1)}…" (${text.length} characters)`;
}

/** Joins the first texts by semicolons, and says how many more there are. */
export function joinFew(texts: readonly string[], max: number): string {
  const more = texts.length - max;
  return [...texts.slice(0, max), ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

/** A text of at most so many characters; a longer one ends in an ellipsis. */
export function shorten(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1).toWellFormed()}…`;
}

/**
 * A text in one line that is safe to show in a terminal: white space becomes one blank, and characters that move the
 * cursor, set colours or change the direction of writing become `?`.
 */
export function toPlainText(text: string): string {
  if (PLAIN_WORD.test(text)) return text;
  return text.replaceAll(/\s+/g, " ").replaceAll(/[\p{Cc}\p{Cf}]/gu, "?");
}

function toEscape(character: string): string {
  // A character beyond the first 65,536 has two halves.
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}

/** A text of this length may be a token or a key in base64; names, paths and addresses are rarely so long. */
export const SECRET_LENGTH_MIN = 32;

/** A shorter word may be in any text by chance, and is too short to be a secret. */
const KNOWN_SECRET_LENGTH_MIN = 4;

/**
 * The secrets in the headers of a request: a token, the value of a cookie, a password.
 *
 * @param headers By names in lower case
 */
export function listSecrets(
  headers: Readonly<Record<string, string | readonly string[]>>,
): string[] {
  const authorization = String(headers["authorization"] ?? "");
  const cookie = String(headers["cookie"] ?? "");
  const shown = authorization.replace(/^\w+\s+/, "");
  const secrets = [shown];
  if (/^basic\s/i.test(authorization)) {
    const [, password = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(shown, "base64").toString()) ?? [];
    secrets.push(password);
  }
  for (const pair of cookie.split(";")) secrets.push(pair.slice(pair.indexOf("=") + 1).trim());
  return secrets.filter((secret) => secret.length >= KNOWN_SECRET_LENGTH_MIN);
}

/** A text without these secrets. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "(secret)"), text);
}

/** Whether a text looks like a path. Other texts are never repeated: operators may write the secret itself there. */
export function isPathLike(text: string): boolean {
  return /^(\.{0,2}|~)\//.test(text) || (text.length < SECRET_LENGTH_MIN && /[./]/.test(text));
}
