/**
 * Reads the settings of Xen Orchestra from a file and from environment variables.
 * @module
 */
import type { Environment, ParsedConfig } from "../../../cloud/provider_definition.ts";
import { BLOCK, dropEmpty, type ShapeIssue } from "../../../cloud/settings/schema.ts";
import { parseBool } from "../../../core/text/bool.ts";
import { mustBe, mustBeSetting } from "../../../core/text/must_be.ts";
import { explainOddSecret } from "../../../cloud/settings/secret_file.ts";
import type { ConfigIssue } from "../../../core/errors.ts";
import { isLoopbackHost } from "../../../core/net/ip.ts";
import type { AddressSettings } from "../model/addresses.ts";
import type { OwnNames } from "../model/own_places.ts";
import { describeSettings, parseFileSettings, type FileSettings } from "./config_schema.ts";
import type { ZoneSource } from "./label_settings.ts";

/** How Landfall signs in. */
export type SignIn =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "tokenFile"; readonly path: string }
  | { readonly kind: "password"; readonly username: string; readonly password: string };

/** Valid settings. Times in milliseconds. */
export interface XenOrchestraSettings {
  /** Origin and path, without a slash at the end. */
  readonly url: string;
  readonly insecure: boolean;
  readonly credentials: SignIn;
  /** Timeout of every request; absent: 10 s, lists 30 s. */
  readonly clientTimeoutMs?: number;
  readonly caFile?: string;
  /** 64 hexadecimal digits, lower case. */
  readonly certificateFingerprint?: string;
  readonly refreshIntervalMs: number;
  readonly addresses: AddressSettings & { readonly network?: string };
  /** Whether Landfall must not write Node addresses. @default {false} */
  readonly leavesAddresses?: true;
  readonly zoneLabelFrom: ZoneSource;
  /** Zone labels by ID or name of a host or pool; absent: none. */
  readonly zones?: OwnNames;
  /** Region labels by ID or name of a pool; absent: none. */
  readonly regions?: OwnNames;
  /** VM tags become Node labels if their key begins with one of these; absent: none. */
  readonly tagPrefixes?: readonly string[];
  /** Prefix of the VM tag that sets the instance type. */
  readonly instanceTypeTag?: string;
  /** IDs or names of the pools whose Nodes are ours; absent: all. */
  readonly pools?: readonly string[];
}

const REFRESH_MS = 30_000;
const SECRETS_NEVER_MIXED = ["token", "tokenFile", "username", "password"] as const;

/**
 * Reads the settings. Reports every problem, and never repeats what may be a secret.
 *
 * A key in the file takes precedence over the environment. Credentials count as one: if the file has complete
 * credentials, those of the environment are ignored.
 *
 * @param raw Content of the file; `undefined` or `null` without one
 * @param env Environment variables: `XOA_URL`, `XOA_INSECURE`, `XOA_TOKEN`, `XOA_USER`, `XOA_PASSWORD`,
 * `XOA_CLIENT_TIMEOUT`
 */
export function parseXenOrchestraConfig(
  raw: unknown,
  env: Environment,
): ParsedConfig<XenOrchestraSettings> {
  const file = dropEmpty(raw ?? {}, NESTED_MAX);
  if (typeof file !== "object" || file === null || Array.isArray(file)) {
    return { issues: [{ message: mustBeSetting(BLOCK, file) }], warnings: [] };
  }
  const { values, variables, issues } = readEnvironment(env, new Map(Object.entries(file)));
  const merged = { ...values, ...file };
  const parsed = parseFileSettings(merged);
  const toIssue = (path: string, message: string): ConfigIssue => {
    const source = variables.get(path);
    return source === undefined ? { path, message } : { source, message };
  };
  issues.push(...parsed.issues.map(({ path, message }) => toIssue(path, message)));
  issues.push(...listMissing(new Map(Object.entries(merged)), issues));
  const oddities = listOddities(parsed.settings);
  const warnings = oddities.map(({ path, message }) => toIssue(path, message));
  const settings = parsed.settings && toSettings(parsed.settings);
  return issues.length > 0 || !settings ? { issues, warnings } : { settings, issues, warnings };
}

