/**
 * The tokens with which Landfall signs in: where they come from (a fixed token, a file, or a user's password), when
 * they expire, and how Landfall renews those that it created.
 * @module
 */
import { createHash } from "node:crypto";
import * as v from "valibot";
import { CloudError } from "../../../cloud/errors.ts";
import type { Finding } from "../../../cloud/inspection.ts";
import type { ProviderDeps } from "../../../cloud/provider_definition.ts";
import { type FileProblem, FileProblems } from "../../../cloud/settings/secret_file.ts";
import type { CloudRequest, Reply } from "../../../cloud_http/client.ts";
import { decode } from "../../../cloud_http/decode.ts";
import { abortable, type Clock, toBackoffMs, withDeadline } from "../../../core/clock.ts";
import { ConfigError, describeError } from "../../../core/errors.ts";
import type { Logger } from "../../../core/log.ts";
import type { Gauge } from "../../../core/metrics.ts";
import {
  describeFileProblem,
  readSmallText,
  readSmallTextSync,
  toTriedPath,
} from "../../../core/small_file.ts";
import { formatDuration } from "../../../core/text/values.ts";
import { isPathLike } from "../../../core/text/printable.ts";
import { explainToken, type SignIn } from "../settings.ts";
import { toReplyError } from "./reply_error.ts";

/** A source of tokens. */
export interface TokenSource {
  /**
   * Returns the token to use now.
   *
   * @throws {CloudError} if there is none
   */
  read(signal: AbortSignal): Promise<string>;
  /**
   * Records that Xen Orchestra refused a token.
   *
   * @returns Whether there may be another token, so that a retry makes sense
   */
  refuse(token: string): Promise<boolean>;
}

/** Creates a source with a token that never changes. */
export function createFixedToken(token: string): TokenSource {
  return { read: () => Promise.resolve(token), refuse: () => Promise.resolve(false) };
}

const FILE_PERIOD_MS = 1_000;

/**
 * A token in a file. Reads the file again at most once a second, and each time the server refuses the token. If the
 * file has no token, the last token stays in use, and the log gets one warning. If the file is missing or empty, the
 * warning comes only after a minute, because a Secret that is replaced is missing for a moment.
 */
export class FileToken implements TokenSource {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  #token: string;
  #readAtMs: number;
  readonly #problems: FileProblems;

  /** @throws {ConfigError} if the file cannot be read, or contains no token */
  constructor(path: string, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#path = path;
    this.#clock = clock;
    this.#problems = new FileProblems(clock);
    this.#log = log;
    let text: string;
    try {
      text = readSmallTextSync(path).trim();
    } catch (cause) {
      throw toFileError(path, `cannot be read: ${describeFileProblem(cause)}`, cause);
    }
    const problem = text === "" ? "is empty" : explainToken(text);
    if (problem !== undefined) throw toFileError(path, problem);
    this.#token = text;
    this.#readAtMs = clock.monotonic();
  }

