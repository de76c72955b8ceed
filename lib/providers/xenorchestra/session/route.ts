/**
 * The server and the user of requests to Xen Orchestra.
 * @module
 */
import type { ProviderDeps } from "../../../cloud/provider_definition.ts";
import { CloudClient, type CloudRequest } from "../../../cloud_http/client.ts";
import type { Reply } from "../../../cloud_http/http.ts";
import type { Meter } from "../../../cloud_http/meter.ts";
import type { ServerNames } from "../../../cloud_http/server.ts";
import type { XenOrchestraSettings } from "../settings/config.ts";
import { createMint, toBasic } from "./mint.ts";
import { createFixedToken, FileToken, MintedToken, type TokenSource } from "./tokens.ts";

/** Names of the server and its settings in messages. */
export const SERVER_NAMES: ServerNames = {
  server: "Xen Orchestra",
  process: "xo-server",
  url: "url",
  caFile: "caFile",
  certificateFingerprint: "certificateFingerprint",
};

/** How long a request may take, in milliseconds, unless it asks for a list or the settings say otherwise. */
export const TIMEOUT_MS = 10_000;
/**
 * `max-age=0`: a cache in between must ask the server, because an answer must not be older than it claims. Not
 * `no-cache`: with it, Xen Orchestra (Express) ignores `if-none-match` and sends everything.
 */
export const HEADERS = {
  accept: "application/json",
  "cache-control": "max-age=0",
  "user-agent": "landfall",
} as const;

/** The server and the user of requests. A request uses the same route from its beginning to its end. */
export interface Route {
  readonly settings: XenOrchestraSettings;
  readonly base: string;
  readonly client: CloudClient;
  readonly tokens: TokenSource;
  /** Whether each request signs in with HTTP Basic. */
  readonly usesBasic: boolean;
}

/** Creates the route of some settings. @throws {ConfigError} when a file that they name cannot be used */
export function createRoute(
  settings: XenOrchestraSettings,
  deps: ProviderDeps,
  meter: Meter,
): Route {
  const { clock, log, isTransient } = deps;
  const client = new CloudClient(settings, { names: SERVER_NAMES, meter, clock, log });
  // HTTP Basic with every request is expensive, but leaves no token behind.
  const usesBasic = isTransient === true && settings.credentials.kind === "password";
  const tokens = createTokens(settings, client, deps);
  return { settings, base: `${settings.url}/rest/v0`, client, tokens, usesBasic };
}

function createTokens(
  settings: XenOrchestraSettings,
  client: CloudClient,
  { isTransient, ...deps }: ProviderDeps,
): TokenSource {
  const { credentials } = settings;
  if (credentials.kind === "token") return createFixedToken(credentials.token);
  if (credentials.kind === "tokenFile") return new FileToken(credentials.path, deps);
  if (isTransient) return createFixedToken(toBasic(credentials));
  const timeoutMs = settings.clientTimeoutMs ?? TIMEOUT_MS;
  const minting = { settings, deps, timeoutMs, post: post.bind(undefined, client) };
  const { clock, log } = deps;
  return new MintedToken({ mint: createMint(minting, credentials), clock, log });
}

/** Posts JSON. */
export function post(
  client: CloudClient,
  { headers, ...posted }: Omit<CloudRequest, "method">,
  signal: AbortSignal,
): Promise<Reply> {
  const all = { ...HEADERS, "content-type": "application/json", ...headers };
  return client.request({ ...posted, method: "POST", headers: all }, signal);
}
