/**
 * Credentials for the API server. Files and plugins are read again before their content expires.
 * @module
 */
import { abortable, type Clock } from "../../core/clock.ts";
import { describeError } from "../../core/errors.ts";
import type { HttpHeaders } from "../../core/http/request.ts";
import type { TlsSettings } from "../../core/http/connection.ts";
import { type Logger, MessageDedup } from "../../core/log.ts";

/** The credentials of one request. */
export interface Credential {
  /** Contains secrets: never show it. */
  readonly headers: HttpHeaders;
  readonly tls: TlsSettings;
  /** `http://` or `https://` address. Absent: the proxy of the environment, if any. */
  readonly proxy?: string;
  /** Grows when `tls` or `proxy` change. Connections of another version must not be used. */
  readonly version: number;
}

/** Credentials for one API server, up to date at each call. */
export interface Credentials {
  /** Address without trailing slash, perhaps with a path. */
  readonly server: string;
  /**
   * The credentials for the next request, never older than 60 s. Reads files again when half of that has passed, and
   * after {@linkcode Credentials.invalidate}.
   * Throws only if no credentials that were ever read are still valid.
   */
  current(signal: AbortSignal): Promise<Credential>;
  /** The server did not accept `used`. The next call reads everything again, unless that has happened since. */
  invalidate(used: Credential): void;
}

/** A credential from its source. */
export interface LoadedCredential extends Omit<Credential, "version"> {
  /** When it expires, in wall-clock milliseconds. Absent: never. */
  readonly expiresAtMs?: number;
}

/** Settings of {@linkcode createCredentials}. */
interface CredentialsOptions {
  readonly server: string;
  /**
   * Reads all files. `fresh` asks it to forget kept answers.
   * It has its own deadline, because many requests wait for one reading.
   */
  readonly load: (fresh: boolean) => Promise<LoadedCredential>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Age at which files are read again. A change is used well within a minute, as in client-go. */
const REFRESH_MS = 30_000;
/** Pause after a failed reading while the old credential is still valid. */
const RETRY_MS = 10_000;
/** How often a lasting failure is reported again. */
const REMIND_MS = 600_000;

/**
 * Reads a source of credentials rarely, and never twice at the same time. Failures do not remove its last good answer.
 */
export function createCredentials(options: CredentialsOptions): Credentials {
  return new RefreshingCredentials(options);
}

class RefreshingCredentials implements Credentials {
  readonly server: string;
  readonly #options: CredentialsOptions;
  #last: { credential: Credential; expiresAtMs: number } | undefined;
  #dueMs = -Infinity;
  #fresh = false;
  #reading: Promise<Credential> | undefined;
  readonly #reported: MessageDedup;

  constructor(options: CredentialsOptions) {
    this.server = options.server;
    this.#options = options;
    this.#reported = new MessageDedup({ clock: options.clock, afterMs: REMIND_MS });
  }

  current(signal: AbortSignal): Promise<Credential> {
    const { clock } = this.#options;
    if (this.#last !== undefined && this.#isGood() && clock.monotonic() < this.#dueMs) {
      return Promise.resolve(this.#last.credential);
    }
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return abortable(this.#reading, signal);
  }

  invalidate(used: Credential): void {
    // If many requests fail together, only the first one may cause a reading.
    if (used !== this.#last?.credential) return;
    this.#fresh = true;
    this.#dueMs = -Infinity;
  }

  async #read(): Promise<Credential> {
    const { load, clock, log } = this.#options;
    const fresh = this.#fresh;
    this.#fresh = false;
    try {
      const { expiresAtMs = Infinity, ...loaded } = await load(fresh);
      const credential = { ...loaded, version: this.#toVersion(loaded) };
      this.#last = { credential, expiresAtMs };
      this.#dueMs = clock.monotonic() + REFRESH_MS;
      this.#reported.end();
      return credential;
    } catch (error) {
      if (this.#last === undefined || !this.#isGood()) throw error;
      const fields = { error: describeError(error) };
      const message = "Cannot renew Kubernetes credentials; still using the last good ones";
      log[this.#reported.isNew(fields.error) ? "warn" : "debug"](message, fields);
      this.#dueMs = clock.monotonic() + RETRY_MS;
      return this.#last.credential;
    }
  }

  #isGood(): boolean {
    return this.#options.clock.now() < (this.#last?.expiresAtMs ?? -Infinity);
  }

  #toVersion(loaded: LoadedCredential): number {
    const last = this.#last?.credential;
    if (last === undefined) return 1;
    const same = (a: LoadedCredential): string => JSON.stringify([a.tls, a.proxy]);
    return same(last) === same(loaded) ? last.version : last.version + 1;
  }
}
