/**
 * Sends authenticated requests to one Xen Orchestra, with deadline, retry, limit and metrics.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import type { ProviderDeps } from "../../../cloud/provider_definition.ts";
import type { CloudRequest } from "../../../cloud_http/client.ts";
import type { Reply, StreamReply } from "../../../cloud_http/http.ts";
import { Meter } from "../../../cloud_http/meter.ts";
import { toBackoffMs } from "../../../core/backoff.ts";
import type { Fence } from "../../../core/fence.ts";
import { Limiter } from "../../../core/concurrency.ts";
import type { XenOrchestraSettings } from "../settings/config.ts";
import { type ChangeRequest, sendChange } from "./change.ts";
import { toReplyError } from "./reply_error.ts";
import { createRoute, HEADERS, post, type Route, SERVER_NAMES, TIMEOUT_MS } from "./route.ts";
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

type Headers = CloudRequest["headers"];

/** Maximum number of requests at a time. The server has one thread, so more requests would only wait there. */
const CONCURRENCY_MAX = 8;
/** Maximum number of changes at a time, beside the reads: a start or an upload takes seconds. */
const CHANGES_MAX = 8;
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
  readonly #route: Route;
  readonly #limiter = new Limiter(CONCURRENCY_MAX);
  readonly #changes = new Limiter(CHANGES_MAX);
  /** The last refused token, and the time until which Landfall does not send it again. */
  #denied: { token: string; untilMs: number; count: number } | undefined;

  /** @throws {ConfigError} when a file that the settings name cannot be used */
  constructor(settings: XenOrchestraSettings, deps: ProviderDeps) {
    this.#deps = deps;
    this.#route = createRoute(settings, deps, new Meter(deps.metrics, deps.clock, "xenorchestra"));
    this.refreshIntervalMs = settings.refreshIntervalMs;
  }

  /**
   * Sends a GET. Tries once more after a dropped connection, and after a refused token if there is another token.
   *
   * @returns Any reply but 401, unless the request has `allows401`
   * @throws {CloudError} when there is none in time, or the token is refused
   */
  get(request: GetRequest, signal: AbortSignal): Promise<Reply> {
    const both = AbortSignal.any([signal, this.#deps.signal]);
    return this.#limiter.run(() => this.#get(request, both), both);
  }

  async #get(request: GetRequest, signal: AbortSignal): Promise<Reply> {
    const { operation, path, isList, etag, allows401 = false } = request;
    const route = this.#route;
    const timeoutMs = route.settings.clientTimeoutMs ?? (isList ? LIST_TIMEOUT_MS : TIMEOUT_MS);
    return await route.client.within(timeoutMs, signal, async (deadline) => {
      const send = (auth: Headers): Promise<Reply> => {
        const headers = { ...HEADERS, ...toCondition(etag), ...auth };
        const sent = { operation, method: "GET", url: route.base + path, headers } as const;
        return route.client.request(sent, deadline);
      };
      if (!allows401) return await this.#withToken(route, deadline, send);
      return await send(toAuthHeader(await route.tokens.read(deadline), route.usesBasic));
    });
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
    const route = this.#route;
    const posted = { operation, url: route.base + path, body: JSON.stringify(content) };
    return await this.#withToken(route, signal, (headers) =>
      post(route.client, { ...posted, headers }, signal),
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
    request: ChangeRequest,
    fence: Pick<Fence, "bind" | "check">,
    signal: AbortSignal,
  ): Promise<Reply> {
    const both = AbortSignal.any([signal, this.#deps.signal]);
    const route = this.#route;
    const { base, client } = route;
    const send = (deadline: AbortSignal): Promise<Reply> =>
      this.#withToken(route, deadline, (auth) =>
        sendChange(request, { base, client, fence, headers: { ...HEADERS, ...auth } }, deadline),
      );
    const within = (work: typeof send): Promise<Reply> =>
      client.within(request.timeoutMs, both, work);
    if (request.isPrompt !== true) return this.#changes.run(() => within(send), both);
    return within((deadline) => this.#changes.run(() => send(deadline), deadline));
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
    const route = this.#route;
    const opened = { ...asked, url: route.base + path };
    return await this.#withToken(route, signal, (auth) =>
      route.client.openStream({ ...opened, headers: { ...HEADERS, ...auth } }, signal),
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
    const route = this.#route;
    const { settings, client } = route;
    const both = AbortSignal.any([signal, this.#deps.signal]);
    const { result } = await client.within(
      settings.clientTimeoutMs ?? TIMEOUT_MS,
      both,
      (deadline) =>
        this.#withToken(route, deadline, (_headers, token) =>
          sendRpc(call, { url: settings.url, client, token, fence, names: SERVER_NAMES }, deadline),
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
    return this.#route.tokens.read(signal);
  }

  async #withToken<T extends { readonly status: number }>(
    { tokens, usesBasic }: Route,
    signal: AbortSignal,
    send: (auth: Headers, token: string) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const token = await tokens.read(signal);
      this.#checkDenied(token);
      const reply = await send(toAuthHeader(token, usesBasic), token);
      if (reply.status !== 401) {
        this.#denied = undefined;
        return reply;
      }
      this.#deny(token);
      if (attempt === 2 || !(await tokens.refuse(token))) {
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
}

function toAuthHeader(token: string, usesBasic: boolean): Headers {
  return usesBasic
    ? { authorization: `Basic ${token}` }
    : { cookie: `authenticationToken=${token}` };
}

function toCondition(etag: string | undefined): Headers {
  return etag === undefined ? {} : { "if-none-match": etag };
}