/** Returns the value of `Provider.unmanaged`. */
export function toUnmanaged({
  leavesAddresses,
  zoneLabelFrom,
}: Pick<XenOrchestraSettings, "leavesAddresses" | "zoneLabelFrom">): ReadonlySet<
  "addresses" | "zone"
> {
  const left = new Set<"addresses" | "zone">();
  if (leavesAddresses) left.add("addresses");
  if (zoneLabelFrom.kind === "none") left.add("zone");
  return left;
}

/** How many levels of settings are below the first. */
const NESTED_MAX = 1;

interface FromEnvironment {
  values: Record<string, unknown>;
  /** Environment variable by the path that it sets. */
  variables: Map<string, string>;
  issues: ConfigIssue[];
}

function readEnvironment(env: Environment, file: ReadonlyMap<string, unknown>): FromEnvironment {
  const found: FromEnvironment = { values: {}, variables: new Map(), issues: [] };
  const authenticated =
    file.has("token") || file.has("tokenFile") || (file.has("username") && file.has("password"));
  for (const { path, variable } of describeSettings()) {
    const text = variable === undefined ? undefined : env[variable];
    if (variable === undefined || text === undefined || text === "" || file.has(path)) continue;
    if (authenticated && SECRETS_NEVER_MIXED.some((key) => key === path)) continue;
    const value = path === "insecure" ? parseBool(text) : text;
    if (value === undefined) {
      found.issues.push({ source: variable, message: mustBe("true or false") });
      continue;
    }
    found.values[path] = value;
    found.variables.set(path, variable);
  }
  return found;
}

function listMissing(
  merged: ReadonlyMap<string, unknown>,
  known: readonly ConfigIssue[],
): ConfigIssue[] {
  const has = (key: string): boolean => merged.has(key);
  const issues = listCredentialIssues(has);
  if (!has("url") && !known.some(({ path }) => path === "url")) {
    const message =
      "required: the address of Xen Orchestra, in the file of --cloud-config or in XOA_URL";
    issues.push({ path: "url", message, solvedBy: ["url"] });
  }
  if (merged.get("insecure") === true && has("certificateFingerprint")) {
    const message = "not allowed together with certificateFingerprint: choose one";
    issues.push({ path: "insecure", message });
  }
  return issues;
}

/** Requires exactly one way to sign in: a token, the file of a token, or a user and password. */
function listCredentialIssues(has: (key: string) => boolean): ConfigIssue[] {
  const withPassword = has("username") && has("password");
  const ways = [
    ...(withPassword ? ["username and password"] : []),
    ...["tokenFile", "token"].filter(has),
  ];
  const [chosen, ...others] = ways;
  if (chosen !== undefined) {
    return others.map((path) => ({
      path,
      message: `not allowed together with ${chosen}: choose one`,
    }));
  }
  const missing = { solvedBy: SECRETS_NEVER_MIXED };
  if (has("username")) {
    const message = "required with username (or XOA_PASSWORD), or set a token";
    return [{ path: "password", message, ...missing }];
  }
  if (has("password")) {
    const message = "required with password (or XOA_USER), or set a token";
    return [{ path: "username", message, ...missing }];
  }
  const message = "a token (token, tokenFile or XOA_TOKEN) or a username and password is required";
  return [{ path: "token", message, ...missing }];
}

