/**
 * Sends requests to one server of a cloud: which certificates it trusts there, which redirects it follows, how much
 * of a reply it reads, one retry where that is safe, deadlines, metrics, and what it says if there is no reply.
 * @module
 */
import type { X509Certificate } from "node:crypto";
import { CloudError } from "../cloud/errors.ts";
import { BUDGET } from "../core/budget.ts";
import { type Clock, isTimeout, startDeadline } from "../core/clock.ts";
import { findErrorCode } from "../core/errors.ts";
import {
  findConnectionFault,
  formatHostPort,
  isReset,
  NOT_YET_VALID_ADVICE,
  readServerCertificate,
  type TlsSettings,
  toConnectionProblem,
} from "../core/http/connection.ts";
import {
  BodyError,
  BodyGroup,
  type HttpRequest,
  parseReply,
  parseRetryAfter,
  readRefusal,
  readText,
  sendHttp,
} from "../core/http/request.ts";
import { type OpenSocket, openWebSocket } from "../core/http/web_socket.ts";
import type { Logger } from "../core/log.ts";
import type { Counter, Histogram, MetricsRegistry } from "../core/metrics.ts";
import { CaFile } from "./ca_file.ts";

/** The URL of a server, and the certificates to trust there. */
export interface Server {
  /** `http:` or `https:`, without a slash at the end. */
  readonly url: string;
  /** Whether Landfall accepts any certificate. Has no effect together with a fingerprint. */
  readonly insecure: boolean;
  /** File with the certificate authorities to trust instead of the system's. */
  readonly caFile?: string | undefined;
  /** SHA-256 of the only certificate to trust, as {@linkcode normalise} returns it. */
  readonly certificateFingerprint?: string | undefined;
}

/** Names of the server and its settings, for messages to operators. */
export interface ServerNames {
  /** The server itself, to begin a sentence. */
  readonly server: string;
  /** The process on the server; its log helps an operator. */
  readonly process: string;
  /** Name of the setting {@linkcode Server.url}. */
  readonly url: string;
  /** Name of the setting {@linkcode Server.caFile}. */
  readonly caFile: string;
  /** Name of the setting {@linkcode Server.certificateFingerprint}. */
  readonly certificateFingerprint: string;
}

/** What a {@linkcode CloudClient} needs. */
interface CloudClientDeps {
  readonly names: ServerNames;
  /** The cloud, as in `--cloud-provider`. */
  readonly provider: string;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A request, and the name under which metrics count it. */
export interface CloudRequest extends Omit<HttpRequest, "tls" | "signal"> {
  /** For metrics: `list_things`. */
  readonly operation: string;
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
  readonly json?: { readonly value: unknown } | undefined;
  /** Whether the caller has read this answer before, by {@linkcode CloudRequest.isKnown}. */
  readonly isKnown?: boolean;
  /** The HTML of a 404 and its URL: it may show whether the server knows the path. */
  readonly page?: { readonly text: string; readonly url: string } | undefined;
  /** Target of a redirect within the same origin. */
  readonly redirectUrl?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The server's own time, in wall-clock milliseconds, to the second. Absent when the header is not valid. */
  readonly serverTimeMs?: number | undefined;
  /** ETag of this answer. Absent if the header is missing or not valid. */
  readonly etag?: string | undefined;
}

/** The reply of a stream, whose body may never end. */
export interface StreamReply {
  readonly status: number;
  readonly contentType: string;
  readonly retryAfterMs?: number | undefined;
  /** Present exactly when the status is 200 and the type is the expected one. The caller must cancel it. */
  readonly body?: ReadableStream<Uint8Array>;
}

/**
 * Sends requests to one server, and returns every reply with any status. The caller adds credentials and reads the
 * answer.
 *
 * Guarantees: an error shows only host and port of a URL.
 */
export class CloudClient {
  readonly #url: string;
  readonly #deps: CloudClientDeps;
  readonly #trust: Trust;
  readonly #requests: Counter;
  readonly #durations: Histogram;

