/**
 * Settings of CloudStack. Messages name a setting as the INI file of the Apache provider does: `api-url`.
 * @module
 */
import * as v from "valibot";
import type { ParsedConfig } from "../../../cloud/provider_definition.ts";
import {
  BLOCK,
  describeBlock,
  dropEmpty,
  duration,
  fingerprint,
  need,
  needText,
  oneOf,
  parsed,
  parseShape,
  setting,
  type SettingDescription,
  type ShapeIssue,
  trueOrFalse,
} from "../../../cloud/settings/schema.ts";
import { explainOddSecret, explainSecret } from "../../../cloud/settings/secret_file.ts";
import type { Server } from "../../../cloud_http/client.ts";
import type { ConfigIssue } from "../../../core/errors.ts";
import { type Cidr, isLoopbackHost } from "../../../core/net/ip.ts";
import { mustBeSetting } from "../../../core/text/values.ts";
import { explainOddPath, explainUrl, parseKey, parseUrl } from "./ini_syntax.ts";
import { ADDRESS_SETTINGS } from "../../../cloud/settings/address_settings.ts";

/** The keys that sign requests, or their files. */
type SignIn =
  | { readonly kind: "pair"; readonly apiKey: string; readonly secretKey: string }
  | { readonly kind: "files"; readonly apiKeyFile: string; readonly secretKeyFile: string };

/** Everything that requests depend on. `url` is the whole address of the API. */
export interface Connection extends Server {
  readonly keys: SignIn;
}

/** Settings that can be used. Times in milliseconds. */
export interface CloudStackSettings extends Connection {
  /** UUID or name of the project; absent: the account's own VMs. */
  readonly project?: string;
  /** Region of every Node; absent: the zone of its VM. */
  readonly region?: string;
  /** Version of CloudStack; absent: what it says itself. */
  readonly version?: string;
  readonly refreshIntervalMs: number;
  readonly instanceTypeStyle: InstanceTypeStyle;
  readonly addresses: {
    readonly exclude: readonly Cidr[];
    readonly externalCidrs: readonly Cidr[];
    /** Name or UUID of the only network whose addresses count; absent: all networks. */
    readonly network?: string;
  };
  /** Whether Node addresses are never written. @default {false} */
  readonly leavesAddresses?: true;
  /** Whether an empty answer can be a part of a proof that a VM is gone. */
  readonly trustsEmptyAnswer: boolean;
}

const REFRESH_MS = 30_000;
/** No setting has an environment variable. */
const NO_FILE: ConfigIssue = {
  source: "--cloud-config",
  message:
    "required with --cloud-provider=external-cloudstack: the file with the settings of CloudStack",
};
/** How many levels of settings are below the first. */
const NESTED_MAX = 1;

/**
 * Reads the settings. Reports every problem, never a value.
 *
 * @param raw What the file says; `undefined` without one
 */
export function parseCloudStackConfig(raw: unknown): ParsedConfig<CloudStackSettings> {
  if (raw === undefined) return { issues: [NO_FILE], warnings: [] };
  const file = dropEmpty(raw ?? {}, NESTED_MAX);
  if (typeof file !== "object" || file === null || Array.isArray(file)) {
    return { issues: [{ message: mustBeSetting(BLOCK, file) }], warnings: [] };
  }
  const parsed = parseShape(SCHEMA, file, ["addresses", "deletion"]);
  const issues = [...parsed.issues, ...listMissing(new Map(Object.entries(file)))];
  const warnings = listOddities(parsed.settings);
  const settings = parsed.settings && toSettings(parsed.settings);
  return issues.length > 0 || !settings ? { issues, warnings } : { settings, issues, warnings };
}

function listMissing(file: ReadonlyMap<string, unknown>): ConfigIssue[] {
  const has = (key: string): boolean => file.has(key);
  const issues = listKeyIssues(has);
  if (!has("apiUrl")) {
    const message = "required: the address of CloudStack's API, such as https://<host>/client/api";
    issues.unshift({ path: "apiUrl", message, solvedBy: ["apiUrl"] });
  }
  if (file.get("sslNoVerify") === true && has("certificateFingerprint")) {
    const message = "not allowed together with certificate-fingerprint: choose one";
    issues.push({ path: "sslNoVerify", message });
  }
  return issues;
}