  async read(): Promise<string> {
    if (this.#clock.monotonic() - this.#readAtMs >= FILE_PERIOD_MS) await this.#reload();
    return this.#token;
  }

  async refuse(token: string): Promise<boolean> {
    await this.#reload();
    return this.#token !== token;
  }

  async #reload(): Promise<void> {
    this.#readAtMs = this.#clock.monotonic();
    const read = await readTokenFile(this.#path);
    if (typeof read === "string") this.#token = read;
    const report = this.#problems.findNew(typeof read === "string" ? undefined : read);
    if (report !== undefined) {
      const fields = { path: this.#path, problem: report.problem };
      this.#log.warn("Cannot use the changed tokenFile; still using the last good token", fields);
    }
  }
}

/** Reads the token, or says what is wrong with it. */
async function readTokenFile(path: string): Promise<string | FileProblem> {
  try {
    const text = (await readSmallText(path)).trim();
    if (text === "") return { problem: "is empty", isAway: true };
    const problem = explainToken(text);
    return problem === undefined ? text : { problem, isAway: false };
  } catch (error) {
    return { problem: `cannot be read: ${describeFileProblem(error)}`, isAway: true };
  }
}

/** Does not repeat a text that does not look like a path, because operators write the token itself there. */
function toFileError(path: string, problem: string, cause?: unknown): ConfigError {
  const message = isPathLike(path)
    ? `${toTriedPath(path)}: ${problem}`
    : `${problem} (the name is not shown, because it may be the token itself; a relative path begins at ` +
      `${toTriedPath(".")}); give the path of a file, or write the token itself into token`;
  // The system error repeats the path.
  return new ConfigError([{ path: "tokenFile", message }], isPathLike(path) ? { cause } : {});
}

/** A token and its expiry, in wall-clock milliseconds. */
interface Minted {
  readonly token: string;
  /** Absent if the server does not report it. */
  readonly expiresAtMs?: number;
}

/** Sends one request for a token as JSON. Returns redirects; rejects with a {@linkcode CloudError}. */
type PostForToken = (
  request: Pick<CloudRequest, "operation" | "url" | "headers"> & { readonly body: string },
  signal: AbortSignal,
) => Promise<Reply>;

/** The dependencies of a {@linkcode MintedToken}. */
interface MintedTokenOptions {
  /** Of Xen Orchestra, as in the settings. */
  readonly url: string;
  readonly credentials: Password;
  /** Milliseconds for one attempt. */
  readonly timeoutMs: number;
  readonly post: PostForToken;
  readonly deps: Pick<ProviderDeps, "clock" | "log" | "signal">;
}

type Password = SignIn & { readonly kind: "password" };

/**
 * Xen Orchestra refuses every password for 2 s after a wrong one. Each attempt takes up to 0.7 s of its processor time.
 */
const MINT_BACKOFF = { baseMs: 2_500, capMs: 300_000, jitter: 0.1 };
/** Landfall renews a token when a third of its life is left, but not sooner than this after the last renewal. */
const RENEW_MS_MIN = 60_000;
/** Statuses for the path of a user that no longer exists. A wrong password gives 401. */
const GONE: ReadonlySet<number> = new Set([403, 404]);

/** The beginning of the `client.id` of tokens that Landfall creates and may renew. */
export const OWN_CLIENT: string = "landfall-";

/**
 * A token that Landfall creates with a password, by HTTP Basic, when it first needs one, renews before it expires, and
 * creates again if it is refused. The same installation always gets the same token, with a new expiry.
 *
 * Guarantees: one attempt at a time for all callers; at least 2.5 s between two attempts; after a failed renewal the
 * token stays in use.
 */
export class MintedToken implements TokenSource {
  readonly #options: MintedTokenOptions;
  /**
   * The user's own path, to which the server redirects from `users/me`, while it works. A user that was created again,
   * for example after a database was restored, has another path.
   */
  #ownUrl: string | undefined;
  #current: (Required<Minted> & { readonly renewAtMs: number }) | undefined;
  #minting: Promise<string> | undefined;
  #failures = 0;
  #nextTryMs = -Infinity;
  #lastError: CloudError | undefined;

  constructor(options: MintedTokenOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<string> {
    const current = this.#current;
    const now = this.#options.deps.clock.now();
    if (current && now < current.expiresAtMs) {
      // Renewal runs in the background and logs a failure.
      if (now >= current.renewAtMs && this.#mayTry()) this.#start().catch(() => {});
      return current.token;
    }
    return await abortable(this.#start(), signal);
  }

  refuse(token: string): Promise<boolean> {
    if (this.#current?.token === token) this.#current = undefined;
    return Promise.resolve(this.#current !== undefined || this.#mayTry());
  }

  #mayTry(): boolean {
    return this.#minting !== undefined || this.#options.deps.clock.monotonic() >= this.#nextTryMs;
  }

  #start(): Promise<string> {
    if (!this.#mayTry()) {
      const { kind = "denied", message = "Xen Orchestra refuses the token that it just issued" } =
        this.#lastError ?? {};
      const retryAfterMs = this.#nextTryMs - this.#options.deps.clock.monotonic();
      return Promise.reject(new CloudError(kind, message, { retryAfterMs }));
    }
    this.#minting ??= this.#mint().finally(() => (this.#minting = undefined));
    return this.#minting;
  }

  async #mint(): Promise<string> {
    const { clock, log } = this.#options.deps;
    this.#nextTryMs = clock.monotonic() + MINT_BACKOFF.baseMs;
    try {
      const { token, expiresAtMs = Infinity } = await this.#request();
      const now = clock.now();
      // A new token is valid. If it seems to have expired already, one of the two clocks is wrong, so Landfall uses it
      // until the server refuses it.
      const endsAtMs = expiresAtMs > now ? expiresAtMs : Infinity;
      const lifeMs = endsAtMs - now;
      const renewAtMs = now + Math.max(RENEW_MS_MIN, (lifeMs * 2) / 3);
      this.#current = { token, expiresAtMs: endsAtMs, renewAtMs };
      this.#failures = 0;
      this.#lastError = undefined;
      const life = Number.isFinite(lifeMs) ? formatDuration(Math.round(lifeMs)) : undefined;
      log.info("Got a token from Xen Orchestra", { life });
      return token;
    } catch (error) {
      this.#failures += 1;
      if (error instanceof CloudError) this.#lastError = error;
      this.#nextTryMs = clock.monotonic() + toBackoffMs(this.#failures, MINT_BACKOFF);
      log.warn("Cannot get a token from Xen Orchestra", { failures: this.#failures, error });
      throw error;
    }
  }

  /** Asks for a token once. */
  async #request(): Promise<Minted> {
    const { url, timeoutMs, deps } = this.#options;
    const deadline = withDeadline(deps.signal, timeoutMs, deps.clock);
    const me = `${url}/rest/v0/users/me/authentication_tokens`;
    let reply = await this.#post(this.#ownUrl ?? me, deadline);
    if (this.#ownUrl !== undefined && GONE.has(reply.status)) {
      this.#ownUrl = undefined;
      reply = await this.#post(me, deadline);
    }
    if (reply.redirectUrl !== undefined) {
      this.#ownUrl = reply.redirectUrl;
      reply = await this.#post(this.#ownUrl, deadline);
    }
    // The next attempt uses `users/me`. Not now: the server refuses the same password for 2 s after a 401.
    if (reply.status === 401 || GONE.has(reply.status)) this.#ownUrl = undefined;
    if (reply.status === 401) {
      const advice = "the username or the password is wrong, or the user needs a one-time password";
      throw new CloudError("denied", `Xen Orchestra answered 401: ${advice}`);
    }
    return toMinted(reply);
  }

  #post(url: string, signal: AbortSignal): Promise<Reply> {
    const { url: server, credentials, post } = this.#options;
    const body = JSON.stringify({
      description: "Landfall, a Kubernetes cloud controller manager",
      client: { id: OWN_CLIENT + toStateId(server, credentials.username) },
    });
    const headers = { authorization: `Basic ${toBasic(credentials)}` };
    return post({ operation: "create_token", url, headers, body }, signal);
  }
}

const MINTED = v.object({
  token: v.object({ id: v.string(), expiration: v.nullish(v.number()) }),
});

/**
 * Reads the token in the answer to a request for one.
 *
 * @throws {CloudError} if there is none
 */
export function toMinted(reply: Reply): Minted {
  const decoded = decode(MINTED, reply.json?.value);
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

/** The latest time in ECMAScript. */
const TIME_MS_MAX = 8.64e15;

/** Whether a number is a valid time in milliseconds. */
function isTime(ms: unknown): ms is number {
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

/** What a session does for the token that it uses. */
interface Asker {
  get(
    request: Asked & { isList: boolean; allows401: boolean },
    signal: AbortSignal,
  ): Promise<Reply>;
  post(request: Asked & { readonly content: object }, signal: AbortSignal): Promise<Reply>;
  readToken(signal: AbortSignal): Promise<string>;
}

interface Asked {
  readonly operation: string;
  readonly path: string;
}

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
