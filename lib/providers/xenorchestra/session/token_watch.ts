/**
 * The expiry of a token from the settings, if Xen Orchestra reports it: exports a metric, warns in time, renews tokens
 * that Landfall created, and tells an operator who sets it up.
 * @module
 */
import * as v from "valibot";
import { CloudError } from "../../../cloud/errors.ts";
import type { Finding } from "../../../cloud/inspection.ts";
import type { ProviderDeps } from "../../../cloud/provider_definition.ts";
import type { Reply } from "../../../cloud_http/http.ts";
import { withDeadline } from "../../../core/clock.ts";
import { describeError } from "../../../core/errors.ts";
import type { Gauge } from "../../../core/metrics.ts";
import type { SignIn } from "../settings.ts";
import { isTime, OWN_CLIENT, toMinted } from "./tokens.ts";
import { toReplyError } from "./reply_error.ts";
import type { Session } from "./session.ts";

/** The expiry of a token. */
interface TokenLife {
  /** Wall-clock milliseconds. */
  readonly endsAtMs: number;
  /**
   * The user and client of the token. A new request for both gives the same token a new expiry. Absent if Landfall did
   * not create it, because its owner decides.
   */
  readonly renewal?: { readonly userId: string; readonly clientId: string };
}

type Asker = Pick<Session, "get" | "post" | "readToken">;

const LISTED = v.object({
  id: v.string(),
  expiration: v.custom<number>(isTime),
  user_id: v.nullish(v.string()),
  client: v.nullish(v.object({ id: v.nullish(v.string()) })),
});

/** The usual life of tokens. Landfall asks for it, because an installation may have a shorter default. */
const RENEWED_LIFE = "30 days";

/**
 * Looks up the token in use in the list of its user's tokens.
 *
 * @returns `undefined` if Xen Orchestra does not report it: the user has no right, or the server is too old
 * @throws {CloudError} if there is no usable answer
 */
async function readTokenLife(session: Asker, signal: AbortSignal): Promise<TokenLife | undefined> {
  const path = "/users/me/authentication_tokens";
  const request = { operation: "list_tokens", path, isList: false, allows401: true };
  const reply = await session.get(request, signal);
  if (reply.status === 403 || reply.status === 404) return undefined;
  const list = reply.json?.value;
  if (reply.status !== 200 || !Array.isArray(list)) throw toReplyError(reply, `GET ${path}`);
  const token = await session.readToken(signal);
  for (const one of list) {
    const listed = v.safeParse(LISTED, one);
    if (listed.success && listed.output.id === token) return toLife(listed.output);
  }
  return undefined;
}

function toLife({ expiration, user_id: userId, client }: v.InferOutput<typeof LISTED>): TokenLife {
  const clientId = client?.id ?? "";
  const isOurs = clientId.startsWith(OWN_CLIENT) && userId;
  return { endsAtMs: expiration, ...(isOurs && { renewal: { userId, clientId } }) };
}

/**
 * Renews the token in use for 30 days, or for the server's default if it refuses 30 days.
 *
 * @returns The new expiry, in wall-clock milliseconds
 * @throws {CloudError} if the server refuses, or gives another token, which Landfall does not use
 */
async function renewToken(
  session: Asker,
  { userId, clientId }: NonNullable<TokenLife["renewal"]>,
  signal: AbortSignal,
): Promise<number> {
  const client = { id: clientId };
  const path = `/users/${encodeURIComponent(userId)}/authentication_tokens`;
  const post = (content: object): Promise<Reply> =>
    session.post({ operation: "renew_token", path, content }, signal);
  let reply = await post({ client, expiresIn: RENEWED_LIFE });
  // The server answers 500 if the value is out of range.
  if (reply.status === 500) reply = await post({ client });
  const { token, expiresAtMs } = toMinted(reply);
  if (token === (await session.readToken(signal)) && expiresAtMs !== undefined) return expiresAtMs;
  throw new CloudError("protocol", "Xen Orchestra gave another token instead of renewing this one");
}

/** The dependencies of a {@linkcode TokenWatch}. */
interface TokenWatchOptions extends Pick<ProviderDeps, "clock" | "log" | "metrics" | "notify"> {
  readonly session: Asker;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Wait after the start, which has more urgent work. */
const FIRST_MS = 10_000;
/** Time between the warning and the expiry. */
const WARNING_MS = 14 * DAY_MS;
/**
 * Landfall renews its tokens this long before their expiry, so that neither warning nor alert fires: it checks once a
 * day.
 */
const RENEWAL_MS = 16 * DAY_MS;
const TIMEOUT_MS = 20_000;

/** How to replace a token, by its source. */
const ADVICE: Readonly<Record<"token" | "tokenFile", string>> = {
  token: "create a new one and set token or XOA_TOKEN",
  tokenFile: "create a new one and write it into tokenFile",
};

/** Says when a token expires. `endsAtMs` and `nowMs` are wall-clock milliseconds. */
export function describeTokenEnd(
  kind: "token" | "tokenFile",
  endsAtMs: number,
  nowMs: number,
): { readonly isSoon: boolean; readonly message: string; readonly advice: string } {
  const leftMs = endsAtMs - nowMs;
  const days = Math.max(0, Math.floor(leftMs / DAY_MS));
  const day = new Date(endsAtMs).toISOString().slice(0, 10);
  const left = days === 0 ? "less than a day" : `${days} ${days === 1 ? "day" : "days"}`;
  const message = `The token for Xen Orchestra expires on ${day}, in ${left}`;
  return { isSoon: leftMs < WARNING_MS, message, advice: ADVICE[kind] };
}

/**
 * Checks the expiry once a day, and after the token changed. If Xen Orchestra does not report the expiry, there is no
 * metric and no message. It does not watch tokens from a password, because Landfall renews them anyway.
 */
export class TokenWatch {
  readonly #options: TokenWatchOptions;
  readonly #endsAt: Gauge;
  /** The token of the last check. */
  #token: string | undefined;
  #dueMs: number;
  #isLooking = false;

