/**
 * Authenticated requests to one Xen Orchestra: token, deadline, retry, limit, metrics.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import type { ProviderDeps } from "../../../cloud/provider_definition.ts";
import { toBackoffMs } from "../../../core/backoff.ts";
import { startDeadline } from "../../../core/clock.ts";
import { formatHostPort, isReset } from "../../../core/net/connection_problem.ts";
import { Limiter } from "../../../core/limiter.ts";
import type { XenOrchestraSettings } from "../settings/config.ts";
import {
  isUntrusted,
  sendRequest,
  toConnectionError,
  toReplyError,
  type Reply,
  type Request,
} from "./http.ts";
import { Meter } from "./meter.ts";
import { createMint, toBasic } from "./mint.ts";
import { type FetchTls, Trust } from "./tls.ts";
import { createFixedToken, FileToken, MintedToken, type TokenSource } from "./tokens.ts";

/** What is asked for. `path` follows `/rest/v0`. */
export interface GetRequest {
  /** For metrics: `list_vms`. */
  readonly operation: string;
  readonly path: string;
  readonly isList: boolean;
  /** Answer that the asker has already: the reply is 304 if nothing changed. */
  readonly etag?: string | undefined;
  /** Whether this may be refused while all else is not: a 401 is then a reply as any, and no word on the token. */
  readonly isAside?: boolean;
}

/** How a request of the caller's own goes out: to what, as whom, and whom to trust. */
export interface Way {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: FetchTls;
}

/** Requests at a time: the server is one thread, and more only wait there. */
const CONCURRENCY_MAX = 8;
const TIMEOUT_MS = 10_000;
const LIST_TIMEOUT_MS = 30_000;
/**
 * How long a refused token is not shown again; half a refresh interval at most, which is less than the pace of
 * refreshes in trouble, so as not to add to it.
 */
const DENIED_BACKOFF = { baseMs: 500, capMs: 30_000, jitter: 0 };
/**
 * `max-age=0`: a cache in between must ask too, since nothing here may be older than it claims. Not `no-cache`, with
 * which Xen Orchestra (Express) sends everything whole, whatever `if-none-match` says.
 */
const HEADERS = {
  accept: "application/json",
  "cache-control": "max-age=0",
  "user-agent": "landfall",
} as const;

/** What is posted to an address. */
interface Posted {
  readonly operation: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Sent = Pick<Request, "method" | "headers"> & { url: string; body?: string; operation: string };

/** Where requests go and as whom. A request keeps to one from its beginning to its end. */
interface Route {
  readonly settings: XenOrchestraSettings;
  readonly base: string;
  readonly trust: Trust;
  readonly tokens: TokenSource;
  /** Whether each request signs in by HTTP Basic. */
  readonly usesBasic: boolean;
}

/** The connection to one Xen Orchestra. */
export class Session {
  readonly #deps: ProviderDeps;
  #route: Route;
  readonly #limiter = new Limiter(CONCURRENCY_MAX);
  readonly #meter: Meter;
  /** The last token that was refused, and until when it is not worth showing. */
  #denied: { token: string; untilMs: number; count: number } | undefined;
  #refreshIntervalMs: number;

  /** @throws {ConfigError} when a file that the settings name cannot be used */
  constructor(settings: XenOrchestraSettings, deps: ProviderDeps) {
    this.#deps = deps;
    this.#route = this.#createRoute(settings);
    this.#refreshIntervalMs = settings.refreshIntervalMs;
    this.#meter = new Meter(deps.metrics, deps.clock);
  }

  /**
   * Lets requests that begin from now on go where these settings say; those under way end as they began.
   *
   * @throws {ConfigError} when a file that the settings name cannot be used; then nothing has changed
   */
  reconfigure(settings: XenOrchestraSettings): void {
    this.#route = this.#createRoute(settings);
    this.#refreshIntervalMs = settings.refreshIntervalMs;
    this.#denied = undefined;
  }

  /** Takes another pace, in milliseconds: a refused token is left alone for at most half of it. All else stays. */
  setRefreshInterval(intervalMs: number): void {
    this.#refreshIntervalMs = intervalMs;
  }

  /**
   * Gets something. A dropped connection is tried once more, and so is a refused token when another one is to be had.
   *
   * @returns Any reply but 401, unless the request is an aside
   * @throws {CloudError} when there is none in time, or the token is refused
   */
  get(request: GetRequest, signal: AbortSignal): Promise<Reply> {
    const both = AbortSignal.any([signal, this.#deps.signal]);
    return this.#limiter.run(() => this.#get(request, both), both);
  }

  async #get(request: GetRequest, signal: AbortSignal): Promise<Reply> {
    const { operation, path, isList, etag, isAside = false } = request;
    const route = this.#route;
    const timeoutMs = route.settings.clientTimeoutMs ?? (isList ? LIST_TIMEOUT_MS : TIMEOUT_MS);
    using started = startDeadline(signal, timeoutMs, this.#deps.clock);
    const deadline = started.signal;
    try {
      const send = (auth: Readonly<Record<string, string>>): Promise<Reply> => {
        const headers = { ...HEADERS, ...toCondition(etag), ...auth };
        const sent = { operation, method: "GET", url: route.base + path, headers } as const;
        return this.#sendTwice(route, sent, deadline);
      };
      if (!isAside) return await this.#withToken(route, deadline, send);
      return await send(toAuthHeader(await route.tokens.read(deadline), route.usesBasic));
    } catch (error) {
      signal.throwIfAborted();
      if (!deadline.aborted) throw error;
      const where = formatHostPort(route.settings.url);
      const message = `Xen Orchestra at ${where} did not answer within ${timeoutMs / 1_000} s`;
      throw new CloudError("unreachable", message);
    }
  }

  /**
   * Sends what is no plain GET, such as what opens a stream, in the caller's own way: the deadline is the caller's too.
   * A refused token is tried once more when another one is to be had.
   *
   * @returns Any reply but 401
   * @throws {CloudError} when there is none, or the token is refused
   */
  async exchange<T extends { readonly status: number }>(
    { operation, path }: Pick<GetRequest, "operation" | "path">,
    send: (way: Way) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const route = this.#route;
    return await this.#withToken(route, signal, async (auth) => {
      const way = { url: route.base + path, headers: { ...HEADERS, ...auth } };
      const sendTo = (tls: FetchTls): Promise<T> =>
        this.#meter.count(operation, signal, () => send({ ...way, tls }));
      try {
        return await trusting(route, sendTo, signal);
      } catch (error) {
        throw signal.aborted ? signal.reason : toConnectionError(error, route.settings.url);
      }
    });
  }

