/**
 * What an unexpected reply of Xen Orchestra means.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import { isJsonType, type Reply } from "../../../cloud_http/http.ts";
import { shorten } from "../../../core/text/printable.ts";

/** How much to show of the text of an answer, and of a question, which may hold an ID of any length. */
const SAID_CHARS_MAX = 200;
/** How much to show of a content type. */
const TYPE_CHARS_MAX = 100;
/** What the server's framework answers for an address without a route. */
const UNKNOWN_ROUTE = /<pre>Cannot GET (\/rest\/v0\/[^<]*)<\/pre>/;

/**
 * Whether a 404 is the server's own page for an address that it has no route for: it does not know the collection.
 * A proxy may have cut off the beginning of the path.
 */
export function isUnknownRoute({ page }: Reply): boolean {
  const path = UNKNOWN_ROUTE.exec(page?.text ?? "")?.[1];
  return page !== undefined && path !== undefined && new URL(page.url).pathname.endsWith(path);
}

/** Says what an unexpected reply means, in words that an operator can act on. */
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
    const advice = "something on the way, such as a proxy, adds an Authorization header";
    return new CloudError("protocol", `${answered}: ${advice}`, options);
  }
  if (reply.json === undefined && isJsonType(reply.contentType)) {
    const advice = "something on the way may have cut it off";
    return new CloudError("protocol", `${answered} with damaged JSON: ${advice}`, options);
  }
  if (reply.json === undefined) {
    const type = shorten(reply.contentType || "nothing", TYPE_CHARS_MAX);
    const advice = "another server answers at url, or Xen Orchestra is too old";
    const message = `${answered} with ${type} instead of JSON: ${findAdvice(reply) ?? advice}`;
    return new CloudError("protocol", message, options);
  }
  const advice = findAdvice(reply);
  const message = advice ? `${answered}: ${advice}` : `${answered}, which was not expected`;
  return new CloudError("protocol", message, options);
}

/** What to do about a 404 that does not come from the API. */
function findAdvice(reply: Reply): string | undefined {
  if (isUnknownRoute(reply))
    return "it does not know this path; update Xen Orchestra to 5.112 or newer";
  if (reply.status !== 404) return undefined;
  return "the answer names no object; check url, and that a proxy on the way forwards this path";
}

/** `error` is text, or an object by parameter. */
function findErrorText({ json }: Reply): string {
  const body = json?.value;
  if (typeof body !== "object" || body === null || !("error" in body)) return "";
  const { error } = body;
  if (typeof error === "string") return shorten(error, SAID_CHARS_MAX);
  const names = typeof error === "object" && error !== null ? Object.keys(error) : [];
  return shorten(names.join(", "), SAID_CHARS_MAX);
}
