/**
 * What can be wrong with a secret as an operator writes it: tokens, keys. Never repeats it.
 * @module
 */

/** Says what is wrong with a secret that goes into a header, a cookie or a URL; `undefined` if nothing is. */
export function explainSecret(text: string): string | undefined {
  const secret = text.trim();
  if (secret === "") return "is blank";
  if (/[^\p{ASCII}]/u.test(secret)) return "holds a character that is not ASCII: copy it again";
  if (/[\0-\x20\x7f]/.test(secret)) return "holds a blank, a line break or a control character";
  return undefined;
}

/**
 * Says what the operator probably meant instead of this secret; `undefined` if it looks like one.
 *
 * @param what Name of the secret, with its article: `a token`
 * @param fileSetting Setting that names a file with the secret
 */
export function explainOddSecret(
  text: string,
  what: string,
  fileSetting: string,
): string | undefined {
  if (/^\.{0,2}\/[^/]/.test(text)) {
    return `looks like a path: name the file of ${what} in ${fileSetting}`;
  }
  return /^\$\{?\w+\}?$/.test(text) ? "looks like a variable that was not replaced" : undefined;
}
