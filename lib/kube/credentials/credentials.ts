/**
 * Credentials for the API server. Files and plugins are read again before their content expires. A request may act as
 * another user; source:
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 * @module
 */
import { abortable, type Clock } from "../../core/clock.ts";
import { describeError } from "../../core/errors.ts";
import type { HttpHeaders } from "../../core/http/request.ts";
import type { TlsSettings } from "../../core/http/connection.ts";
import { type Logger, MessageDedup } from "../../core/log.ts";
import { type Section, type SettingPlace, toConfigError } from "./setting.ts";
import { mustBe } from "../../core/text/values.ts";

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

/** What {@linkcode RefreshingCredentials} need. */
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
export class RefreshingCredentials implements Credentials {
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

/** A user to act as. The credentials need the right `impersonate` for this user. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  /** Further attributes by key. */
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Names of the headers, in lower case. */
const PREFIX = "impersonate-";

/** Finds the place where a field of an {@linkcode Impersonation} was set. */
type FindPlace = (field: keyof Impersonation) => SettingPlace;

/**
 * The headers for a user.
 *
 * @throws {ConfigError} with the field that no header can hold
 */
function toImpersonationHeaders(
  { user, uid, groups = [], extra = {} }: Impersonation,
  findPlace: FindPlace,
): HttpHeaders {
  const headers: Record<string, string | readonly string[]> = {};
  const add = (field: keyof Impersonation, name: string, values: readonly string[]): void => {
    const [value, ...more] = values;
    if (value === undefined) return;
    if (!values.every((one) => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(one))) {
      throw toConfigError(findPlace(field), mustBe("printable ASCII without spaces at the ends"));
    }
    headers[`${PREFIX}${name}`] = more.length > 0 ? values : value;
  };
  add("user", "user", [user]);
  add("uid", "uid", uid === undefined ? [] : [uid]);
  add("groups", "group", groups);
  for (const [key, values] of Object.entries(extra)) {
    add("extra", `extra-${encodeURIComponent(key).toLowerCase()}`, values);
  }
  return headers;
}

/**
 * Reads `as`, `as-uid`, `as-groups` and `as-user-extra` of a kubeconfig user.
 *
 * @returns Headers; none without impersonation
 * @throws {ConfigError} if one is set without `as`, or no header can hold it
 */
export function readImpersonation(user: Section): HttpHeaders {
  const name = user.string("as");
  const uid = user.string("as-uid");
  const groups = user.strings("as-groups");
  const extra = user.section("as-user-extra");
  const fields = extra.names().map((key) => [key, extra.strings(key)] as const);
  if (name === undefined) {
    const alone = ["as-uid", "as-groups", "as-user-extra"].find((field) => user.has(field));
    const isEmpty = uid === undefined && groups.length === 0 && fields.length === 0;
    if (alone === undefined || isEmpty) return {};
    throw toConfigError(user.place(alone), "needs `as`, the name of the user");
  }
  const who = { user: name, groups, ...(uid && { uid }), extra: Object.fromEntries(fields) };
  const fieldNames = { user: "as", uid: "as-uid", groups: "as-groups", extra: "as-user-extra" };
  return toImpersonationHeaders(who, (field) => user.place(fieldNames[field]));
}

/**
 * Credentials that act as another user, instead of the one that they act as now.
 *
 * @throws {ConfigError} with the field that no header can hold
 */
export function actAs(
  credentials: Credentials,
  who: Impersonation,
  findPlace: FindPlace,
): Credentials {
  const added = toImpersonationHeaders(who, findPlace);
  let last: { readonly own: Credential; readonly shown: Credential } | undefined;
  return {
    server: credentials.server,
    async current(signal) {
      const own = await credentials.current(signal);
      if (last?.own !== own) {
        const kept = Object.entries(own.headers).filter(([name]) => !name.startsWith(PREFIX));
        const headers = { ...Object.fromEntries(kept), ...added };
        last = { own, shown: { ...own, headers } };
      }
      return last.shown;
    },
    invalidate(used) {
      if (last !== undefined && used === last.shown) credentials.invalidate(last.own);
    },
  };
}
