/**
 * Schema of every setting of Xen Orchestra, with the text of the reference page.
 * @module
 */
import * as v from "valibot";
import type { SettingDescription } from "../../../cloud/settings/syntax.ts";
import {
  ADDRESS_SETTINGS,
  type FileAddresses as CommonAddresses,
} from "../../../cloud/settings/address_settings.ts";
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
} from "../../../cloud/settings/schema.ts";
import { describeDurationRange, parseDurationWithin } from "../../../core/text/duration.ts";
import { mustBe } from "../../../core/text/must_be.ts";
import { type FileLabelSettings, LABEL_SETTINGS } from "./label_settings.ts";
import { explainToken, explainUrl, parseToken, parseUrl } from "./text_forms.ts";

/** The content of a file, by key. A key that is not set is absent. */
export interface FileSettings extends FileLabelSettings {
  readonly url?: string | undefined;
  readonly insecure?: boolean | undefined;
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly clientTimeout?: number | undefined;
  readonly caFile?: string | undefined;
  readonly certificateFingerprint?: string | undefined;
  readonly refreshInterval?: number | undefined;
  readonly addresses?: FileAddresses | undefined;
  readonly pools?: readonly string[] | undefined;
}

/** The block `addresses` of a file. */
interface FileAddresses extends CommonAddresses {
  readonly mainIpAsExternal?: boolean | undefined;
}

const REFRESH_MS_MIN = 1_000;
const REFRESH_MS_MAX = 3_600_000;
const TIMEOUT_MS_MIN = 100;
const TIMEOUT_MS_MAX = 600_000;

const text = v.string(needText);
/** The settings of Xen Orchestra alone come before the network. */
const { network, ...usual } = ADDRESS_SETTINGS;
const flag = v.boolean(need("true or false"));

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
    ...LABEL_SETTINGS,
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

/** Checks everything that a file says, without nulls. */
export function parseFileSettings(raw: unknown): ParsedShape<FileSettings> {
  return parseShape(SCHEMA, raw, ["addresses", "nodeLabelsFromTags", "regions", "zones"]);
}

/** Every setting, in the order of the reference page. */
export function describeSettings(): SettingDescription[] {
  const { addresses, nodeLabelsFromTags, ...plain } = SCHEMA.entries;
  return [
    ...describeBlock(plain),
    ...describeBlock(addresses.wrapped.entries, "addresses."),
    ...describeBlock(nodeLabelsFromTags.wrapped.entries, "nodeLabelsFromTags."),
  ];
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
