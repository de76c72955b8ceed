/**
 * Sends authenticated requests to one Xen Orchestra as one user, with deadline, retry, limit and metrics.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import type { ProviderDeps } from "../../../cloud/provider_definition.ts";
import {
  CloudClient,
  type CloudRequest,
  type Reply,
  type ServerNames,
  type StreamReply,
} from "../../../cloud_http/client.ts";
import { toBackoffMs } from "../../../core/clock.ts";
import { Limiter } from "../../../core/concurrency.ts";
import type { Fence } from "../../../core/fence.ts";
import type { HttpRequest } from "../../../core/http/request.ts";
import type { XenOrchestraSettings } from "../settings.ts";
import { createFixedToken, FileToken, MintedToken, toBasic, type TokenSource } from "./tokens.ts";
import { toReplyError } from "./reply_error.ts";
import { type RpcCall, sendRpc } from "./rpc.ts";

/** A request. `path` follows `/rest/v0`. */
interface GetRequest {
  /** For metrics: `list_vms`. */
  readonly operation: string;
  readonly path: string;
  readonly isList: boolean;
  /** ETag of the answer that the caller has already. The reply is 304 if nothing changed. */
  readonly etag?: string | undefined;
  /** Whether a 401 is a normal reply to this request and says nothing about the token. */
  readonly allows401?: boolean;
}

/** A request that is not a GET. `path` follows `/rest/v0`. */
type Asked = Pick<GetRequest, "operation" | "path">;

/** A request that changes something. `path` follows `/rest/v0`. */
export interface ChangeRequest extends Asked {
  readonly method: "POST" | "PATCH" | "PUT" | "DELETE";
  /** Sent as JSON, or as it is. @default {no body} */
  readonly body?:
    | { readonly json: object }
    | { readonly bytes: Uint8Array<ArrayBuffer> }
    | { readonly stream: ReadableStream<Uint8Array>; readonly length: number }
    | undefined;
  /** Milliseconds for the whole request. */
  readonly timeoutMs: number;
  /** Whether {@linkcode timeoutMs} includes waiting for its turn, so that it is not sent later. @default {false} */
  readonly isPrompt?: boolean;
}

type Headers = CloudRequest["headers"];

/** A request with its credentials. */
interface Sent extends Asked, Pick<CloudRequest, "headers" | "method"> {
  readonly body?: ChangeRequest["body"];
}

/** Names of the server and its settings in messages. */
export const SERVER_NAMES: ServerNames = {
  server: "Xen Orchestra",
  process: "xo-server",
  url: "url",
  caFile: "caFile",
  certificateFingerprint: "certificateFingerprint",
};

/**
 * `max-age=0`: a cache in between must ask the server, because an answer must not be older than it claims. Not
 * `no-cache`: with it, Xen Orchestra (Express) ignores `if-none-match` and sends everything.
 */
const HEADERS = {
  accept: "application/json",
  "cache-control": "max-age=0",
  "user-agent": "landfall",
} as const;

/** Maximum number of requests at a time. The server has one thread, so more requests would only wait there. */
const CONCURRENCY_MAX = 8;
/** Maximum number of changes at a time, beside the reads: a start or an upload takes seconds. */
const CHANGES_MAX = 8;
/** How long a request may take, in milliseconds, unless it asks for a list or the settings say otherwise. */
const TIMEOUT_MS = 10_000;
const LIST_TIMEOUT_MS = 30_000;
/**
 * How long Landfall does not send a refused token again: at most half a refresh interval, which is shorter than the
 * time between refreshes during an outage.
 */
const DENIED_BACKOFF = { baseMs: 500, capMs: 30_000, jitter: 0 };

/** The connection to one Xen Orchestra. */
export class Session {
  /** In milliseconds. It limits how long a refused token is not sent again. */
  refreshIntervalMs: number;
  readonly #deps: ProviderDeps;
  readonly #settings: XenOrchestraSettings;
  readonly #client: CloudClient;
  readonly #tokens: TokenSource;
  /** Whether each request signs in with HTTP Basic. It is expensive, but leaves no token behind. */
  readonly #usesBasic: boolean;
  readonly #limiter = new Limiter(CONCURRENCY_MAX);
  readonly #changes = new Limiter(CHANGES_MAX);
  /** The last refused token, and the time until which Landfall does not send it again. */
  #denied: { token: string; untilMs: number; count: number } | undefined;