  /** @throws {ConfigError} when the file of authorities cannot be used */
  constructor(server: Server, deps: CloudClientDeps) {
    this.#url = server.url;
    this.#deps = deps;
    this.#trust = new Trust(server, deps);
    this.#requests = deps.metrics.counter({
      name: "landfall_cloud_requests_total",
      help: "Requests to the cloud, by operation and code (the HTTP status, or the error if there was no reply).",
    });
    this.#durations = deps.metrics.histogram({
      name: "landfall_cloud_request_duration_seconds",
      help: "How long requests to the cloud took, by operation.",
    });
  }

  /**
   * Sends a request. If the connection was closed, as idle connections often are, it sends a GET once more. It does not
   * repeat other requests, because the server may have received them.
   *
   * @param signal Must carry the deadline, see {@linkcode within}
   * @throws {CloudError} if there is no reply, or the signal aborted
   */
  async request({ operation, ...sent }: CloudRequest, signal: AbortSignal): Promise<Reply> {
    const send = (tls: TlsSettings): Promise<Reply> =>
      sendRequest({ ...sent, tls, signal }, this.#deps.names);
    try {
      return await this.#send(operation, send, signal);
    } catch (error) {
      const isBroken = error instanceof CloudError && isReset(error.cause);
      if (sent.method !== "GET" || signal.aborted || !isBroken) throw error;
    }
    return await this.#send(operation, send, signal);
  }

  /**
   * Opens a stream. Follows no redirect.
   *
   * @param request.type The expected content type
   * @param signal Also ends the stream
   * @throws {CloudError} if there is no reply, or the signal aborted
   */
  openStream(
    { operation, type, ...sent }: Omit<CloudRequest, "method" | "body"> & { readonly type: string },
    signal: AbortSignal,
  ): Promise<StreamReply> {
    const send = (tls: TlsSettings): Promise<StreamReply> =>
      openStream({ ...sent, tls, signal }, type);
    return this.#send(operation, send, signal);
  }

  /**
   * Opens a WebSocket. The caller closes it.
   *
   * @param signal Must carry the deadline; it also ends the open socket
   * @throws {CloudError} if it cannot be opened
   */
  openWebSocket(
    { operation, url }: Pick<CloudRequest, "operation" | "url">,
    signal: AbortSignal,
  ): Promise<OpenSocket> {
    const open = (tls: TlsSettings): Promise<OpenSocket> => openWebSocket({ url, tls, signal });
    return this.#send(operation, open, signal);
  }

  /**
   * Runs one or several requests with one deadline.
   *
   * @param timeoutMs Milliseconds for all requests
   * @param work Gets a signal that carries the deadline
   * @throws {CloudError} `unreachable` after the deadline
   * @throws what `work` throws, or the signal's reason
   */
  async within<T>(
    timeoutMs: number,
    signal: AbortSignal,
    work: (deadline: AbortSignal) => Promise<T>,
  ): Promise<T> {
    using started = startDeadline(signal, timeoutMs, this.#deps.clock);
    const deadline = started.signal;
    try {
      return await work(deadline);
    } catch (error) {
      signal.throwIfAborted();
      if (!deadline.aborted) throw error;
      const where = `${this.#deps.names.server} at ${formatHostPort(this.#url)}`;
      throw new CloudError("unreachable", `${where} did not answer within ${timeoutMs / 1_000} s`);
    }
  }

  /**
   * Sends a request. Sends it once more if Landfall did not trust the server, but finds new certificates in the file.
   *
   * @throws {CloudError} if there is no reply
   */
  async #send<T extends { readonly status: number }>(
    operation: string,
    send: (tls: TlsSettings) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const sendCounted = (tls: TlsSettings): Promise<T> =>
      this.#count(operation, signal, () => send(tls));
    try {
      const tls = await this.#trust.read(signal);
      try {
        return await sendCounted(tls);
      } catch (error) {
        if (signal.aborted || !isUntrusted(error)) throw error;
        if (!(await this.#trust.recheck(tls, signal))) throw error;
      }
      return await sendCounted(await this.#trust.read(signal));
    } catch (error) {
      throw toConnectionError(error, this.#url, this.#deps.names);
    }
  }

  /** Counts one request, and measures it. */
  async #count<T extends { readonly status: number }>(
    operation: string,
    signal: AbortSignal,
    send: () => Promise<T>,
  ): Promise<T> {
    const { clock, provider } = this.#deps;
    const startedMs = clock.monotonic();
    const count = (code: string): void => {
      this.#requests.inc({ provider, operation, code });
      this.#durations.observe((clock.monotonic() - startedMs) / 1_000, { provider, operation });
    };
    try {
      const reply = await send();
      count(String(reply.status));
      return reply;
    } catch (error) {
      const ended = isTimeout(signal.reason) ? "timeout" : "canceled";
      count(signal.aborted ? ended : findErrorCode(error) || "error");
      throw error;
    }
  }
}

/** A request as it is sent. */
type Sent = Omit<CloudRequest, "operation"> & Pick<HttpRequest, "tls" | "signal">;

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
async function sendRequest(request: Sent, names: ServerNames): Promise<Reply> {
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

/**
 * Opens a stream. Does not follow redirects.
 *
 * @param type The content type to request and expect
 * @throws any error of `fetch`, or the signal's reason
 */
async function openStream(
  { url, headers, tls, signal }: Pick<Sent, "url" | "headers" | "tls" | "signal">,
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
  return { status, contentType, retryAfterMs };
}

async function sendOnce(
  { url, isJson: promisesJson = isJsonType, isKnown: knows, ...request }: Sent,
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
    json,
    isKnown,
    page: isPage ? { text, url } : undefined,
    redirectUrl,
    retryAfterMs,
    serverTimeMs: Number.isNaN(serverTimeMs) ? undefined : serverTimeMs,
    etag,
  };
}

async function readReply(response: Response, sent: Sent["headers"]): Promise<string> {
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

/** Gives the current TLS settings for one server. */
class Trust {
  readonly #server: Server;
  readonly #names: ServerNames;
  readonly #caFile: CaFile | undefined;
  /** The TLS settings for the pinned certificate, and the authorities used to create them. */
  #pinned: { readonly ca: string | undefined; readonly tls: TlsSettings } | undefined;

  /** @throws {ConfigError} when the file of authorities cannot be used */
  constructor(server: Server, { names, clock, log }: CloudClientDeps) {
    this.#server = server;
    this.#names = names;
    this.#caFile =
      server.caFile === undefined
        ? undefined
        : new CaFile(server.caFile, { clock, log, setting: names.caFile });
  }

  /**
   * The TLS settings for the next request.
   *
   * With a pin and no authorities, this method fetches the server's certificate once and compares it. A self-signed
   * certificate (as appliances create for themselves, without any name) then becomes its own authority. `fetch` calls
   * `checkServerIdentity` only when it verifies, so a pin is never combined with `insecure`.
   *
   * @throws {CloudError} `protocol` for a certificate other than the pinned one, `unreachable` if the server shows none
   */
  async read(signal: AbortSignal): Promise<TlsSettings> {
    const { insecure, certificateFingerprint: pin, url } = this.#server;
    if (!url.startsWith("https:")) return {};
    if (pin === undefined && insecure) return { insecure: true };
    const ca = await this.#caFile?.read();
    if (pin === undefined) return ca === undefined ? {} : { ca };
    if (this.#pinned === undefined || this.#pinned.ca !== ca) {
      this.#pinned = { ca, tls: await this.#pin(pin, ca, signal) };
    }
    return this.#pinned.tls;
  }

  /**
   * Reads the certificates again after Landfall did not trust the server: its certificate and the file may be new.
   *
   * @param used The result of {@linkcode read} for the request that failed
   * @returns Whether `read` now returns other settings, so that a retry makes sense
   * @throws {CloudError} if the server now shows a certificate other than the pinned one, or none
   */
  async recheck(used: TlsSettings, signal: AbortSignal): Promise<boolean> {
    await this.#caFile?.reload();
    // If many requests fail together, only the first fetches the certificate again.
    if (this.#pinned?.tls === used) this.#pinned = undefined;
    return (await this.read(signal)).ca !== used.ca;
  }

  async #pin(pin: string, ca: string | undefined, signal: AbortSignal): Promise<TlsSettings> {
    const checkServerIdentity: TlsSettings["checkServerIdentity"] = (_host, { fingerprint256 }) =>
      normalise(fingerprint256) === pin ? undefined : this.#toMismatch(fingerprint256);
    if (ca !== undefined) return { ca, checkServerIdentity };
    const certificate = await this.#readCertificate(signal);
    if (normalise(certificate.fingerprint256) !== pin)
      throw this.#toMismatch(certificate.fingerprint256);
    const selfSigned = certificate.checkIssued(certificate);
    return selfSigned
      ? { ca: certificate.toString(), checkServerIdentity }
      : { checkServerIdentity };
  }

  #toMismatch(fingerprint: string): CloudError {
    return new CloudError(
      "protocol",
      `Cannot trust ${this.#names.server}: its certificate has the SHA-256 fingerprint ${fingerprint}, ` +
        `not the one in ${this.#names.certificateFingerprint}; ` +
        "if you replaced the certificate, change the setting",
    );
  }

  async #readCertificate(signal: AbortSignal): Promise<X509Certificate> {
    const { url } = this.#server;
    try {
      return await readServerCertificate(url, signal);
    } catch (error) {
      signal.throwIfAborted();
      const cause = toConnectionProblem(error);
      const what = `Cannot reach ${this.#names.server} at ${formatHostPort(url)} to read its certificate`;
      const message = `${what}: ${cause.message}; check ${this.#names.url}`;
      throw new CloudError("unreachable", message, { cause });
    }
  }
}

/** Returns a fingerprint in the form of {@linkcode Server.certificateFingerprint}: hexadecimal digits in lower case. */
export function normalise(fingerprint: string): string {
  return fingerprint.replaceAll(":", "").toLowerCase();
}

const UNTRUSTED = /CERT|TLS|VERIFY|ISSUER/;

/** Whether Landfall did not trust the server's certificate. It sent nothing in that case. */
function isUntrusted(error: unknown): boolean {
  return UNTRUSTED.test(findErrorCode(error));
}

/** Says what to do about a certificate that has expired or is not valid yet. */
export function adviseOnDates(
  fault: "tlsExpired" | "tlsNotYetValid",
  names: Pick<ServerNames, "caFile">,
): string {
  return fault === "tlsExpired"
    ? `renew it, or put the new certificate of its authority into ${names.caFile}, and check the clocks`
    : NOT_YET_VALID_ADVICE;
}

/**
 * Explains a failed `fetch`. An untrusted certificate needs an operator; other failures may pass.
 *
 * @param url URL of the server; the message shows only host and port
 */
export function toConnectionError(error: unknown, url: string, names: ServerNames): CloudError {
  if (error instanceof CloudError) return error;
  if (error instanceof BodyError) {
    const what = `Cannot read the answer of ${names.server} at ${formatHostPort(url)}`;
    return new CloudError("protocol", `${what}: ${error.message}`, { cause: error });
  }
  const cause = toConnectionProblem(error);
  const isTrust = isUntrusted(cause);
  const fault = findConnectionFault(cause);
  const trust =
    fault === "tlsExpired" || fault === "tlsNotYetValid"
      ? adviseOnDates(fault, names)
      : `set ${names.caFile} or ${names.certificateFingerprint}`;
  // The address was right a moment ago: servers close connections when they stop or start.
  const closed = `${names.process} may be starting, or a proxy in between closed it`;
  const other = fault === "closed" ? closed : `check ${names.url}`;
  const advice = isTrust ? trust : other;
  return new CloudError(
    isTrust ? "protocol" : "unreachable",
    `Cannot reach ${names.server} at ${formatHostPort(url)}: ${cause.message}; ${advice}`,
    { cause },
  );
}
