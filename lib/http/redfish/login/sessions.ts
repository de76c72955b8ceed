/**
 * Sessions: a token in place of user and password, until it is not used for half an hour.
 * @module
 */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { Clock } from "../../../core/clock.ts";
import type { MachineCredentials } from "../../../cloud/capabilities/machine_management.ts";

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
export class Sessions {
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
