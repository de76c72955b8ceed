/**
 * Who asks: the API key, whether the role allows the command, the rate limit, the signature and its time.
 * @module
 */
import type { Clock } from "../../../core/clock.ts";
import { type Parameters, toSignature } from "../parameters.ts";
import { ApiError, toUnverified } from "../replies.ts";
import type { Settings } from "../settings.ts";
import type { CloudStackState } from "../world/state.ts";
import { isAllowed, type Account, type User } from "./accounts.ts";

/** A user who is known, and the account. */
export interface Caller {
  readonly user: User;
  readonly account: Account;
}

/** What {@linkcode Auth} needs. */
interface AuthOptions {
  readonly clock: Clock;
  readonly state: CloudStackState;
  readonly settings: Settings;
}

interface Window {
  readonly endsMs: number;
  count: number;
}

/** With timestamps enforced, a signature may be good for this long. */
const EXPIRES_MS_MAX = 15 * 60_000;

/** Identifies callers in the order in which the server asks its questions: the signature comes last. */
export class Auth {
  readonly #options: AuthOptions;
  readonly #windows = new Map<string, Window>();

  constructor(options: AuthOptions) {
    this.#options = options;
  }

  /** Milliseconds since the epoch by the server's clock. */
  now(): number {
    return this.#options.clock.now() + this.#options.settings.clockSkewMs;
  }

  /**
   * The caller of a command.
   *
   * @throws {ApiError} 401 for a key, signature or time that is not accepted, the code of the settings for a command
   * that the role lacks, or about a project of which the account is no member, 429 over the rate limit
   */
  identify(parameters: Parameters): Caller {
    const signature = parameters.get("signature");
    const key = parameters.get("apikey");
    if (signature === undefined || key === undefined) throw toUnverified();
    this.#checkTime(parameters);
    const caller = this.#find(key);
    if (caller === undefined) throw toUnverified();
    this.#checkRate(caller.account);
    this.#checkRole(caller, parameters.command);
    this.#checkProject(caller, parameters);
    if (signature !== toSignature(caller.user.secretKey, parameters.raw)) throw toUnverified();
    return caller;
  }

  #find(key: string): Caller | undefined {
    const { users, accounts } = this.#options.state;
    const user = [...users.values()].find((one) => one.apiKey === key && one.isEnabled);
    const account = user && accounts.get(user.accountId);
    return user && account && { user, account };
  }

  #checkTime(parameters: Parameters): void {
    const isEnforced = this.#options.settings.enforcesPostAndTimestamps;
    if (parameters.get("signatureversion") !== "3") {
      if (isEnforced) throw toUnverified();
      return; // Without the version, a signature never expires.
    }
    const expiresMs = parseExpires(parameters.get("expires") ?? "");
    if (expiresMs === undefined || expiresMs < this.now()) throw toUnverified();
    if (isEnforced && expiresMs > this.now() + EXPIRES_MS_MAX) throw toUnverified();
  }

  #checkRole({ user, account }: Caller, command: string): void {
    if (isAllowed(user.role, command)) return;
    const { refusesBy } = this.#options.settings;
    throw new ApiError(
      refusesBy,
      refusesBy === 432
        ? toUnavailable(command, account)
        : `The given command '${command}' either does not exist, is not available for user.`,
    );
  }

  #checkProject({ account }: Caller, parameters: Parameters): void {
    const { state, settings } = this.#options;
    const project = state.projects.get(parameters.get("projectid") ?? "");
    if (project === undefined || account.type !== "user") return;
    if (project.memberIds.includes(account.id)) return;
    const text = `The API [${parameters.command}] does not exist or is not available`;
    throw new ApiError(
      settings.refusesBy,
      `${text} for this account/user in project [${project.id}].`,
    );
  }

  #checkRate({ id, type }: Account): void {
    const { clock, settings } = this.#options;
    if (settings.throttling === undefined || type === "admin") return;
    const { max, intervalMs } = settings.throttling;
    const nowMs = clock.monotonic();
    let window = this.#windows.get(id);
    if (window === undefined || nowMs >= window.endsMs) {
      window = { endsMs: nowMs + intervalMs, count: 0 };
      this.#windows.set(id, window);
    }
    window.count += 1;
    if (window.count <= max) return;
    throw toThrottled(Math.ceil(window.endsMs - nowMs));
  }
}

/** What the server says of a command that the account's role does not allow. */
export function toUnavailable(command: string, { name }: Account): string {
  return `The API [${command}] does not exist or is not available for the account ${name}.`;
}

/** The refusal of an account that asked too often. @param waitMs Milliseconds until it may ask again */
export function toThrottled(waitMs: number): ApiError {
  const text = `The given user has reached his/her account api limit, please retry after [${waitMs}] ms.`;
  return new ApiError(429, text);
}

/** Milliseconds since the epoch of a date with a zone: `+0000` or `Z`. */
function parseExpires(text: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:Z|([+-]\d\d):?(\d\d))$/.exec(text);
  if (match === null) return undefined;
  const [, date = "", hours, minutes] = match;
  const ms = Date.parse(`${date}${hours === undefined ? "Z" : `${hours}:${minutes}`}`);
  return Number.isNaN(ms) ? undefined : ms;
}