/** Exactly one pair: both keys, or both files. A key and a file could not change together. */
function listKeyIssues(has: (key: string) => boolean): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  for (const [path, name] of [
    ["apiKey", "api-key"],
    ["secretKey", "secret-key"],
  ] as const) {
    const [file, isFiles] = [`${path}File`, has("apiKeyFile") || has("secretKeyFile")];
    if (has(path) && has(file)) {
      issues.push({ path: file, message: `not allowed together with ${name}: choose one` });
    } else if (has(path) && isFiles) {
      const message =
        "not allowed together with the file of the other key: give both keys or both files";
      issues.push({ path, message });
    } else if (!has(path) && !has(file)) {
      const message = isFiles
        ? `required with the file of the other key: the file of the ${name.replace("-", " ")}`
        : `required, or its file in ${name}-file`;
      issues.push({ path: isFiles ? file : path, message, solvedBy: [path, file] });
    }
  }
  return issues;
}

/** Settings of Leaseweb's provider, and what Landfall does instead. */
const LEASEWEB = [
  ["apiRateLimitQps", "Landfall asks for all VMs together, and waits when CloudStack is busy"],
  ["apiRateLimitBurst", "Landfall asks for all VMs together, and waits when CloudStack is busy"],
  ["vmCacheTtl", "refresh-interval says how often Landfall lists the VMs"],
] as const;

function listOddities(settings: FileSettings = {}): ShapeIssue[] {
  const { apiUrl, sslNoVerify, caFile, certificateFingerprint, apiKey, secretKey } = settings;
  const warnings: ShapeIssue[] = [];
  const warn = (path: string, message: string | undefined): void => {
    if (message !== undefined) warnings.push({ path, message });
  };
  const url = URL.parse(apiUrl ?? "");
  if (url !== null) warn("apiUrl", explainOddPath(url.href));
  if (url?.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    warn("apiUrl", "with http, everyone on the network can read the answers; use https");
  }
  if (url?.protocol === "http:" && certificateFingerprint !== undefined) {
    const message = "has no effect with http, which has no certificate; use https";
    warn("certificateFingerprint", message);
  }
  if (sslNoVerify === true && caFile !== undefined) {
    warn("sslNoVerify", "ca-file has no effect with ssl-no-verify");
  }
  for (const [path, instead] of LEASEWEB) {
    if (settings[path] !== undefined) warn(path, `has no effect: ${instead}; remove it`);
  }
  warn("apiKey", explainOddSecret(apiKey ?? "", "the key", "api-key-file"));
  warn("secretKey", explainOddSecret(secretKey ?? "", "the key", "secret-key-file"));
  const { addresses } = settings;
  for (const key of Object.keys(addresses?.mode === "leave" ? (addresses ?? {}) : {})) {
    if (key !== "mode") warn(`addresses.${key}`, "has no effect with the mode leave");
  }
  return warnings;
}

function toSettings(file: FileSettings): CloudStackSettings | undefined {
  const keys = toSignIn(file);
  if (file.apiUrl === undefined || keys === undefined) return undefined;
  const { exclude = [], externalCIDRs = [], network } = file.addresses ?? {};
  const leavesAddresses = file.addresses?.mode === "leave";
  const { caFile, certificateFingerprint, projectId, region, version } = file;
  return {
    url: file.apiUrl,
    insecure: file.sslNoVerify ?? false,
    keys,
    ...(caFile === undefined ? {} : { caFile }),
    ...(certificateFingerprint === undefined ? {} : { certificateFingerprint }),
    ...(projectId === undefined ? {} : { project: projectId.trim() }),
    ...(region === undefined ? {} : { region }),
    ...(version === undefined ? {} : { version }),
    refreshIntervalMs: file.refreshInterval ?? REFRESH_MS,
    instanceTypeStyle: file.instanceTypeStyle ?? "squeezed",
    addresses: {
      exclude,
      externalCidrs: externalCIDRs,
      ...(network === undefined || leavesAddresses ? {} : { network }),
    },
    ...(leavesAddresses ? { leavesAddresses } : {}),
    trustsEmptyAnswer: file.deletion?.trustEmptyAnswer ?? true,
  };
}

function toSignIn({
  apiKey,
  secretKey,
  apiKeyFile,
  secretKeyFile,
}: FileSettings): SignIn | undefined {
  if (apiKey !== undefined && secretKey !== undefined) return { kind: "pair", apiKey, secretKey };
  if (apiKeyFile === undefined || secretKeyFile === undefined) return undefined;
  return { kind: "files", apiKeyFile, secretKeyFile };
}

/** How the instance type label is made of the name of a service offering. */
type InstanceTypeStyle = (typeof STYLES)[number];

const STYLES = ["squeezed", "sanitised"] as const;
const REFRESH_MS_MIN = 1_000;
const REFRESH_MS_MAX = 3_600_000;

const text = v.string(needText);

const OF_LEASEWEB =
  "Accepted because files of Leaseweb's provider may have it. No effect, with a warning.";

