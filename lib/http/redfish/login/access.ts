/**
 * Who asks the Redfish service: a user and a password, or a session in their place, and which machines they open.
 * @module
 */
import { isUtf8 } from "node:buffer";
import type { Clock } from "../../../core/clock.ts";
import type {
  MachineCredentials,
  MachineManagement,
} from "../../../cloud/capabilities/machine_management.ts";
import type { RedfishMetrics } from "../metrics.ts";
import { RedfishError, requireDone } from "../replies.ts";
import { createHmac, randomBytes, createHash, randomUUID } from "node:crypto";
import { RateBudget } from "../../../core/concurrency.ts";
import { parseCidr, parseIp } from "../../../core/net/ip.ts";
import { remember } from "../../../core/maps.ts";

/** Who asks. */
export interface Visitor {
  readonly credentials: MachineCredentials;
  /** The machines that may be seen and changed: only the one that is asked for, if one is. Not empty. */
  readonly systems: readonly string[];
}

/** What a request is about. */
interface Asked {
  /** ID of the machine in its path. */
  readonly system?: string | undefined;
  readonly signal: AbortSignal;
}

/** Of a user name or a password. */
const CHARS_MAX = 1_024;
const UNAUTHORIZED = 401;
const WRONG = "ResourceAtUriUnauthorized";
const CHALLENGE = { "www-authenticate": 'Basic realm="landfall", charset="UTF-8"' } as const;
const RETRY_SECONDS = "10";

/** Finds out who asks. Each user and password opens only the machines that have them. */
export class Access {
  readonly #management: MachineManagement;
  readonly #attempts: Attempts;
  readonly #sessions: Sessions;
  readonly #metrics: Pick<RedfishMetrics, "countLoginFailure">;

  constructor(
    management: MachineManagement,
    clock: Clock,
    metrics: Pick<RedfishMetrics, "countLoginFailure">,
  ) {
    this.#management = management;
    this.#metrics = metrics;
    this.#attempts = new Attempts(clock);
    this.#sessions = new Sessions(clock);
  }

  /**
   * Who sent a request. A session whose machines have other passwords now is over.
   *
   * @throws {RedfishError} without a user and password that are right for the machine that is asked for, or for any if
   *   none is. Whether a machine of others exists is not told. The client signs in again, perhaps with a newer password
   */
  async identify(headers: Headers, address: string, asked: Asked): Promise<Visitor> {
    const token = headers.get("x-auth-token");
    if (token !== null) return await this.#resume(token, address, asked);
    const credentials = parseBasic(headers.get("authorization"));
    if (credentials) return await this.check(credentials, address, asked);
    throw toUnauthorized("NoValidSession", "Give a user and a password, or the token of a session");
  }

  /**
   * Checks a user and a password.
   *
   * @throws {RedfishError} if the machine that is asked for, or any, does not have them
   */
  async check(
    credentials: MachineCredentials,
    address: string,
    { system, signal }: Asked,
  ): Promise<Visitor> {
    if (!this.#attempts.mayTry(address, credentials, system)) {
      this.#metrics.countLoginFailure("throttled");
      throw toTooMany();
    }
    const systems = requireDone(await this.#management.findSystems(credentials, signal, system));
    this.#attempts.note(address, credentials, systems.length > 0, system);
    if (systems.length > 0) return { credentials, systems };
    this.#metrics.countLoginFailure("wrong");
    const which = system === undefined ? "No machine" : "No machine with this ID";
    throw toUnauthorized(WRONG, `${which} has this user and password`);
  }

  /** Begins a session of a visitor. */
  begin({ credentials }: Visitor): { readonly session: Session; readonly token: string } {
    return this.#sessions.begin(credentials);
  }

  /** Lists the sessions with the visitor's user and password. */
  list({ credentials }: Visitor): readonly Session[] {
    return this.#sessions.list(credentials);
  }

  /** Ends a session. */
  end(session: Session): void {
    this.#sessions.end(session);
  }

  async #resume(token: string, address: string, asked: Asked): Promise<Visitor> {
    const session = this.#sessions.find(token);
    if (session === undefined) {
      throw toUnauthorized("NoValidSession", "The session is over; sign in again");
    }
    try {
      return await this.check(session.credentials, address, asked);
    } catch (error) {
      const isWrong = error instanceof RedfishError && error.status === UNAUTHORIZED;
      // They may be right for another machine.
      if (isWrong && asked.system === undefined) this.#sessions.end(session);
      throw error;
    }
  }
}

function toUnauthorized(id: string, message: string): RedfishError {
  return new RedfishError(UNAUTHORIZED, id, message, CHALLENGE);
}

function toTooMany(): RedfishError {
  const cause = "Too many requests of this user with a wrong password came from your address";
  const message = `${cause}; wait ${RETRY_SECONDS} seconds`;
  return new RedfishError(429, "ServiceTemporarilyUnavailable", message, {
    "retry-after": RETRY_SECONDS,
  });
}

/** Reads `Basic …`: user and password, a colon between them. Old clients send Latin-1 in place of UTF-8. */
function parseBasic(header: string | null): MachineCredentials | undefined {
  const [, encoded] = /^basic +([\w+/=-]+) *$/i.exec(header ?? "") ?? [];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  const text = bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");
  const colon = text.indexOf(":");
  if (colon < 0) return undefined;
  return toCredentials(text.slice(0, colon), text.slice(colon + 1));
}

