/**
 * Watches the expiry of a token from the settings: exports a metric, warns in time, and renews tokens that Landfall
 * created.
 * @module
 */
import type { CloudNotice } from "../../../cloud/provider_definition.ts";
import { type Clock, withDeadline } from "../../../core/clock.ts";
import { describeError } from "../../../core/errors.ts";
import type { Logger } from "../../../core/log.ts";
import type { Gauge, MetricsRegistry } from "../../../core/metrics.ts";
import type { SignIn } from "../settings/config.ts";
import type { Session } from "./session.ts";
import { readTokenLife, renewToken, type TokenLife } from "./token_life.ts";

/** The dependencies of a {@linkcode TokenWatch}. */
interface TokenWatchOptions {
  readonly session: Pick<Session, "get" | "post" | "readToken">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** Notifies the operator. */
  readonly notify?: ((notice: CloudNotice) => void) | undefined;
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

function toTime(ms: number): string {
  return new Date(ms).toISOString();
}