const SCHEMA = v.object(
  {
    apiUrl: setting(parsed(parseUrl, explainUrl), {
      type: "URL",
      description:
        "Whole address of CloudStack's API, usually `https://<host>/client/api`. Required.",
    }),
    apiKey: setting(parsed(parseKey, explainSecret), {
      type: "text",
      description:
        "API key of the account. `apiKey` and `secretKey`, or `apiKeyFile` and `secretKeyFile` are required.",
    }),
    secretKey: setting(parsed(parseKey, explainSecret), {
      type: "text",
      description: "Secret key that belongs to `apiKey`.",
    }),
    apiKeyFile: setting(text, {
      type: "path",
      description:
        "File that holds the API key. Both key files are read again when they change, and when CloudStack refuses " +
        "the keys. New keys count when both files have changed.",
    }),
    secretKeyFile: setting(text, {
      type: "path",
      description: "File that holds the secret key that belongs to `apiKeyFile`.",
    }),
    sslNoVerify: setting(trueOrFalse(), {
      type: "boolean",
      default: "false",
      description:
        "Accepts any certificate from any server. `certificateFingerprint` and `caFile` are the safe ways.",
    }),
    caFile: setting(text, {
      type: "path",
      description:
        "PEM file of the certificate authorities to trust, instead of the system's. Read again when it changes, " +
        "and when the server's certificate is not trusted.",
    }),
    certificateFingerprint: setting(fingerprint(), {
      type: "SHA-256 fingerprint",
      description:
        "Fingerprint that the server's certificate must have: a safe way to trust a self-signed certificate.",
    }),
    projectId: setting(text, {
      type: "text",
      description:
        "UUID or name of the project that holds the VMs. Default: the VMs of the account itself.",
    }),
    zone: setting(text, {
      type: "text",
      description:
        "Accepted because files of the Apache provider have it. No effect: a Node's zone is that of its VM.",
    }),
    apiRateLimitQps: setting(v.number(need("a number")), {
      type: "number",
      description: `${OF_LEASEWEB} Landfall asks for all VMs together, and waits when CloudStack says that it is busy.`,
    }),
    apiRateLimitBurst: setting(v.number(need("a number")), {
      type: "number",
      description: `${OF_LEASEWEB} See \`apiRateLimitQps\`.`,
    }),
    vmCacheTtl: setting(text, {
      type: "text",
      description: `${OF_LEASEWEB} \`refreshInterval\` says how often Landfall lists the VMs.`,
    }),
    region: setting(text, {
      type: "text",
      description: "Region label of every Node. Default: the zone of its VM.",
    }),
    version: setting(
      v.pipe(
        text,
        v.trim(),
        v.regex(
          /^\d+\.\d+(?:\.\d+){0,2}(?:-[A-Za-z\d.-]+)?$/,
          need("a version, for example 4.22.0.0"),
        ),
      ),
      {
        type: "version",
        description: "Version of CloudStack, such as `4.22.0.0`. Default: what CloudStack says.",
      },
    ),
    refreshInterval: setting(duration(REFRESH_MS_MIN, REFRESH_MS_MAX, "30s"), {
      type: "duration",
      default: "30s",
      description:
        "How often Landfall lists the VMs: one request for each 500 VMs, for any number of Nodes.",
    }),
    instanceTypeStyle: setting(oneOf(STYLES), {
      type: "`squeezed` or `sanitised`",
      default: "squeezed",
      description:
        "How the name of a service offering becomes the instance type label. `squeezed` drops every character except " +
        "letters and digits, as the Apache provider does. `sanitised` replaces those that a label cannot hold.",
    }),
    addresses: v.optional(v.object(ADDRESS_SETTINGS, need(BLOCK))),
    deletion: v.optional(
      v.object(
        {
          trustEmptyAnswer: setting(trueOrFalse(), {
            type: "boolean",
            default: "true",
            description:
              "Whether an empty answer to a question for one VM can be a part of the proof that it is gone. `false`: " +
              "only CloudStack's word that it never had such a VM, or no longer has it, is a proof.",
          }),
        },
        need(BLOCK),
      ),
    ),
  },
  need(BLOCK),
);

/** What a file may say, key by key; what is not set is absent. */
type FileSettings = v.InferOutput<typeof SCHEMA>;

/** Every setting, in the order of the reference page. */
export function describeSettings(): SettingDescription[] {
  const { addresses, deletion, ...plain } = SCHEMA.entries;
  return [
    ...describeBlock(plain),
    ...describeBlock(addresses.wrapped.entries, "addresses."),
    ...describeBlock(deletion.wrapped.entries, "deletion."),
  ];
}
