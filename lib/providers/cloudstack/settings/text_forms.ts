/**
 * The forms of the API's address and of keys, and what is wrong with one. Never repeats it: either may hold a secret.
 * @module
 */
import { explainSecret } from "../../../cloud/settings/secret_file.ts";
import { trimSlashes } from "../../../core/http/connection.ts";
import { mustBe } from "../../../core/text/values.ts";

/** The whole address without a slash at its end; `undefined` when it has another form. */
export function parseUrl(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || explainUrl(text) !== undefined) return undefined;
  return url.origin + trimSlashes(url.pathname);
}

/** What is wrong with an address; `undefined` when nothing is. */
export function explainUrl(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith("'")) return "begins with a single quote: use none, or double quotes";
  if (!/^(?:[a-z][a-z\d+.-]*:\/\/|https?:)/i.test(trimmed)) {
    return "has no scheme: begin it with https://";
  }
  const url = URL.parse(trimmed);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    return mustBe("an address, for example https://cloudstack.example.com/client/api");
  }
  if (url.username !== "" || url.password !== "") {
    return "holds a user or password (before the @): CloudStack takes only an API key and a secret key";
  }
  if (text.includes("?")) return "holds a query (from the ? on): remove it";
  if (text.includes("#")) {
    return "holds a fragment (from the # on), as in the address of the web page: remove it";
  }
  return undefined;
}

/** What is odd about the path of an address that can be used; `undefined` when nothing is. */
export function explainOddPath(url: string): string | undefined {
  return url.endsWith("/api")
    ? undefined
    : "does not end in /api; the address of the API usually ends in /client/api";
}

/** A key without blanks around it; `undefined` when it cannot be one. */
export function parseKey(text: string): string | undefined {
  return explainSecret(text) === undefined ? text.trim() : undefined;
}
