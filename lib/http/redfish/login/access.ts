/**
 * Who asks the Redfish service: a user and a password, or a session in their place, and which machines they open.
 * @module
 */
import { isUtf8 } from "node:buffer";
import type { Clock } from "../../../core/clock.ts";
import { Attempts } from "./attempts.ts";
import type {
  MachineCredentials,
  MachineManagement,
} from "../../../cloud/capabilities/machine_management.ts";
import type { RedfishMetrics } from "../metrics.ts";
import { RedfishError, requireDone } from "../replies.ts";
import { type Session, Sessions } from "./sessions.ts";

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
