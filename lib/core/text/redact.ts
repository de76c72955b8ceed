/**
 * Keeps secrets out of messages: secrets of a request, because some servers repeat the request in their answer, and
 * secrets that operators write on the wrong line.
 * @module
 */

/** A text of this length may be a token or a key in base64; names, paths and addresses are rarely so long. */
export const SECRET_LENGTH_MIN = 32;

/** A shorter word may be in any text by chance, and is too short to be a secret. */
const LENGTH_MIN = 4;

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
  return secrets.filter((secret) => secret.length >= LENGTH_MIN);
}

/** A text without these secrets. */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "(secret)"), text);
}

/** Whether a text looks like a path. Other texts are never repeated: operators may write the secret itself there. */
export function isPathLike(text: string): boolean {
  return /^(\.{0,2}|~)\//.test(text) || (text.length < SECRET_LENGTH_MIN && /[./]/.test(text));
}
