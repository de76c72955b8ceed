/**
 * Every setting of CloudStack: its form, and what the reference page says about it.
 * @module
 */
import * as v from "valibot";
import {
  BLOCK,
  describeBlock,
  duration,
  fingerprint,
  need,
  needText,
  parsed,
  type ParsedShape,
  parseShape,
  setting,
  type SettingDescription,
  trueOrFalse,
} from "../../../cloud/settings/schema.ts";
import { ADDRESS_SETTINGS, type FileAddresses } from "../../../cloud/settings/address_settings.ts";
import { explainSecret } from "../../../cloud/settings/secret_file.ts";
import { explainUrl, parseKey, parseUrl } from "./text_forms.ts";

/** How the instance type label is made of the name of a service offering. */
export type InstanceTypeStyle = (typeof STYLES)[number];

/** What a file may say, key by key; what is not set is absent. */
export interface FileSettings {
  readonly apiUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly secretKey?: string | undefined;
  readonly apiKeyFile?: string | undefined;
  readonly secretKeyFile?: string | undefined;
  readonly sslNoVerify?: boolean | undefined;
  readonly caFile?: string | undefined;
  readonly certificateFingerprint?: string | undefined;
  readonly projectId?: string | undefined;
  readonly zone?: string | undefined;
  readonly apiRateLimitQps?: number | undefined;
  readonly apiRateLimitBurst?: number | undefined;
  readonly vmCacheTtl?: string | undefined;
  readonly region?: string | undefined;
  readonly version?: string | undefined;
  readonly refreshInterval?: number | undefined;
  readonly instanceTypeStyle?: InstanceTypeStyle | undefined;
  readonly addresses?: FileAddresses | undefined;
  readonly deletion?: { readonly trustEmptyAnswer?: boolean | undefined } | undefined;
}

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
    instanceTypeStyle: setting(v.picklist(STYLES, need("squeezed or sanitised")), {
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

/** Checks everything that a file says, without nulls. */
export function parseFileSettings(raw: unknown): ParsedShape<FileSettings> {
  return parseShape(SCHEMA, raw, ["addresses", "deletion"]);
}

/** Every setting, in the order of the reference page. */
export function describeSettings(): SettingDescription[] {
  const { addresses, deletion, ...plain } = SCHEMA.entries;
  return [
    ...describeBlock(plain),
    ...describeBlock(addresses.wrapped.entries, "addresses."),
    ...describeBlock(deletion.wrapped.entries, "deletion."),
  ];
}
