/**
 * The settings of Xen Orchestra: their schema with the text of the reference page, and how they are read from a file
 * and from environment variables.
 * @module
 */
import * as v from "valibot";
import type { Environment, ParsedConfig } from "../../cloud/provider_definition.ts";
import { ADDRESS_SETTINGS } from "../../cloud/settings/address_settings.ts";
import {
  BLOCK,
  describeBlock,
  dropEmpty,
  duration,
  fingerprint,
  need,
  needText,
  parsed,
  parseShape,
  setting,
  type SettingDescription,
  type ShapeIssue,
  trueOrFalse,
} from "../../cloud/settings/schema.ts";
import { explainOddSecret, explainSecret } from "../../cloud/settings/secret_file.ts";
import { explainTagPrefix } from "../../cloud/tag_labels.ts";
import type { ConfigIssue } from "../../core/errors.ts";
import { type Cidr, isLoopbackHost } from "../../core/net/ip.ts";
import { trimSlashes } from "../../core/http/connection.ts";
import {
  describeDurationRange,
  mustBe,
  mustBeSetting,
  parseBool,
  parseDurationWithin,
  parseUuid,
} from "../../core/text/values.ts";
import { isLabelValue, LABEL_VALUE_FORM } from "../../core/text/label.ts";

/** How Landfall signs in. */
export type SignIn =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "tokenFile"; readonly path: string }
  | { readonly kind: "password"; readonly username: string; readonly password: string };

/** Settings for the choice of addresses. */
export interface AddressSettings {
  /** Addresses that no Node gets, such as virtual IPs. */
  readonly exclude: readonly Cidr[];
  /** Addresses that are external although they are not routable on the Internet. */
  readonly externalCidrs: readonly Cidr[];
  /** Publishes only the VM's main address as ExternalIP, even a private one, as the Go controller does. */
  readonly mainIpAsExternal: boolean;
}

/** Valid settings. Times in milliseconds. */
export interface XenOrchestraSettings {
  /** Origin and path, without a slash at the end. */
  readonly url: string;
  readonly insecure: boolean;
  readonly credentials: SignIn;
  /** Timeout of every request; absent: 10 s, lists 30 s. */
  readonly clientTimeoutMs?: number | undefined;
  readonly caFile?: string | undefined;
  /** 64 hexadecimal digits, lower case. */
  readonly certificateFingerprint?: string | undefined;
  readonly refreshIntervalMs: number;
  readonly addresses: AddressSettings & { readonly network?: string | undefined };
  /** Whether Landfall must not write Node addresses. @default {false} */
  readonly leavesAddresses?: boolean;
  readonly zoneLabelFrom: ZoneSource;
  /** Zone labels by ID or name of a host or pool; absent: none. */
  readonly zones?: ReadonlyMap<string, string> | undefined;
  /** Region labels by ID or name of a pool; absent: none. */
  readonly regions?: ReadonlyMap<string, string> | undefined;
  /** VM tags become Node labels if their key begins with one of these; absent: none. */
  readonly tagPrefixes?: readonly string[] | undefined;
  /** Prefix of the VM tag that sets the instance type. */
  readonly instanceTypeTag?: string | undefined;
  /** IDs or names of the pools whose Nodes are ours; absent: all. */
  readonly pools?: readonly string[] | undefined;
}

/** The settings that change an instance. */
export const INSTANCE_SETTINGS = [
  "addresses",
  "zoneLabelFrom",
  "instanceTypeTag",
  "leavesAddresses",
  "regions",
  "zones",
  "tagPrefixes",
] as const;

/** See {@linkcode INSTANCE_SETTINGS}. */
export type InstanceSettings = Pick<XenOrchestraSettings, (typeof INSTANCE_SETTINGS)[number]>;

/** The source of a Node's zone. */
type ZoneSource =
  | { readonly kind: "host" }
  | { readonly kind: "pool" }
  /** Landfall writes no zone label. */
  | { readonly kind: "none" }
  | { readonly kind: "hostTag"; readonly prefix: string };

const REFRESH_MS = 30_000;
const REFRESH_MS_MIN = 1_000;
const REFRESH_MS_MAX = 3_600_000;
const TIMEOUT_MS_MIN = 100;
const TIMEOUT_MS_MAX = 600_000;