  constructor(options: TokenWatchOptions) {
    this.#options = options;
    this.#dueMs = options.clock.monotonic() + FIRST_MS;
    this.#endsAt = options.metrics.gauge({
      name: "landfall_xenorchestra_token_expiry_timestamp_seconds",
      help:
        "When the token for Xen Orchestra expires, in Unix seconds; absent with a password, or if Xen Orchestra does " +
        "not report it.",
    });
  }

  /**
   * Checks the expiry if a check is due: soon after the start, then once a day. Never rejects, because other requests
   * report a refused token.
   *
   * @param kind Current source of the token
   */
  async look({ kind }: Pick<SignIn, "kind">, signal: AbortSignal): Promise<void> {
    if (this.#isLooking) return;
    if (kind === "password") return this.#endsAt.clear();
    const { clock, log, session } = this.#options;
    this.#isLooking = true;
    try {
      const deadline = withDeadline(signal, TIMEOUT_MS, clock);
      const token = await session.readToken(deadline);
      const isOther = this.#token !== undefined && this.#token !== token;
      if (!isOther && clock.monotonic() < this.#dueMs) return;
      this.#token = token;
      // The time for the next attempt if this one fails: other problems of the cloud are more urgent.
      this.#dueMs = clock.monotonic() + HOUR_MS;
      this.#report(kind, await this.#readLife(deadline));
      this.#dueMs = clock.monotonic() + DAY_MS;
    } catch (error) {
      if (!signal.aborted) log.debug("Cannot read the expiry of the credentials", { error });
    } finally {
      this.#isLooking = false;
    }
  }

  async #readLife(signal: AbortSignal): Promise<TokenLife | undefined> {
    const { session, clock, log } = this.#options;
    const life = await readTokenLife(session, signal);
    if (life?.renewal === undefined || life.endsAtMs - clock.now() >= RENEWAL_MS) return life;
    try {
      const endsAtMs = await renewToken(session, life.renewal, signal);
      log.info("Renewed the credentials for Xen Orchestra", { endsAt: toTime(endsAtMs) });
      // The server may give less time than the warning period. A token that was just renewed needs no warning.
      return { endsAtMs: Math.max(endsAtMs, life.endsAtMs), renewal: life.renewal };
    } catch (error) {
      signal.throwIfAborted();
      log.warn("Cannot renew the credentials for Xen Orchestra", { problem: describeError(error) });
      return { endsAtMs: life.endsAtMs };
    }
  }

  #report(kind: "token" | "tokenFile", life: TokenLife | undefined): void {
    const { clock, log, notify } = this.#options;
    this.#endsAt.clear();
    if (life === undefined) return;
    this.#endsAt.set(life.endsAtMs / 1_000);
    const { isSoon, message, advice } = describeTokenEnd(kind, life.endsAtMs, clock.now());
    if (!isSoon || life.renewal !== undefined) return;
    log.warn("The credentials for Xen Orchestra expire soon", {
      endsAt: toTime(life.endsAtMs),
      advice,
    });
    notify?.({ kind: "credentialExpires", message: `${message}; ${advice}` });
  }
}

/**
 * Looks up the expiry of the token in use. Returns no finding with a password, or if Xen Orchestra does not report it.
 *
 * @param nowMs Wall-clock milliseconds
 * @throws the signal's reason
 */
export async function inspectToken(
  session: Asker,
  { kind }: Pick<SignIn, "kind">,
  { nowMs, signal }: { readonly nowMs: number; readonly signal: AbortSignal },
): Promise<Finding[]> {
  if (kind === "password") return [];
  try {
    const life = await readTokenLife(session, signal);
    if (life === undefined) return [];
    const { isSoon, message, advice } = describeTokenEnd(kind, life.endsAtMs, nowMs);
    const code = "tokenEnd";
    if (life.renewal)
      return [{ level: "ok", code, message: `${message}; Landfall renews it in time` }];
    return isSoon
      ? [{ level: "warning", code, message, advice }]
      : [{ level: "ok", code, message }];
  } catch (error) {
    signal.throwIfAborted();
    // Everything else works, so this failure needs no finding.
    if (error instanceof CloudError) return [];
    throw error;
  }
}

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