  /** @throws {ConfigError} when a file that the settings name cannot be used */
  constructor(settings: XenOrchestraSettings, deps: ProviderDeps) {
    this.#deps = deps;
    this.#settings = settings;
    const named = { names: SERVER_NAMES, provider: "xenorchestra" };
    this.#client = new CloudClient(settings, { ...deps, ...named });
    this.#usesBasic = deps.isTransient === true && settings.credentials.kind === "password";
    this.#tokens = this.#createTokens(settings);
    this.refreshIntervalMs = settings.refreshIntervalMs;
  }

  /**
   * Sends a GET. Tries once more after a dropped connection, and after a refused token if there is another token.
   *
   * @returns Any reply but 401, unless the request has `allows401`
   * @throws {CloudError} when there is none in time, or the token is refused
   */
  get(
    { operation, path, isList, etag, allows401 = false }: GetRequest,
    signal: AbortSignal,
  ): Promise<Reply> {
    const both = AbortSignal.any([signal, this.#deps.signal]);
    const timeoutMs = this.#toTimeoutMs(isList ? LIST_TIMEOUT_MS : TIMEOUT_MS);
    const condition = etag === undefined ? {} : { "if-none-match": etag };
    const ask = async (deadline: AbortSignal): Promise<Reply> => {
      const send = (auth: Headers): Promise<Reply> =>
        this.#send(
          { operation, method: "GET", path, headers: { ...condition, ...auth } },
          deadline,
        );
      if (!allows401) return await this.#withToken(deadline, send);
      return await send(this.#toAuthHeader(await this.#tokens.read(deadline)));
    };
    return this.#limiter.run(() => this.#client.within(timeoutMs, both, ask), both);
  }

  /**
   * Posts JSON. Tries once more after a refused token if there is another token.
   *
   * @param signal Must include the deadline
   * @returns Any reply but 401
   * @throws {CloudError} when there is none, or the token is refused
   */
  async post(
    { operation, path, content }: Asked & { readonly content: object },
    signal: AbortSignal,
  ): Promise<Reply> {
    const body = { json: content };
    return await this.#withToken(signal, (headers) =>
      this.#send({ operation, method: "POST", path, body, headers }, signal),
    );
  }

  /**
   * Sends a request that changes something. Sends it again only after a refused token, if there is another token.
   *
   * @returns Any reply but 401
   * @throws {CloudError} when there is none in time: then it may have been carried out all the same
   * @throws {LeadershipLostError} when this process does not lead
   */
  change(
    { timeoutMs, isPrompt = false, ...request }: ChangeRequest,
    fence: Pick<Fence, "bind" | "check">,
    signal: AbortSignal,
  ): Promise<Reply> {
    const both = AbortSignal.any([signal, this.#deps.signal]);
    const send = (deadline: AbortSignal): Promise<Reply> =>
      this.#withToken(deadline, async (headers) => {
        fence.check();
        try {
          return await this.#send({ ...request, headers }, fence.bind(deadline));
        } catch (error) {
          // The reason of the fence says more than the error of the connection that it closed.
          fence.check();
          throw error;
        }
      });
    const within = (work: typeof send): Promise<Reply> =>
      this.#client.within(timeoutMs, both, work);
    return isPrompt
      ? within((deadline) => this.#changes.run(() => send(deadline), deadline))
      : this.#changes.run(() => within(send), both);
  }

  #send({ path, headers, body, ...request }: Sent, signal: AbortSignal): Promise<Reply> {
    const content = toContent(body);
    const sent = { ...request, ...content, url: this.#toUrl(path) };
    const all = { ...HEADERS, ...content.headers, ...headers };
    return this.#client.request({ ...sent, headers: all }, signal);
  }

  /**
   * Opens a stream. Tries once more after a refused token if there is another token.
   *
   * @param request.type The expected content type
   * @param signal Also ends the stream
   * @returns Any reply but 401
   * @throws {CloudError} when there is none, or the token is refused
   */
  async openStream(
    { path, ...asked }: Asked & { readonly type: string },
    signal: AbortSignal,
  ): Promise<StreamReply> {
    const opened = { ...asked, url: this.#toUrl(path) };
    return await this.#withToken(signal, (auth) =>
      this.#client.openStream({ ...opened, headers: { ...HEADERS, ...auth } }, signal),
    );
  }

  /**
   * Calls one method by JSON-RPC, on a connection of its own, with the rights of the same user. Signs in again only
   * after a refused token, if there is another token.
   *
   * @param fence Asked right before the call is sent
   * @throws {RpcError} if Xen Orchestra refuses the call
   * @throws {CloudError} when there is no answer in time: then it may have been carried out all the same
   * @throws {LeadershipLostError} when this process does not lead
   */
  async callRpc(call: RpcCall, fence: Fence, signal: AbortSignal): Promise<unknown> {
    const { url } = this.#settings;
    const client = this.#client;
    const both = AbortSignal.any([signal, this.#deps.signal]);
    const { result } = await client.within(this.#toTimeoutMs(TIMEOUT_MS), both, (deadline) =>
      this.#withToken(deadline, (_headers, token) =>
        sendRpc(call, { url, client, token, fence, names: SERVER_NAMES }, deadline),
      ),
    );
    return result;
  }

  /**
   * Returns the token in use, to compare it with those that Xen Orchestra lists. It is a secret: never show it.
   *
   * @throws {CloudError} when there is none
   */
  readToken(signal: AbortSignal): Promise<string> {
    return this.#tokens.read(signal);
  }

  async #withToken<T extends { readonly status: number }>(
    signal: AbortSignal,
    send: (auth: Headers, token: string) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const token = await this.#tokens.read(signal);
      this.#checkDenied(token);
      const reply = await send(this.#toAuthHeader(token), token);
      if (reply.status !== 401) {
        this.#denied = undefined;
        return reply;
      }
      this.#deny(token);
      if (attempt === 2 || !(await this.#tokens.refuse(token))) {
        throw toReplyError({ status: 401, contentType: "" }, "");
      }
    }
  }

  #checkDenied(token: string): void {
    const waitMs = (this.#denied?.untilMs ?? 0) - this.#deps.clock.monotonic();
    if (this.#denied?.token !== token || waitMs <= 0) return;
    const { kind, message } = toReplyError({ status: 401, contentType: "" }, "");
    throw new CloudError(kind, message, { retryAfterMs: waitMs });
  }

  /** Records a refused token. If several requests are refused at once, they count as one. */
  #deny(token: string): void {
    const now = this.#deps.clock.monotonic();
    const last = this.#denied?.token === token ? this.#denied : undefined;
    if (last && now < last.untilMs) return;
    const count = (last?.count ?? 0) + 1;
    const capMs = Math.min(DENIED_BACKOFF.capMs, this.refreshIntervalMs / 2);
    const untilMs = now + toBackoffMs(count, { ...DENIED_BACKOFF, capMs });
    this.#denied = { token, count, untilMs };
  }

  #createTokens(settings: XenOrchestraSettings): TokenSource {
    const { clock, log } = this.#deps;
    const { credentials } = settings;
    if (credentials.kind === "token") return createFixedToken(credentials.token);
    if (credentials.kind === "tokenFile") return new FileToken(credentials.path, { clock, log });
    if (this.#usesBasic) return createFixedToken(toBasic(credentials));
    return new MintedToken({
      url: settings.url,
      credentials,
      timeoutMs: this.#toTimeoutMs(TIMEOUT_MS),
      post: ({ headers, ...posted }, signal) => {
        const all = { ...HEADERS, "content-type": "application/json", ...headers };
        return this.#client.request({ ...posted, method: "POST", headers: all }, signal);
      },
      deps: this.#deps,
    });
  }

  #toTimeoutMs(standardMs: number): number {
    return this.#settings.clientTimeoutMs ?? standardMs;
  }

  #toUrl(path: string): string {
    return `${this.#settings.url}/rest/v0${path}`;
  }

  #toAuthHeader(token: string): Headers {
    return this.#usesBasic
      ? { authorization: `Basic ${token}` }
      : { cookie: `authenticationToken=${token}` };
  }
}

function toContent(body: ChangeRequest["body"]): {
  readonly headers: Headers;
  readonly body?: HttpRequest["body"];
} {
  if (body === undefined) return { headers: {} };
  if ("json" in body) {
    return { headers: { "content-type": "application/json" }, body: JSON.stringify(body.json) };
  }
  const headers = { "content-type": "application/octet-stream" };
  if ("bytes" in body) return { headers, body: body.bytes };
  return { headers: { ...headers, "content-length": String(body.length) }, body: body.stream };
}