const text = v.string(needText);
const LABEL_VALUE = v.pipe(
  v.string(needText),
  v.check((text) => text !== "" && isLabelValue(text), need(LABEL_VALUE_FORM)),
);

/**
 * Landfall reads a UUID in the region label as that of the pool where the VM was last seen, so it must not be another
 * name.
 */
const REGION_VALUE = v.pipe(
  LABEL_VALUE,
  v.check((text) => parseUuid(text) === undefined, need("a name, not a UUID")),
);

/** The settings of Xen Orchestra alone come before the network. */
const { network, ...usual } = ADDRESS_SETTINGS;
const flag = trueOrFalse();

const SCHEMA = v.object(
  {
    url: setting(parsed(parseUrl, explainUrl), {
      type: "URL",
      variable: "XOA_URL",
      description:
        "Address of Xen Orchestra. It may have a path; Landfall removes `/rest/v0` at the end. Required.",
    }),
    insecure: setting(flag, {
      type: "boolean",
      default: "false",
      variable: "XOA_INSECURE",
      description:
        "Whether Landfall accepts any certificate from any server. This is not safe: use `certificateFingerprint` " +
        "or `caFile`.",
    }),
    token: setting(parsed(parseToken, explainToken), {
      type: "text",
      variable: "XOA_TOKEN",
      description:
        "Authentication token. One of `token`, `tokenFile`, or a user and password is required. Landfall warns 14 " +
        "days before it expires. A token whose client ID begins with `landfall-` is renewed instead.",
    }),
    tokenFile: setting(text, {
      type: "path",
      description:
        "File that contains a token, as for `token`. Landfall reads it again when it changes, and when Xen " +
        "Orchestra refuses the token. A relative path begins at the working directory of the process, not at this " +
        "file.",
    }),
    username: setting(text, {
      type: "text",
      variable: "XOA_USER",
      description:
        "User for whom Landfall creates and renews a token, with `password`. If a token is set as well, that is an " +
        "error. If only one of `username` and `password` is set beside a token, Landfall warns and ignores it.",
    }),
    password: setting(text, {
      type: "text",
      variable: "XOA_PASSWORD",
      description: "Password of `username`.",
    }),
    clientTimeout: setting(timeout(), {
      type: "duration",
      default: "10s, lists 30s",
      variable: "XOA_CLIENT_TIMEOUT",
      description: "Timeout of one request, from `100ms` to `10m`. `0` means the default.",
    }),
    caFile: setting(text, {
      type: "path",
      description:
        "PEM file of the certificate authorities to trust, instead of the system's. Landfall reads it again when it " +
        "changes, and when it does not trust the server's certificate. A relative path begins as that of `tokenFile`.",
    }),
    certificateFingerprint: setting(fingerprint(), {
      type: "SHA-256 fingerprint",
      description:
        "Fingerprint that the server's certificate must have. A safe way to trust the self-signed certificate that " +
        "Xen Orchestra generates for itself.",
    }),
    refreshInterval: setting(duration(REFRESH_MS_MIN, REFRESH_MS_MAX, "30s"), {
      type: "duration",
      default: "30s",
      description:
        "How often Landfall lists everything in Xen Orchestra: three requests, or five with `addresses.network`, " +
        "for any number of Nodes.",
    }),
    addresses: v.optional(
      v.object(
        {
          ...usual,
          mainIpAsExternal: setting(flag, {
            type: "boolean",
            default: "false",
            description:
              "Publishes only the VM's main address as ExternalIP, even if it is private or the kubelet's " +
              "node IP, as the Go controller does.",
          }),
          network,
        },
        need(BLOCK),
      ),
    ),
    zoneLabelFrom: setting(parsed(parseZoneSource, "host, pool, none, or hostTag:<prefix>"), {
      type: "`host`, `pool`, `hostTag:<prefix>` or `none`",
      default: "host",
      description:
        "Where the zone comes from: the host's UUID, the pool's UUID, or the text after the prefix in a " +
        "tag of the host. For a host without such a tag Landfall writes no zone label. " +
        "`none`: Landfall writes no zone " +
        "label and leaves existing ones as they are.",
    }),
    zones: setting(ownNames(LABEL_VALUE), {
      type: "map of text",
      description:
        "Zone labels of your own: the UUID or name of a host or pool, and the label. The entry of a host goes before " +
        "that of its pool. Without an entry, `zoneLabelFrom` decides. If several hosts or several pools have the " +
        "same name, an entry with this name counts for none of them, and their Nodes keep their labels.",
    }),
    regions: setting(ownNames(REGION_VALUE), {
      type: "map of text",
      description:
        "Region labels of your own: the UUID or name of a pool, and the label. Without an entry the region is the " +
        "pool's UUID. Names count as in `zones`.",
    }),
    nodeLabelsFromTags: v.optional(
      v.object(
        {
          prefixes: setting(prefixes(), {
            type: "list of text",
            default: "[]",
            description:
              "VM tags of the form `key=value` become Node labels when the key begins with " +
              "one of these prefixes. The " +
              "label has the whole key. Landfall removes it when the tag is removed, and never changes a label " +
              "that it did not set. It refuses keys of Kubernetes, of Xen Orchestra and of `landfall.dev/`.",
          }),
        },
        need(BLOCK),
      ),
    ),
    instanceTypeTag: setting(v.string(needText), {
      type: "text",
      description:
        "Prefix of a VM tag. The text after it is the instance type. For a VM without such a tag Landfall computes " +
        "the type, for example `4vCPU-8GB`.",
    }),
    pools: setting(names(), {
      type: "list of text",
      description:
        "UUIDs or names of the pools whose Nodes this Landfall manages, if another Landfall in the same cluster " +
        "manages the others. A name counts after Xen Orchestra has shown the pool, a UUID always. " +
        "Landfall still reads every pool. Default: all pools.",
    }),
  },
  need(BLOCK),
);

