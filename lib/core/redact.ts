/**
 * Keeps secrets out of messages: those that were sent in confidence, for some servers repeat a request in their answer,
 * and those that people write on the wrong line.
 * @module
 */

/** What is as long may be a token, or a key in base64; names, paths and addresses rarely are. */
export const SECRET_LENGTH_MIN = 32;

/** A shorter word may stand in any text by chance, and hides too little to be a secret. */
const LENGTH_MIN = 4;
const MASK = "(secret)";

/**
 * The secrets in the headers of a request: a token, the value of a cookie, a password.
 *
 * @param headers By names in lower case
 */
export function listSecrets(headers: Readonly<Record<string, string>>): string[] {
  const { authorization = "", cookie = "" } = headers;
  const shown = authorization.replace(/^\w+\s+/, "");
  const secrets = [shown];
  if (/^basic\s/i.test(authorization)) {
    const [, password = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(shown, "base64").toString()) ?? [];
    secrets.push(password);
  }
  for (const pair of cookie.split(";")) secrets.push(pair.slice(pair.indexOf("=") + 1).trim());
  return secrets.filter((secret) => secret.length >= LENGTH_MIN);
}

/** A text without these secrets. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, MASK), text);
}

/** What is named so is a secret. */
export const SECRET_NAME: RegExp =
  /token|password|passwd|secret|authorization|cookie|(?:private|access|api).?key|credential/i;

const PEM = /-----BEGIN [^-]+-----[^-]*(-----END [^-]+-----)?/g;
const IN_ADDRESS = /(?<=:\/\/)[^\s/@]+(?=@)/g;
/** A scheme of HTTP is a name, too, and may stand between another and its value. */
const NAMED = new RegExp(
  `((?:${SECRET_NAME.source}|bearer|basic)\\w*["']?(?:\\s*[:=]\\s*|\\s+)["']?` +
    `(?:(?:bearer|basic)\\s+)?)([^\\s"',;]+)`,
  "gi",
);
const WORD = /[\w+/.~%=-]{20,}/g;

/**
 * A text of a stranger without what looks like a secret: what follows a name such as `token`, and words with digits
 * that are as long as a key. It rather hides too much.
 */
export function maskSecrets(text: string): string {
  return text
    .replaceAll(PEM, MASK)
    .replaceAll(IN_ADDRESS, MASK)
    .replaceAll(NAMED, (all, name, value) => (value.endsWith(":") ? all : `${name}${MASK}`))
    .replaceAll(WORD, (word) => (isKeyLike(word) ? MASK : word));
}

/** A path is none, unless a part of it is. */
function isKeyLike(word: string): boolean {
  return /\d/.test(word) && (!/^(\.{0,2}|~)\//.test(word) || /[^/.]{32,}/.test(word));
}

/** Whether a text is a path at first sight. What is not is never repeated: people write the secret itself there. */
export function isPathLike(text: string): boolean {
  return /^(\.{0,2}|~)\//.test(text) || (text.length < SECRET_LENGTH_MIN && /[./]/.test(text));
}
