/**
 * Keeps what was sent in confidence out of what others say: some servers repeat a request in their answer.
 * @module
 */

/** A shorter word may stand in any text by chance, and hides too little to be a secret. */
const LENGTH_MIN = 4;

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
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "(secret)"), text);
}