/** Keys whose value is a block. */
const BLOCKS = ["addresses", "nodeLabelsFromTags", "regions", "zones"];

/** What a file says. A key that is not set is absent. */
type FileSettings = v.InferOutput<typeof SCHEMA>;

const { addresses, nodeLabelsFromTags, ...plain } = SCHEMA.entries;

/** Every setting, in the order of the reference page. */
export const SETTINGS: readonly SettingDescription[] = [
  ...describeBlock(plain),
  ...describeBlock(addresses.wrapped.entries, "addresses."),
  ...describeBlock(nodeLabelsFromTags.wrapped.entries, "nodeLabelsFromTags."),
];

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
  const shape = parseShape(SCHEMA, merged, BLOCKS);
  const toIssue = (path: string, message: string): ConfigIssue => {
    const source = variables.get(path);
    return source === undefined ? { path, message } : { source, message };
  };
  issues.push(...shape.issues.map(({ path, message }) => toIssue(path, message)));
  issues.push(...listMissing(new Map(Object.entries(merged)), issues));
  const oddities = listOddities(shape.settings);
  const warnings = oddities.map(({ path, message }) => toIssue(path, message));
  const settings = shape.settings && toSettings(shape.settings);
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
  for (const { path, variable } of SETTINGS) {
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
  const { url, addresses, nodeLabelsFromTags, ...plain } = file;
  const credentials = toSignIn(file);
  if (url === undefined || credentials === undefined) return undefined;
  const leavesAddresses = addresses?.mode === "leave";
  return {
    url,
    insecure: plain.insecure ?? false,
    credentials,
    clientTimeoutMs: plain.clientTimeout || undefined,
    caFile: plain.caFile,
    certificateFingerprint: plain.certificateFingerprint,
    refreshIntervalMs: plain.refreshInterval ?? REFRESH_MS,
    addresses: {
      exclude: addresses?.exclude ?? [],
      externalCidrs: addresses?.externalCIDRs ?? [],
      mainIpAsExternal: addresses?.mainIpAsExternal ?? false,
      network: leavesAddresses ? undefined : addresses?.network,
    },
    leavesAddresses,
    zoneLabelFrom: plain.zoneLabelFrom ?? { kind: "host" },
    zones: plain.zones?.size ? plain.zones : undefined,
    regions: plain.regions?.size ? plain.regions : undefined,
    tagPrefixes: nodeLabelsFromTags?.prefixes?.length ? nodeLabelsFromTags.prefixes : undefined,
    instanceTypeTag: plain.instanceTypeTag,
    pools: plain.pools,
  };
}

function toSignIn(file: FileSettings): SignIn | undefined {
  const { token, tokenFile, username, password } = file;
  if (token !== undefined) return { kind: "token", token };
  if (tokenFile !== undefined) return { kind: "tokenFile", path: tokenFile };
  if (username === undefined || password === undefined) return undefined;
  return { kind: "password", username, password };
}

