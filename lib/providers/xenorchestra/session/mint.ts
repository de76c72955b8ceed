/**
 * Creates a token with a user's password, by HTTP Basic.
 * @module
 */
import { createHash } from "node:crypto";
import { CloudError } from "../../../cloud/errors.ts";
import type { ProviderDeps } from "../../../cloud/provider_definition.ts";
import type { CloudRequest } from "../../../cloud_http/client.ts";
import { decode } from "../../../cloud_http/decode.ts";
import type { Reply } from "../../../cloud_http/http.ts";
import { withDeadline } from "../../../core/clock.ts";
import type { SignIn, XenOrchestraSettings } from "../settings/config.ts";
import type { Minted } from "./tokens.ts";
import { toReplyError } from "./reply_error.ts";
import { SCHEMAS } from "../wire/schema.ts";
import { explainToken } from "../settings/text_forms.ts";

/** The beginning of the `client.id` of tokens that Landfall creates and may renew. */
export const OWN_CLIENT: string = "landfall-";

/** Statuses for the path of a user that no longer exists. A wrong password gives 401. */
const GONE: ReadonlySet<number> = new Set([403, 404]);

/** The latest time in ECMAScript. */
const TIME_MS_MAX = 8.64e15;

/** The dependencies of {@linkcode createMint}. */
export interface MintOptions {
  readonly settings: Pick<XenOrchestraSettings, "url">;
  readonly deps: Pick<ProviderDeps, "clock" | "signal">;
  readonly timeoutMs: number;
  /** Posts JSON with these headers. Returns redirects; rejects with a {@linkcode CloudError}. */
  readonly post: (
    request: Omit<CloudRequest, "method"> & { readonly body: string },
    signal: AbortSignal,
  ) => Promise<Reply>;
}

type Password = SignIn & { readonly kind: "password" };

/**
 * Creates a function that gets a token, in one attempt. The same installation always gets the same token, with a new
 * expiry. The server answers `users/me` with a redirect (307) to the user's own path. The function remembers that path
 * while it works. A user that was created again, for example after a database was restored, has another path.
 */
export function createMint(options: MintOptions, credentials: Password): () => Promise<Minted> {
  const { settings, deps, timeoutMs, post } = options;
  const { username } = credentials;
  const me = `${settings.url}/rest/v0/users/me/authentication_tokens`;
  let own: string | undefined;
  const body = JSON.stringify({
    description: "Landfall, a Kubernetes cloud controller manager",
    client: { id: OWN_CLIENT + toStateId(settings.url, username) },
  });
  const headers = { authorization: `Basic ${toBasic(credentials)}` };
  return async () => {
    const deadline = withDeadline(deps.signal, timeoutMs, deps.clock);
    const ask = (url: string): Promise<Reply> =>
      post({ operation: "create_token", url, headers, body }, deadline);
    let reply = await ask(own ?? me);
    if (own !== undefined && GONE.has(reply.status)) {
      own = undefined;
      reply = await ask(me);
    }
    if (reply.redirectUrl !== undefined) {
      own = reply.redirectUrl;
      reply = await ask(own);
    }
    // The next attempt uses `users/me`. Not now: the server refuses the same password for 2 s after a 401.
    if (reply.status === 401 || GONE.has(reply.status)) own = undefined;
    if (reply.status === 401) {
      const advice = "the username or the password is wrong, or the user needs a one-time password";
      throw new CloudError("denied", `Xen Orchestra answered 401: ${advice}`);
    }
    return toMinted(reply);
  };
}

/**
 * Reads the token in the answer to a request for one.
 *
 * @throws {CloudError} if there is none
 */
export function toMinted(reply: Reply): Minted {
  const decoded = decode(SCHEMAS.mintedToken, reply.json?.value);
  if (![200, 201].includes(reply.status) || !("value" in decoded)) {
    throw toReplyError(reply, "the request for a token");
  }
  const { id: token, expiration } = decoded.value.token;
  const problem = explainToken(token);
  if (problem !== undefined) {
    throw new CloudError("protocol", `Xen Orchestra gave an unusable token: it ${problem}`);
  }
  return isTime(expiration) ? { token, expiresAtMs: expiration } : { token };
}

/** Whether a number is a valid time in milliseconds. */
export function isTime(ms: unknown): ms is number {
  return typeof ms === "number" && ms > 0 && ms <= TIME_MS_MAX;
}

/** Encodes the credentials for HTTP Basic. */
export function toBasic({ username, password }: Password): string {
  return Buffer.from(`${username}:${password}`).toString("base64");
}

/**
 * Returns an ID that is the same for every process of one installation, so that the server renews its token instead of
 * adding another.
 */
function toStateId(url: string, username: string): string {
  return createHash("sha256").update(`${url}|${username}`).digest("hex").slice(0, 12);
}