  /**
   * The token in use now, to be compared with those that Xen Orchestra lists. A secret: never to be shown.
   *
   * @throws {CloudError} when there is none
   */
  readToken(signal: AbortSignal): Promise<string> {
    return this.#route.tokens.read(signal);
  }

  async #withToken<T extends { readonly status: number }>(
    { tokens, usesBasic }: Route,
    signal: AbortSignal,
    send: (auth: Readonly<Record<string, string>>) => Promise<T>,
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const token = await tokens.read(signal);
      this.#checkDenied(token);
      const reply = await send(toAuthHeader(token, usesBasic));
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

  async #sendTwice(route: Route, sent: Sent, signal: AbortSignal): Promise<Reply> {
    const { url } = route.settings;
    try {
      return await this.#send(route, sent, signal);
    } catch (error) {
      // Its keep-alive ends after five idle seconds.
      if (signal.aborted || !isReset(error)) throw toConnectionError(error, url);
    }
    return await this.#send(route, sent, signal).catch((error: unknown) => {
      throw toConnectionError(error, url);
    });
  }

  #send(
    trust: Pick<Route, "trust">,
    { operation, ...sent }: Sent,
    signal: AbortSignal,
  ): Promise<Reply> {
    const send = (tls: FetchTls): Promise<Reply> =>
      this.#meter.count(operation, signal, () => sendRequest({ ...sent, tls, signal }));
    return trusting(trust, send, signal);
  }

  #checkDenied(token: string): void {
    const waitMs = (this.#denied?.untilMs ?? 0) - this.#deps.clock.monotonic();
    if (this.#denied?.token !== token || waitMs <= 0) return;
    const { kind, message } = toReplyError({ status: 401, contentType: "" }, "");
    throw new CloudError(kind, message, { retryAfterMs: waitMs });
  }

  /** Several requests at once that are refused count as one. */
  #deny(token: string): void {
    const now = this.#deps.clock.monotonic();
    const last = this.#denied?.token === token ? this.#denied : undefined;
    if (last && now < last.untilMs) return;
    const count = (last?.count ?? 0) + 1;
    const capMs = Math.min(DENIED_BACKOFF.capMs, this.#refreshIntervalMs / 2);
    const untilMs = now + toBackoffMs(count, { ...DENIED_BACKOFF, capMs });
    this.#denied = { token, count, untilMs };
  }

  #createRoute(settings: XenOrchestraSettings): Route {
    const trust = new Trust(settings, this.#deps);
    // Signing in with every request is dear, but leaves no token behind.
    const usesBasic = this.#deps.isTransient === true && settings.credentials.kind === "password";
    const tokens = this.#createTokens(settings, { trust });
    return { settings, base: `${settings.url}/rest/v0`, trust, tokens, usesBasic };
  }

  #createTokens(settings: XenOrchestraSettings, trust: Pick<Route, "trust">): TokenSource {
    const { isTransient, ...deps } = this.#deps;
    const { credentials } = settings;
    if (credentials.kind === "token") return createFixedToken(credentials.token);
    if (credentials.kind === "tokenFile") return new FileToken(credentials.path, deps);
    if (isTransient) return createFixedToken(toBasic(credentials));
    const timeoutMs = settings.clientTimeoutMs ?? TIMEOUT_MS;
    const post = ({ headers, ...posted }: Posted, signal: AbortSignal): Promise<Reply> => {
      const all = { ...HEADERS, "content-type": "application/json", ...headers };
      const sent = { ...posted, method: "POST", headers: all } as const;
      return this.#send(trust, sent, signal).catch((error: unknown) => {
        throw toConnectionError(error, settings.url);
      });
    };
    const mint = createMint({ settings, deps, timeoutMs, post }, credentials);
    return new MintedToken({ mint, clock: deps.clock, log: deps.log });
  }
}

/** Sends something, and once more when the server was not believed although its authority is known by now. */
async function trusting<T>(
  { trust }: Pick<Route, "trust">,
  send: (tls: FetchTls) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const tls = await trust.read(signal);
  try {
    return await send(tls);
  } catch (error) {
    if (signal.aborted || !isUntrusted(error)) throw error;
    if (!(await trust.doubt(tls, signal))) throw error;
  }
  return await send(await trust.read(signal));
}

function toAuthHeader(token: string, usesBasic: boolean): Readonly<Record<string, string>> {
  return usesBasic
    ? { authorization: `Basic ${token}` }
    : { cookie: `authenticationToken=${token}` };
}

function toCondition(etag: string | undefined): Readonly<Record<string, string>> {
  return etag === undefined ? {} : { "if-none-match": etag };
}