function names() {
  const problem = `${mustBe("a list of pools", "empty")}; leave the key out for all pools`;
  const name = v.pipe(text, v.trim(), v.nonEmpty(mustBe("a UUID or a name", "empty")));
  return v.pipe(v.array(name, need("a list, for example [paris]")), v.minLength(1, problem));
}

/**
 * Creates the schema of the timeout. `0` means the default, as in the Go controller. Other values must leave time for
 * an answer.
 */
function timeout() {
  const range = describeDurationRange(TIMEOUT_MS_MIN, TIMEOUT_MS_MAX, "30s");
  return parsed(
    (text) =>
      parseDurationWithin(text, 0, 0) ?? parseDurationWithin(text, TIMEOUT_MS_MIN, TIMEOUT_MS_MAX),
    `"0" for the default, or ${range}`,
  );
}

/** Creates the schema of a map by ID or name. IDs get the form that Xen Orchestra reports. */
function ownNames(value: v.GenericSchema<unknown, string>) {
  return v.pipe(
    v.record(v.pipe(v.string(), v.trim()), value, need("entries (UUID or name: label)")),
    v.transform(
      (names): ReadonlyMap<string, string> =>
        new Map(Object.entries(names).map(([key, label]) => [parseUuid(key) ?? key, label])),
    ),
  );
}

function prefixes() {
  const prefix = v.pipe(
    v.string(needText),
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? explainTagPrefix(dataset.value) : undefined;
      if (message !== undefined) addIssue({ message });
    }),
  );
  return v.array(prefix, need("a list, for example [example.com/]"));
}

function parseZoneSource(text: string): ZoneSource | undefined {
  if (text === "host" || text === "pool" || text === "none") return { kind: text };
  const [, prefix] = /^hostTag:(.+)$/.exec(text) ?? [];
  return prefix === undefined ? undefined : { kind: "hostTag", prefix };
}

const API = "/rest/v0";

/** Returns origin and path of a URL, without slash or `/rest/v0` at the end; `undefined` if it is not valid. */
export function parseUrl(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (url === null || explainUrl(text) !== undefined) return undefined;
  // Operators copy the address of the REST API. Landfall adds its path itself.
  const path = trimSlashes(url.pathname);
  return url.origin + (path.endsWith(API) ? trimSlashes(path.slice(0, -API.length)) : path);
}

/** Says what is wrong with a URL; `undefined` if nothing is. */
export function explainUrl(text: string): string | undefined {
  const trimmed = text.trim();
  const scheme = /^(?:([a-z][a-z\d+.-]*):\/\/|https?:)/i.exec(trimmed);
  if (scheme === null) return "has no scheme: begin it with https://";
  const socket = scheme[1]?.toLowerCase();
  if (socket === "ws" || socket === "wss") {
    return `is the address of a WebSocket: write ${socket === "ws" ? "http" : "https"}:// instead of ${socket}://`;
  }
  const url = URL.parse(trimmed);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    return mustBe("an address, for example https://xoa.example.com");
  }
  // A secret in a URL would appear in messages.
  if (url.username !== "" || url.password !== "") {
    return "holds a user or password (before the @): write them into username and password";
  }
  const [, page] = /\/(v[56])(?:\/|$)/.exec(url.pathname) ?? [];
  if (page !== undefined) {
    return `is copied from the web interface: remove /${page} and everything after it`;
  }
  if (text.includes("?")) return "holds a query (from the ? on): remove it";
  if (text.includes("#")) return "holds a fragment (from the # on): remove it";
  return undefined;
}

/** Returns a token without spaces around it; `undefined` if it is not valid. */
function parseToken(text: string): string | undefined {
  return explainToken(text) === undefined ? text.trim() : undefined;
}

/** Says what is wrong with a token, which must be valid in a cookie; `undefined` if nothing is. */
export function explainToken(text: string): string | undefined {
  const problem = explainSecret(text);
  if (problem !== undefined) return problem;
  const [wrong] = /[",;\\]/.exec(text) ?? [];
  return wrong === undefined ? undefined : `holds ${NAMES[wrong]}, which a token never does`;
}

const NAMES: Readonly<Record<string, string>> = {
  '"': "a quotation mark",
  ",": "a comma",
  ";": "a semicolon",
  "\\": "a backslash",
};
