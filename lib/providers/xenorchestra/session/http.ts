/**
 * One exchange with Xen Orchestra over HTTP, and what its failures mean.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import { BodyError, ERROR_BYTES_MAX, readText } from "../../../core/net/body.ts";
import { findConnectionFault } from "../../../core/net/connection_fault.ts";
import {
  findErrorCode,
  formatHostPort,
  toConnectionProblem,
} from "../../../core/net/connection_problem.ts";
import { isLoopbackHost } from "../../../core/net/ip.ts";
import { shorten } from "../../../core/text/printable.ts";
import { listSecrets, redact } from "../../../core/text/redact.ts";
import { explainDates, NOT_YET_VALID_ADVICE } from "../../../core/net/server_certificate.ts";
import type { FetchTls } from "./tls.ts";

/** What is sent. */
export interface Request {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly tls: FetchTls;
  /** Must carry the deadline. */
  readonly signal: AbortSignal;
}

/** What came back. `json` is there exactly when the content type says JSON and the body is JSON. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly json?: { readonly value: unknown };
  /** A 404 that is the server's own page for an address that it has no route for: it does not know the collection. */
  readonly isUnknownRoute?: true;
  /** Where a redirect of the same origin leads. */
  readonly redirectUrl?: string;
  readonly retryAfterMs?: number;
  /** Names this very answer. Absent when what is sent as one is none. */
  readonly etag?: string;
}

const REDIRECTS_MAX = 3;
/** RFC 9110, 8.8.3. Anything else may mean something in a condition: `*` would match every answer. */
const ETAG = /^(?:W\/)?"[!#-~\u0080-\u00ff]*"$/;
/** The server takes 16 KiB of request head, of which the IDs in a filter take most. Its own have 40 characters. */
const ETAG_LENGTH_MAX = 128;
const RETRY_AFTER_MS_MAX = 300_000;
/** Longest answer, unpacked: 80,000 VMs. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024;
/** As much as is shown of what an answer says of itself, and of a question, which may hold an ID of any length. */
const SAID_CHARS_MAX = 200;
/** As much as is shown of a content type. */
const TYPE_CHARS_MAX = 100;
const JSON_TYPE = /^application\/json\b/i;
const HTML_TYPE = /^text\/html\b/i;
/** What the server's framework says of an address without a route. */
const UNKNOWN_ROUTE = /<pre>Cannot GET (\/rest\/v0\/[^<]*)<\/pre>/;

const UNTRUSTED = /CERT|TLS|VERIFY|ISSUER/;

/** What to do about a certificate out of its dates. */
export const DATES_ADVICE: Readonly<Record<"tlsExpired" | "tlsNotYetValid", string>> = {
  tlsExpired: "renew it, or put its authority's new one into caFile, and check the clocks",
  tlsNotYetValid: NOT_YET_VALID_ADVICE,
};

/**
 * Sends a request. Redirects of a GET are followed within the origin, at most three; those of a POST are handed back,
 * since following would turn it into a GET or send a password again unasked.
 *
 * @throws {CloudError} `protocol` for a redirect that leaves the origin or never ends
 * @throws what `fetch` throws, or the signal's reason
 */
export async function sendRequest(request: Request): Promise<Reply> {
  let { url } = request;
  for (let hop = 0; ; hop += 1) {
    const reply = await sendOnce({ ...request, url });
    if (reply.redirectUrl === undefined || request.method !== "GET") return reply;
    if (hop === REDIRECTS_MAX) {
      throw new CloudError("protocol", "Xen Orchestra redirects without end; check url");
    }
    url = reply.redirectUrl;
  }
}

/** The head of a reply that may go on for ever. */
export interface StreamReply {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfterMs?: number;
  /** There exactly when the status is 200 and the type is the wanted one. Whoever takes it must cancel it. */
  readonly body?: ReadableStream<Uint8Array>;
}

/**
 * Opens a stream. Redirects are not followed.
 *
 * @param type The content type that is wanted, and asked for
 * @throws what `fetch` throws, or the signal's reason
 */