function listOddities(settings: FileSettings | undefined): ShapeIssue[] {
  const warnings: ShapeIssue[] = [];
  const url = URL.parse(settings?.url ?? "");
  if (url?.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    const message = "with http, everyone on the network can read the token; use https";
    warnings.push({ path: "url", message });
  }
  if (url?.protocol === "http:" && settings?.certificateFingerprint !== undefined) {
    const message = "has no effect with http, which has no certificate; use https";
    warnings.push({ path: "certificateFingerprint", message });
  }
  if (settings?.insecure === true && settings.caFile !== undefined) {
    warnings.push({ path: "insecure", message: "caFile has no effect with insecure: true" });
  }
  const oddity = explainOddSecret(settings?.token ?? "", "a token", "tokenFile");
  if (oddity !== undefined) warnings.push({ path: "token", message: oddity });
  warnings.push(...listUseless(settings));
  const { token, tokenFile, username, password } = settings ?? {};
  const used = token === undefined ? "tokenFile" : "token";
  if ((token ?? tokenFile) !== undefined && (username === undefined) !== (password === undefined)) {
    const [path, other] =
      username === undefined ? ["password", "username"] : ["username", "password"];
    warnings.push({ path, message: `ignored without ${other}: Landfall uses ${used}` });
  }
  return warnings;
}

/** Lists settings that have no effect because of another setting. */
function listUseless({ addresses, zoneLabelFrom, zones }: FileSettings = {}): ShapeIssue[] {
  const useless: ShapeIssue[] = [];
  if (addresses?.mode === "leave") {
    const message = "has no effect with addresses.mode: leave";
    for (const key of Object.keys(addresses)) {
      if (key !== "mode") useless.push({ path: `addresses.${key}`, message });
    }
  }
  if (zoneLabelFrom?.kind === "none" && zones !== undefined) {
    useless.push({ path: "zones", message: "has no effect with zoneLabelFrom: none" });
  }
  return useless;
}

function toSettings(file: FileSettings): XenOrchestraSettings | undefined {
  const credentials = toSignIn(file);
  if (file.url === undefined || credentials === undefined) return undefined;
  const {
    exclude = [],
    externalCIDRs = [],
    mainIpAsExternal = false,
    network,
  } = file.addresses ?? {};
  const leavesAddresses = file.addresses?.mode === "leave";
  return {
    url: file.url,
    insecure: file.insecure ?? false,
    credentials,
    ...(file.clientTimeout ? { clientTimeoutMs: file.clientTimeout } : {}),
    ...(file.caFile === undefined ? {} : { caFile: file.caFile }),
    ...(file.certificateFingerprint === undefined
      ? {}
      : { certificateFingerprint: file.certificateFingerprint }),
    refreshIntervalMs: file.refreshInterval ?? REFRESH_MS,
    addresses: {
      exclude,
      externalCidrs: externalCIDRs,
      mainIpAsExternal,
      ...(network === undefined || leavesAddresses ? {} : { network }),
    },
    ...(leavesAddresses ? { leavesAddresses } : {}),
    ...toLabelSettings(file),
    ...(file.pools === undefined ? {} : { pools: file.pools }),
  };
}

function toLabelSettings(
  file: FileSettings,
): Pick<
  XenOrchestraSettings,
  "zoneLabelFrom" | "zones" | "regions" | "tagPrefixes" | "instanceTypeTag"
> {
  const { zoneLabelFrom, zones, regions, nodeLabelsFromTags, instanceTypeTag } = file;
  const tagPrefixes = nodeLabelsFromTags?.prefixes ?? [];
  return {
    zoneLabelFrom: zoneLabelFrom ?? { kind: "host" },
    ...(zones?.size ? { zones } : {}),
    ...(regions?.size ? { regions } : {}),
    ...(tagPrefixes.length === 0 ? {} : { tagPrefixes }),
    ...(instanceTypeTag === undefined ? {} : { instanceTypeTag }),
  };
}

function toSignIn(file: FileSettings): SignIn | undefined {
  const { token, tokenFile, username, password } = file;
  if (token !== undefined) return { kind: "token", token };
  if (tokenFile !== undefined) return { kind: "tokenFile", path: tokenFile };
  if (username === undefined || password === undefined) return undefined;
  return { kind: "password", username, password };
}
