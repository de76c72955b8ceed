/**
 * Sends one HTTP request and reads its reply, with limits.
 * @module
 */
import { CloudError } from "../cloud/errors.ts";
import { BUDGET } from "../core/budget.ts";
import {
  BodyGroup,
  type HttpRequest,
  parseReply,
  parseRetryAfter,
  readRefusal,
  readText,
  sendHttp,
} from "../core/http/request.ts";
import type { ServerNames } from "./server.ts";

/** A request. */
export interface Request extends HttpRequest {
  readonly url: string;
  /** Whether a content type promises JSON. @default {isJsonType} */
  readonly isJson?: (contentType: string) => boolean;
  /** Whether the caller has read this JSON of a success before: it is not parsed again. @default {no} */
  readonly isKnown?: (text: string) => boolean;
}

/** A reply. `json` is present exactly when the content type says JSON, the body is valid JSON, and it is not known. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly json?: { readonly value: unknown };
  /** Whether the caller has read this answer before, by {@linkcode Request.isKnown}. */
  readonly isKnown?: true;
  /** The HTML of a 404 and its URL: it may show whether the server knows the path. */
  readonly page?: { readonly text: string; readonly url: string };
  /** Target of a redirect within the same origin. */
  readonly redirectUrl?: string;
  readonly retryAfterMs?: number;
  /** The server's own time, in wall-clock milliseconds, to the second. Absent when the header is not valid. */
  readonly serverTimeMs?: number;
  /** ETag of this answer. Absent if the header is missing or not valid. */
  readonly etag?: string;
}

const REDIRECTS_MAX = 3;
/** RFC 9110, 8.8.3. Other texts have another meaning in a condition: `*` would match every answer. */
const ETAG = /^(?:W\/)?"[!#-~\u0080-\u00ff]*"$/;
/** Most servers accept request headers of 8 or 16 KiB, and the query may need most of that. */
const ETAG_LENGTH_MAX = 128;
/** All clouds share what the process may hold of their replies. */
const REPLIES = new BodyGroup(BUDGET.replies);
const JSON_TYPE = /^application\/json\b/i;
const HTML_TYPE = /^text\/html\b/i;

/** Whether a content type promises JSON. */
export function isJsonType(contentType: string): boolean {
  return JSON_TYPE.test(contentType);
}

/**
 * Sends a request. Follows at most three redirects of a GET, within the origin. Returns those of other requests: to
 * follow one would turn it into a GET, or send a password again.
 *
 * @throws {CloudError} `protocol` for a redirect that leaves the origin or never ends
 * @throws any error of `fetch`, or the signal's reason
 */
export async function sendRequest(request: Request, names: ServerNames): Promise<Reply> {
  let { url } = request;
  for (let hop = 0; ; hop += 1) {
    const reply = await sendOnce({ ...request, url }, names);
    if (reply.redirectUrl === undefined || request.method !== "GET") return reply;
    if (hop === REDIRECTS_MAX) {
      const message = `${names.server} redirects too often; check ${names.url}`;
      throw new CloudError("protocol", message);
    }
    url = reply.redirectUrl;
  }
}

/** The reply of a stream, whose body may never end. */
export interface StreamReply {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfterMs?: number;
  /** Present exactly when the status is 200 and the type is the expected one. The caller must cancel it. */
  readonly body?: ReadableStream<Uint8Array>;
}

/**
 * Opens a stream. Does not follow redirects.
 *
 * @param type The content type to request and expect
 * @throws any error of `fetch`, or the signal's reason
 */
export async function openStream(
  { url, headers, tls, signal }: Omit<Request, "method" | "body">,
  type: string,
): Promise<StreamReply> {
  // A proxy that compresses may delay events.
  const all = { ...headers, accept: type, "accept-encoding": "identity" };
  const response = await sendHttp(url, { method: "GET", headers: all, tls, signal });
  const { status } = response;
  const contentType = response.headers.get("content-type") ?? "";
  const body = response.body ?? undefined;
  if (status === 200 && contentType.toLowerCase().startsWith(type) && body)
    return { status, contentType, body };
  await body?.cancel();
  const { retryAfterMs } = readTimes(response.headers);
  return { status, contentType, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

async function sendOnce(
  { url, isJson: promisesJson = isJsonType, isKnown: knows, ...request }: Request,
  names: ServerNames,
): Promise<Reply> {
  const response = await sendHttp(url, request);
  const { status, headers } = response;
  const contentType = headers.get("content-type") ?? "";
  const redirectUrl = toRedirectUrl(response, url, names);
  const { retryAfterMs, serverTimeMs } = readTimes(headers);
  const etag = toEtag(headers.get("etag") ?? "");
  const isJson = promisesJson(contentType);
  const isPage = status === 404 && HTML_TYPE.test(contentType);
  // Without this, the unread body keeps its connection busy.
  if (!isJson && !isPage) await response.body?.cancel();
  const text = isJson || isPage ? await readReply(response, request.headers) : "";
  const isKnown = isJson && response.ok && knows?.(text) === true;
  const json = isJson && !isKnown ? parseJson(text) : undefined;
  return {
    status,
    contentType,
    ...(json === undefined ? {} : { json }),
    ...(isKnown ? { isKnown } : {}),
    ...(isPage ? { page: { text, url } } : {}),
    ...(redirectUrl === undefined ? {} : { redirectUrl }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(Number.isNaN(serverTimeMs) ? {} : { serverTimeMs }),
    ...(etag === undefined ? {} : { etag }),
  };
}

async function readReply(response: Response, sent: Request["headers"]): Promise<string> {
  return response.status < 400
    ? await readText(response, { bytesMax: BUDGET.reply, group: REPLIES })
    : await readRefusal(response, sent);
}

function toRedirectUrl(
  { status, headers }: Response,
  from: string,
  names: ServerNames,
): string | undefined {
  const location = headers.get("location");
  if (![301, 302, 303, 307, 308].includes(status) || location === null) return undefined;
  const to = URL.parse(location, from);
  // Every request contains the credentials. No other server may get them.
  if (to === null || to.origin !== new URL(from).origin) {
    // The origin of a URL without a host, such as `file:`, is the text "null".
    const where =
      to === null || to.origin === "null" ? "an address that Landfall cannot use" : to.origin;
    throw new CloudError(
      "protocol",
      `${names.server} redirects to ${where}, and Landfall does not follow; ` +
        `if that is the right address, change ${names.url}`,
      { status },
    );
  }
  return to.href;
}

/** The times in the head of a reply. A date to retry is a time of the server's clock, too. */
function readTimes(headers: Headers): { serverTimeMs: number; retryAfterMs: number | undefined } {
  const serverTimeMs = Date.parse(headers.get("date") ?? "");
  return {
    serverTimeMs,
    retryAfterMs: parseRetryAfter(headers.get("retry-after"), serverTimeMs),
  };
}

function toEtag(header: string): string | undefined {
  return header.length <= ETAG_LENGTH_MAX && ETAG.test(header) ? header : undefined;
}

function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: parseReply(text) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
