/**
 * Gets a token with a user's password, by HTTP Basic.
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

/** How the `client.id` of every token begins that Landfall makes, and may renew. */
export const OWN_CLIENT: string = "landfall-";

/** Answers to the path of a user that is gone; a wrong password gives 401, too. */
const GONE: ReadonlySet<number> = new Set([403, 404]);

/** The last time that ECMAScript knows. */
const TIME_MS_MAX = 8.64e15;

/** What minting works with. */
export interface MintOptions {
  readonly settings: Pick<XenOrchestraSettings, "url">;
  readonly deps: Pick<ProviderDeps, "clock" | "signal">;
  readonly timeoutMs: number;
  /** Posts JSON with these headers. Redirects are handed back; rejects with a {@linkcode CloudError}. */
  readonly post: (
    request: Omit<CloudRequest, "method"> & { readonly body: string },
    signal: AbortSignal,
  ) => Promise<Reply>;
}

type Password = SignIn & { readonly kind: "password" };

/**
 * Creates the function that gets a token, in one try. The same installation gets the same token each time, with a new
 * expiry. The server answers `users/me` with a redirect (307) to the user's own path. That path is kept for as long as
 * it works: a user that was created again, as in a restored database, has another one.
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
    // The next try finds out: the server refuses the same password for 2 s after a 401.
    if (reply.status === 401 || GONE.has(reply.status)) own = undefined;
    if (reply.status === 401) {
      const advice = "the username or the password is wrong, or the user needs a one-time password";
      throw new CloudError("denied", `Xen Orchestra answered 401: ${advice}`);
    }
    return toMinted(reply);
  };
}

/**
 * The token in an answer to a request for one.
 *
 * @throws {CloudError} when there is none
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

/** Whether a number is a time in milliseconds that a calendar knows. */
export function isTime(ms: unknown): ms is number {
  return typeof ms === "number" && ms > 0 && ms <= TIME_MS_MAX;
}

/** The credentials as HTTP Basic sends them. */
export function toBasic({ username, password }: Password): string {
  return Buffer.from(`${username}:${password}`).toString("base64");
}

/** The same for every process of one installation, so that the server renews its token instead of adding another. */
function toStateId(url: string, username: string): string {
  return createHash("sha256").update(`${url}|${username}`).digest("hex").slice(0, 12);
}
