/**
 * Checks the form of `url` and `token`. Messages never repeat the text, because it may contain a secret.
 * @module
 */
import { explainSecret } from "../../../cloud/settings/secret_file.ts";
import { trimSlashes } from "../../../core/net/trim_slashes.ts";
import { mustBe } from "../../../core/text/must_be.ts";

const API = "/rest/v0";

/** Returns origin and path of a URL, without slash or `/rest/v0` at the end; `undefined` if it is not valid. */
export function parseUrl(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || explainUrl(text) !== undefined) return undefined;
  // Operators copy the address of the REST API. Landfall adds its path itself.
  const path = trimSlashes(url.pathname);
  return url.origin + (path.endsWith(API) ? trimSlashes(path.slice(0, -API.length)) : path);
}

/** Says what is wrong with a URL; `undefined` if nothing is. */
export function explainUrl(text: string): string | undefined {
  const trimmed = text.trim();
  const scheme = /^(?:([a-z][a-z\d+.-]*):\/\/|https?:)/i.exec(trimmed);
  if (scheme === null) return "has no scheme: begin it with https://";
  const socket = scheme[1]?.toLowerCase();
  if (socket === "ws" || socket === "wss") {
    return `is the address of a WebSocket: write ${socket === "ws" ? "http" : "https"}:// instead of ${socket}://`;
  }
  const url = URL.parse(trimmed);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    return mustBe("an address, for example https://xoa.example.com");
  }
  // A secret in a URL would appear in messages.
  if (url.username !== "" || url.password !== "") {
    return "holds a user or password (before the @): write them into username and password";
  }
  const [, page] = /\/(v[56])(?:\/|$)/.exec(url.pathname) ?? [];
  if (page !== undefined) {
    return `is copied from the web interface: remove /${page} and everything after it`;
  }
  if (text.includes("?")) return "holds a query (from the ? on): remove it";
  if (text.includes("#")) return "holds a fragment (from the # on): remove it";
  return undefined;
}

/** Returns a token without spaces around it; `undefined` if it is not valid. */
export function parseToken(text: string): string | undefined {
  return explainToken(text) === undefined ? text.trim() : undefined;
}

/** Says what is wrong with a token, which must be valid in a cookie; `undefined` if nothing is. */
export function explainToken(text: string): string | undefined {
  const problem = explainSecret(text);
  if (problem !== undefined) return problem;
  const [wrong] = /[",;\\]/.exec(text) ?? [];
  return wrong === undefined ? undefined : `holds ${NAMES[wrong]}, which a token never does`;
}

const NAMES: Readonly<Record<string, string>> = {
  '"': "a quotation mark",
  ",": "a comma",
  ";": "a semicolon",
  "\\": "a backslash",
};
