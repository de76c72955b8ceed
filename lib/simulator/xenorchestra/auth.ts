/**
 * Authenticates requests: users, cookie tokens, HTTP Basic with its delay after a failure, and tokens that clients
 * create and renew.
 * @module
 */
import { randomBytes } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import type { Privilege } from "./access/privileges.ts";

/** A user of the simulated Xen Orchestra. */
export interface XoUser {
  readonly id: string;
  readonly username: string;
  readonly password: string;
  /** The rights of its role. @default {those of an administrator} */
  readonly privileges?: readonly Privilege[];
  /** IDs of machines and pools where an old ACL makes it an operator. Only JSON-RPC knows those. @default {none} */
  readonly operatorOf?: readonly string[];
}

/** A token as the API shows it. Times in milliseconds since the epoch. */
interface XoToken {
  id: string;
  user_id: string;
  created_at: number;
  expiration: number;
  description?: string;
  client?: { id: string };
}

/** The credentials of a request. */
interface AuthHeaders {
  readonly cookie: string | undefined;
  readonly authorization: string | undefined;
}

/** A refused request: the status and the text of `error`. */
export class AuthError extends Error {
  override readonly name = "AuthError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const BRAKE_MS = 2_000;
const DAY_MS = 86_400_000;
const DEFAULT_VALIDITY_MS = 30 * DAY_MS;
const VALIDITY_MIN_MS = 60_000;
const VALIDITY_MAX_MS = 182.625 * DAY_MS;
const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  second: 1_000,
  m: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: DAY_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  y: 365.25 * DAY_MS,
  year: 365.25 * DAY_MS,
};

/**
 * Users and tokens. After a failed HTTP Basic attempt, the server refuses that user for two seconds, even with the
 * right password.
 */
export class Auth {
  readonly #clock: Clock;
  #users: readonly XoUser[];
  readonly #tokens = new Map<string, XoToken>();
  readonly #failedAtMs = new Map<string, number>();

  constructor(clock: Clock, users: readonly XoUser[]) {
    this.#clock = clock;
    this.#users = users;
  }

  /** Tokens by ID. */
  get tokens(): ReadonlyMap<string, XoToken> {
    return this.#tokens;
  }

  /** Returns the user of the credentials; `undefined` without any. @throws {AuthError} if they are not valid */
  identify({ cookie, authorization }: AuthHeaders): XoUser | undefined {
    const token = readCookie(cookie ?? "");
    if (token !== undefined && authorization !== undefined) {
      const message = "Having multiple authentication methods is not supported, please choose one";
      throw new AuthError(400, message);
    }
    if (token !== undefined) return this.#byToken(token);
    return authorization === undefined ? undefined : this.#byBasic(authorization);
  }

  /** Adds a token with a given ID. @param validityMs Milliseconds until it expires */
  addToken(id: string, user: XoUser, validityMs: number = DEFAULT_VALIDITY_MS): XoToken {
    const now = this.#clock.now();
    const token = { id, user_id: user.id, created_at: now, expiration: now + validityMs };
    this.#tokens.set(id, token);
    return token;
  }

  /** Creates a user again, as in a restored database: name and password stay, the ID is new, its tokens are gone. */
  remake(username: string, id: string): void {
    const before = this.#users.find((user) => user.username === username);
    this.#users = this.#users.map((user) => (user === before ? { ...user, id } : user));
    for (const token of this.#tokens.values()) {
      if (token.user_id === before?.id) this.revoke(token.id);
    }
  }

  /**
   * Gives a user other rights.
   *
   * @param privileges Absent: those of an administrator
   * @param operatorOf As in {@linkcode XoUser}
   */
  setPrivileges(
    username: string,
    privileges?: readonly Privilege[],
    operatorOf: readonly string[] = [],
  ): void {
    this.#users = this.#users.map((user) => {
      if (user.username !== username) return user;
      const { privileges: _before, ...rest } = user;
      return { ...rest, operatorOf, ...(privileges && { privileges }) };
    });
  }

  /** Removes a token. */
  revoke(id: string): void {
    this.#tokens.delete(id);
  }

  /**
   * Mints a token; the same client ID of the same user gets the same token with a new expiration.
   *
   * @param body The posted body: `description`, `expiresIn` (milliseconds or words like `30 days`), `client.id`
   * @throws {AuthError} with 500 when `expiresIn` is out of range, as the real server
   */
  mint(user: XoUser, body: Readonly<Record<string, unknown>>): XoToken {
    const validityMs = toValidityMs(body["expiresIn"]);
    const clientId = readClientId(body["client"]);
    const known = [...this.#tokens.values()].find(
      (token) =>
        clientId !== undefined && token.client?.id === clientId && token.user_id === user.id,
    );
    const token = known ?? this.addToken(randomBytes(32).toString("base64url"), user);
    token.expiration = this.#clock.now() + validityMs;
    if (clientId !== undefined) token.client = { id: clientId };
    if (typeof body["description"] === "string") token.description = body["description"];
    return token;
  }

  #byToken(id: string): XoUser {
    const token = this.#tokens.get(id);
    const user = this.#users.find((one) => one.id === token?.user_id);
    if (token === undefined || user === undefined || token.expiration <= this.#clock.now()) {
      throw new AuthError(401, "invalid credentials");
    }
    return user;
  }

  #byBasic(authorization: string): XoUser {
    // The server looks at the second word only, so Bearer tokens are taken for Basic and fail.
    const encoded = authorization.trim().split(/\s+/)[1];
    if (encoded === undefined) throw new AuthError(400, "Malformed Authorization header");
    const [username = "", ...rest] = Buffer.from(encoded, "base64").toString().split(":");
    const nowMs = this.#clock.monotonic();
    const failedAtMs = this.#failedAtMs.get(username);
    if (failedAtMs !== undefined && nowMs - failedAtMs < BRAKE_MS) {
      throw new AuthError(500, "too fast authentication tries");
    }
    const user = this.#users.find((one) => one.username === username);
    if (user?.password === rest.join(":")) {
      this.#failedAtMs.delete(username);
      return user;
    }
    this.#failedAtMs.set(username, nowMs);
    throw new AuthError(401, "invalid credentials");
  }
}

function readCookie(header: string): string | undefined {
  for (const part of header.split(";")) {
    const [name = "", ...value] = part.trim().split("=");
    if (name === "authenticationToken" || name === "token") return value.join("=");
  }
  return undefined;
}

function readClientId(client: unknown): string | undefined {
  if (typeof client !== "object" || client === null || !("id" in client)) return undefined;
  return typeof client.id === "string" ? client.id : undefined;
}

function toValidityMs(expiresIn: unknown): number {
  if (expiresIn === undefined) return DEFAULT_VALIDITY_MS;
  const ms = typeof expiresIn === "number" ? expiresIn : parseWords(String(expiresIn));
  if (Number.isNaN(ms) || ms < VALIDITY_MIN_MS) {
    throw new AuthError(500, `invalid expiresIn duration: ${String(expiresIn)}`);
  }
  if (ms > VALIDITY_MAX_MS) {
    throw new AuthError(500, `too high expiresIn duration: ${String(expiresIn)}`);
  }
  return ms;
}

function parseWords(text: string): number {
  const [, count, unit = ""] = /^([\d.]+)\s*([a-z]+)$/i.exec(text.trim()) ?? [];
  const singular = unit.length > 1 ? unit.toLowerCase().replace(/s$/, "") : unit.toLowerCase();
  return Number(count) * (UNITS_MS[singular] ?? Number.NaN);
}
