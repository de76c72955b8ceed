/**
 * Acting as another user: headers that make the API server treat a request as that of the user.
 * Source: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 * @module
 */
import type { HttpHeaders } from "../../core/http/request.ts";
import type { Credential, Credentials } from "./credentials.ts";
import { type SettingPlace, toConfigError } from "./problem.ts";
import type { Section } from "./section.ts";
import { mustBe } from "../../core/text/values.ts";

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
export function toImpersonationHeaders(
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