/** Credentials that could be right. */
export function toCredentials(
  username: unknown,
  password: unknown,
): MachineCredentials | undefined {
  if (typeof username !== "string" || typeof password !== "string") return undefined;
  if (username === "" || username.length > CHARS_MAX || password.length > CHARS_MAX)
    return undefined;
  return { username, password };
}

/**
 * More than all hosts behind one address ask for with a password that is about to change. Below it a client that is
 * right is let in among others that are wrong, also by a process that does not know it yet.
 */
const LIMITS = { max: 100, perSecond: 10 } as const;
const CLIENTS_MAX = 4_096;
const GOOD_MAX = 8_192;
/** A client can have as many addresses of IPv6 as it likes, with so many bits in common. */
const COMMON_BITS = 64;

/**
 * Failed attempts by the address of the client and the user name. After too many, only credentials are looked at that
 * were right before from there: a client that guesses locks out no other.
 */
class Attempts {
  readonly #clock: Clock;
  readonly #budgets = new Map<string, RateBudget>();
  /** Hashes, so that no password stays in memory. */
  readonly #good = new Map<string, true>();
  readonly #salt = randomBytes(32);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Whether these credentials may be looked at.
   *
   * @param system The machine that is asked for: what is wrong for one that is gone stays right for another
   */
  mayTry(address: string, { username, password }: MachineCredentials, system = ""): boolean {
    const client = toClient(address);
    if (this.#good.has(this.#toHash(client, username, password, system))) return true;
    return this.#budgets.get(this.#toHash(client, username))?.hasRoom ?? true;
  }

  /** Notes whether the credentials were right. */
  note(
    address: string,
    { username, password }: MachineCredentials,
    isRight: boolean,
    system = "",
  ): void {
    const client = toClient(address);
    const hash = this.#toHash(client, username, password, system);
    if (isRight) {
      remember(this.#good, hash, true, GOOD_MAX);
      return;
    }
    this.#good.delete(hash);
    const key = this.#toHash(client, username);
    const budget = this.#budgets.get(key) ?? new RateBudget(this.#clock, LIMITS);
    budget.spend();
    remember(this.#budgets, key, budget, CLIENTS_MAX);
  }

  #toHash(...parts: readonly string[]): string {
    return createHmac("sha256", this.#salt).update(JSON.stringify(parts)).digest("base64");
  }
}

function toClient(address: string): string {
  const ip = parseIp(address);
  if (ip === undefined) return address;
  if (ip.family === 4) return ip.text;
  return String(parseCidr(`${ip.text}/${COMMON_BITS}`)?.first);
}

/** A session that began. */
export interface Session {
  /** Names it in its path; no secret. */
  readonly id: string;
  readonly credentials: MachineCredentials;
}

interface Kept extends Session {
  usedMs: number;
}

/** How long a session lives without a request, in seconds. */
export const SESSION_SECONDS = 1_800;
/** A client of many machines has a session for each. */
const SESSIONS_MAX = 2_048;
/** Clients forget to end theirs. */
const SESSIONS_OF_ONE_MAX = 32;
const TOKEN_BYTES = 32;

/**
 * All sessions, in memory only: a client of another process signs in again. If there are too many, the one that was not
 * used for the longest time ends, first of those with the same user and password.
 */
class Sessions {
  readonly #clock: Clock;
  /** By the hash of the token, the one used last at the end. */
  readonly #sessions = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins a session. Who calls this has checked the credentials. */
  begin(credentials: MachineCredentials): { readonly session: Session; readonly token: string } {
    const [first, ...own] = this.list(credentials);
    if (first && own.length + 1 >= SESSIONS_OF_ONE_MAX) this.end(first);
    const [oldest] = this.#sessions.values();
    if (oldest && this.#sessions.size >= SESSIONS_MAX) this.end(oldest);
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    const session = { id: randomUUID(), credentials, usedMs: this.#clock.monotonic() };
    this.#sessions.set(toHash(token), session);
    return { session, token };
  }

  /** Finds the session of a token, which thereby lives longer. */
  find(token: string): Session | undefined {
    this.#forgetOld();
    const hash = toHash(token);
    const session = this.#sessions.get(hash);
    if (session === undefined) return undefined;
    session.usedMs = this.#clock.monotonic();
    this.#sessions.delete(hash);
    this.#sessions.set(hash, session);
    return session;
  }

  /** Lists the sessions with these credentials. */
  list({ username, password }: MachineCredentials): readonly Session[] {
    this.#forgetOld();
    return [...this.#sessions.values()].filter(
      ({ credentials }) => credentials.username === username && credentials.password === password,
    );
  }

  /** Ends a session. */
  end({ id }: Pick<Session, "id">): void {
    for (const [hash, one] of this.#sessions) if (one.id === id) this.#sessions.delete(hash);
  }

  #forgetOld(): void {
    const earliestMs = this.#clock.monotonic() - SESSION_SECONDS * 1_000;
    for (const [hash, { usedMs }] of this.#sessions) {
      if (usedMs >= earliestMs) return;
      this.#sessions.delete(hash);
    }
  }
}

/** Finding a hash in a map says nothing about how much of a token is right. */
function toHash(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}
