/**
 * Explains unexpected replies of Xen Orchestra.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import { isJsonType, type Reply } from "../../../cloud_http/client.ts";
import { shorten } from "../../../core/text/printable.ts";

/**
 * Maximum number of characters to show of an answer's text, and of a request, which may contain an ID of any length.
 */
const SAID_CHARS_MAX = 200;
/** Maximum number of characters to show of a content type. */
const TYPE_CHARS_MAX = 100;
/** The page of the server's framework for a path without a route. */
const UNKNOWN_ROUTE = /<pre>Cannot GET (\/rest\/v0\/[^<]*)<\/pre>/;

/**
 * Whether a 404 is the server's own page for a path without a route, so that it does not have the collection. A proxy
 * may have removed the beginning of the path.
 */
export function isUnknownRoute({ page }: Reply): boolean {
  const path = UNKNOWN_ROUTE.exec(page?.text ?? "")?.[1];
  return page !== undefined && path !== undefined && new URL(page.url).pathname.endsWith(path);
}

/** Explains an unexpected reply and what an operator can do. @param what The request, in words */
export function toReplyError(reply: Reply, what: string): CloudError {
  const { status, retryAfterMs } = reply;
  const said = findErrorText(reply);
  const question = shorten(what, SAID_CHARS_MAX);
  const answered = `Xen Orchestra answered ${status}${said === "" ? "" : ` (${said})`} to ${question}`;
  const options = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (status === 401) {
    const advice =
      "the token is wrong or expired; check token or tokenFile, or username and password";
    return new CloudError("denied", `Xen Orchestra answered 401: ${advice}`, options);
  }
  if (status === 403) {
    const advice =
      "the user has no right to read this; give it the rights to read VMs, hosts and pools";
    return new CloudError("denied", `${answered}: ${advice}`, options);
  }
  if (status === 429 || said.startsWith("too fast authentication tries")) {
    return new CloudError("throttled", `${answered}: too many requests`, options);
  }
  if (status >= 500) return new CloudError("unreachable", `${answered}: try again later`, options);
  if (status === 400 && said.includes("authentication methods")) {
    const advice = "a proxy or another program in between adds an Authorization header";
    return new CloudError("protocol", `${answered}: ${advice}`, options);
  }
  if (reply.json === undefined && isJsonType(reply.contentType)) {
    const advice = "a proxy or another program in between may have cut it off";
    return new CloudError("protocol", `${answered} with damaged JSON: ${advice}`, options);
  }
  if (reply.json === undefined) {
    const type = shorten(reply.contentType || "nothing", TYPE_CHARS_MAX);
    const advice = "another server answers at url, or Xen Orchestra is too old";
    const message = `${answered} with ${type} instead of JSON: ${findAdvice(reply) ?? advice}`;
    return new CloudError("protocol", message, options);
  }
  const advice = findAdvice(reply);
  const message = advice ? `${answered}: ${advice}` : `${answered}, which Landfall did not expect`;
  return new CloudError("protocol", message, options);
}

/** Says what to do about a 404 that does not come from the API. */
function findAdvice(reply: Reply): string | undefined {
  if (isUnknownRoute(reply))
    return "it does not know this path; update Xen Orchestra to 5.112 or newer";
  if (reply.status !== 404) return undefined;
  return "the answer names no object; check url, and check that a proxy in between forwards this path";
}

/** Finds the text of `error`, which may also be an object by parameter. */
function findErrorText({ json }: Reply): string {
  const body = json?.value;
  if (typeof body !== "object" || body === null || !("error" in body)) return "";
  const { error } = body;
  if (typeof error === "string") return shorten(error, SAID_CHARS_MAX);
  const names = typeof error === "object" && error !== null ? Object.keys(error) : [];
  return shorten(names.join(", "), SAID_CHARS_MAX);
}