export async function openStream(
  { url, headers, tls, signal }: Omit<Request, "method" | "body">,
  type: string,
): Promise<StreamReply> {
  const response = await send(url, {
    // What compresses may hold back what is said.
    headers: { ...headers, accept: type, "accept-encoding": "identity" },
    tls,
    signal,
    redirect: "manual",
    // Without this Bun ends a connection that is silent for some minutes.
    timeout: false,
  });
  const { status } = response;
  const contentType = response.headers.get("content-type") ?? "";
  const body = response.body ?? undefined;
  if (status === 200 && contentType.toLowerCase().startsWith(type) && body)
    return { status, contentType, body };
  await body?.cancel();
  const retryAfterMs = toRetryAfterMs(response.headers.get("retry-after"));
  return { status, contentType, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/**
 * `fetch`, which tells of a certificate out of its dates which they are. A proxy of the environment gets nothing that
 * is for our own machine, such as the end of a tunnel.
 */
async function send(
  url: string,
  init: BunFetchRequestInit & Pick<Request, "signal">,
): Promise<Response> {
  const direct = isLoopbackHost(new URL(url).hostname) ? { proxy: false as const } : {};
  try {
    return await fetch(url, { ...init, ...direct });
  } catch (error) {
    throw await explainDates(error, url, init.signal);
  }
}

async function sendOnce({ url, ...request }: Request): Promise<Reply> {
  const response = await send(url, { ...request, redirect: "manual" });
  const { status, headers } = response;
  const contentType = headers.get("content-type") ?? "";
  const redirectUrl = toRedirectUrl(response, url);
  const retryAfterMs = toRetryAfterMs(headers.get("retry-after"));
  const etag = toEtag(headers.get("etag") ?? "");
  const isJson = JSON_TYPE.test(contentType);
  const isPage = status === 404 && HTML_TYPE.test(contentType);
  // A body that nobody reads keeps its connection busy.
  if (!isJson && !isPage) await response.body?.cancel();
  const text = isJson || isPage ? await readReply(response, request.headers) : "";
  const json = isJson ? parseJson(text) : undefined;
  return {
    status,
    contentType,
    ...(json === undefined ? {} : { json }),
    ...(isPage && saysUnknownRoute(text, url) ? { isUnknownRoute: true } : {}),
    ...(redirectUrl === undefined ? {} : { redirectUrl }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(etag === undefined ? {} : { etag }),
  };
}

/** A refusal is only for people, and may repeat what it refuses. */
async function readReply(response: Response, sent: Request["headers"]): Promise<string> {
  if (response.status < 400) return await readText(response, { bytesMax: REPLY_BYTES_MAX });
  const text = await readText(response, { bytesMax: ERROR_BYTES_MAX, isCut: true });
  return redact(text, listSecrets(sent));
}

/** A proxy may have cut off the beginning of the path. */
function saysUnknownRoute(text: string, url: string): boolean {
  const path = UNKNOWN_ROUTE.exec(text)?.[1];
  return path !== undefined && new URL(url).pathname.endsWith(path);
}

function toRedirectUrl({ status, headers }: Response, from: string): string | undefined {
  const location = headers.get("location");
  if (![301, 302, 303, 307, 308].includes(status) || location === null) return undefined;
  const to = URL.parse(location, from);
  // The cookie goes with every request, and nobody else may have it.
  if (to === null || to.origin !== new URL(from).origin) {
    // That of an address without a host, such as `file:`, is the text "null".
    const where =
      to === null || to.origin === "null" ? "an address that cannot be used" : to.origin;
    throw new CloudError(
      "protocol",
      `Xen Orchestra redirects to ${where}, which is not followed; if that is where it is, change url`,
      { status },
    );
  }
  return to.href;
}

function toRetryAfterMs(header: string | null): number | undefined {
  if (header === null || !/^\d+$/.test(header)) return undefined;
  return Math.min(Number(header) * 1_000, RETRY_AFTER_MS_MAX);
}

function toEtag(header: string): string | undefined {
  return header.length <= ETAG_LENGTH_MAX && ETAG.test(header) ? header : undefined;
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Whether the server's certificate was not believed. Nothing was sent then. */
export function isUntrusted(error: unknown): boolean {
  return UNTRUSTED.test(findErrorCode(error));
}

/**
 * What a failed `fetch` means. A certificate that is not trusted needs a person; everything else may pass.
 *
 * @param url Where Xen Orchestra is; only host and port are shown
 */
export function toConnectionError(error: unknown, url: string): CloudError {
  if (error instanceof CloudError) return error;
  if (error instanceof BodyError) {
    const what = `Cannot read what Xen Orchestra sent from ${formatHostPort(url)}`;
    return new CloudError("protocol", `${what}: ${error.message}`, { cause: error });
  }
  const cause = toConnectionProblem(error);
  const isTrust = UNTRUSTED.test(cause.code);
  const fault = findConnectionFault(cause);
  const trust =
    fault === "tlsExpired" || fault === "tlsNotYetValid"
      ? DATES_ADVICE[fault]
      : "set caFile or certificateFingerprint";
  const advice = isTrust ? trust : "check url";
  return new CloudError(
    isTrust ? "protocol" : "unreachable",
    `Cannot reach Xen Orchestra at ${formatHostPort(url)}: ${cause.message}; ${advice}`,
    { cause },
  );
}

/** What a reply means that is not the wanted one, in words a person can act on. */
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
    const advice = "the user may not see this; give it the rights to read VMs, hosts and pools";
    return new CloudError("denied", `${answered}: ${advice}`, options);
  }
  if (status === 429 || said.startsWith("too fast authentication tries")) {
    return new CloudError("throttled", `${answered}: asked too often`, options);
  }
  if (status >= 500) return new CloudError("unreachable", `${answered}: try again later`, options);
  if (status === 400 && said.includes("authentication methods")) {
    const advice =
      "something between here and there, such as a proxy, adds an Authorization header";
    return new CloudError("protocol", `${answered}: ${advice}`, options);
  }
  if (reply.json === undefined && JSON_TYPE.test(reply.contentType)) {
    const advice = "something in between may have cut it off";
    return new CloudError("protocol", `${answered} with damaged JSON: ${advice}`, options);
  }
  if (reply.json === undefined) {
    const type = shorten(reply.contentType || "nothing", TYPE_CHARS_MAX);
    const advice = "something else answers at url, or Xen Orchestra is too old";
    const message = `${answered} with ${type} instead of JSON: ${findAdvice(reply) ?? advice}`;
    return new CloudError("protocol", message, options);
  }
  const advice = findAdvice(reply);
  const message = advice ? `${answered}: ${advice}` : `${answered}, which was not expected`;
  return new CloudError("protocol", message, options);
}

/** What to do about a 404 that is no answer. */
function findAdvice({ status, isUnknownRoute }: Reply): string | undefined {
  if (isUnknownRoute) return "it does not know this path; update Xen Orchestra to 5.112 or newer";
  if (status !== 404) return undefined;
  return "that names no object; check url, and that a proxy in between passes this path on";
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
