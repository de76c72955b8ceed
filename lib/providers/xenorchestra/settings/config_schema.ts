/**
 * Every setting of Xen Orchestra: its form, and what the reference page says about it.
 * @module
 */
import * as v from "valibot";
import type { SettingDescription } from "../../../cloud/provider_definition.ts";
import {
  describeBlock,
  duration,
  NO_TEXT,
  parsed,
  setting,
} from "../../../cloud/settings/schema.ts";
import { describeDurationRange, parseDurationWithin } from "../../../core/text/duration.ts";
import { parseCidr, type Cidr } from "../../../core/net/ip.ts";
import { explainToken, explainUrl, parseToken, parseUrl } from "./text_forms.ts";

/** Where the zone of a Node comes from. */
export type ZoneSource =
  | { readonly kind: "host" }
  | { readonly kind: "pool" }
  | { readonly kind: "hostTag"; readonly prefix: string };

/** What a file may say, key by key; what is not set is absent. */
export interface FileSettings {
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
  readonly zoneLabelFrom?: ZoneSource | undefined;
  readonly instanceTypeTag?: string | undefined;
  readonly pools?: readonly string[] | undefined;
}

/** The `addresses` part of a file. */
export interface FileAddresses {
  readonly exclude?: readonly Cidr[] | undefined;
  readonly externalCIDRs?: readonly Cidr[] | undefined;
  readonly mainIpAsExternal?: boolean | undefined;
  readonly network?: string | undefined;
}

const REFRESH_MS_MIN = 1_000;
const REFRESH_MS_MAX = 3_600_000;
const TIMEOUT_MS_MIN = 100;
const TIMEOUT_MS_MAX = 600_000;

// Messages never repeat what was written: it may be a secret on the wrong line.
const text = v.string(NO_TEXT);
const flag = v.boolean("wanted true or false");

const SCHEMA = v.object(
  {
    url: setting(parsed(parseUrl, explainUrl), {
      type: "URL",
      variable: "XOA_URL",
      description:
        "Address of Xen Orchestra. A path is kept, but for `/rest/v0` at its end. Required.",
    }),
    insecure: setting(flag, {
      type: "boolean",
      default: "false",
      variable: "XOA_INSECURE",
      description:
        "Accepts any certificate, from anybody. `certificateFingerprint` or `caFile` are the safe ways.",
    }),
    token: setting(parsed(parseToken, explainToken), {
      type: "text",
      variable: "XOA_TOKEN",
      description:
        "Authentication token. One of `token`, `tokenFile`, or a user and password is required. Its end is warned of " +
        "14 days before; one whose client ID begins with `landfall-` is renewed instead.",
    }),
    tokenFile: setting(text, {
      type: "path",
      description:
        "File that holds a token such as `token`. Read again when it changes, and when the token is refused.",
    }),
    username: setting(text, {
      type: "text",
      variable: "XOA_USER",
      description:
        "User that gets itself a token, and renews it, with `password`. One of the two beside a token is " +
        "ignored, both are an error.",
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
      description: "How long one request may take, from `100ms` to `10m`. `0` means the default.",
    }),
    caFile: setting(text, {
      type: "path",
      description:
        "PEM file of the certificate authorities to trust, instead of the usual ones. Read again when it changes, " +
        "and when the server is not believed.",
    }),
    certificateFingerprint: setting(
      parsed(
        parseFingerprint,
        "wanted a SHA-256 fingerprint: 64 hexadecimal digits, colons allowed",
      ),
      {
        type: "SHA-256 fingerprint",
        description:
          "Fingerprint that the server's certificate must have. Makes the self-signed certificate that Xen Orchestra " +
          "generates for itself safe to trust.",
      },
    ),
    refreshInterval: setting(duration(REFRESH_MS_MIN, REFRESH_MS_MAX, "30s"), {
      type: "duration",
      default: "30s",
      description:
        "How often Xen Orchestra is asked for everything: three requests, five with `addresses.network`, " +
        "whatever the number of Nodes.",
    }),
    addresses: v.optional(
      v.object(
        {
          exclude: setting(cidrs(), {
            type: "list of CIDRs",
            default: "[]",
            description: "Addresses that never go on a Node, such as virtual IPs.",
          }),
          externalCIDRs: setting(cidrs(), {
            type: "list of CIDRs",
            default: "[]",
            description:
              "Addresses that are ExternalIP although they are not routable on the Internet.",
          }),
          mainIpAsExternal: setting(flag, {
            type: "boolean",
            default: "false",
            description:
              "Publishes the VM's main address, and no other, as ExternalIP, even if it is private or the kubelet's " +
              "node IP, as the Go controller does.",
          }),
          network: setting(text, {
            type: "text",
            description:
              "Name or UUID of the network whose addresses are used. Without it: all networks.",
          }),
        },
        "wanted settings under addresses (key: value)",
      ),
    ),
    zoneLabelFrom: setting(
      parsed(parseZoneSource, "wanted host, pool, or hostTag: and the prefix of a tag"),
      {
        type: "`host`, `pool` or `hostTag:<prefix>`",
        default: "host",
        description:
          "Where the zone comes from: the host's UUID, the pool's UUID, or what follows the prefix in a " +
          "tag of the host.",
      },
    ),
    instanceTypeTag: setting(text, {
      type: "text",
      description:
        "Prefix of a VM tag; what follows it is the instance type, instead of the computed one.",
    }),
    pools: setting(names(), {
      type: "list of text",
      description:
        "UUIDs or names of the pools whose Nodes are ours, when another Landfall in the same cluster has the others. " +
        "A name counts once the pool was shown, a UUID always. Every pool is asked all the same. Without it: all.",
    }),
  },
  "wanted settings (key: value)",
);

/** What is wrong with a value, and where. */
export interface ShapeIssue {
  readonly path: string;
  readonly message: string;
}

/**
 * Checks what a file says, all of it.
 *
 * @param raw An object without nulls
 * @returns The settings when all is well, and everything that is not
 */
export function parseFileSettings(raw: unknown): {
  settings?: FileSettings;
  issues: ShapeIssue[];
} {
  const result = v.safeParse(SCHEMA, raw);
  if (result.success) return { settings: result.output, issues: [] };
  const issues = result.issues.map((issue) => ({
    path: v.getDotPath(issue) ?? "",
    message: issue.message,
  }));
  return { issues };
}

/** Every setting, in the order of the reference page. */
export function describeSettings(): SettingDescription[] {
  const { addresses, ...plain } = SCHEMA.entries;
  return [...describeBlock(plain), ...describeBlock(addresses.wrapped.entries, "addresses.")];
}

function cidrs() {
  return v.array(
    parsed(parseCidr, "wanted an IP address or a CIDR such as 10.0.0.0/8"),
    "wanted a list",
  );
}

function names() {
  const problem = "wanted one at least; leave the key out for all";
  const name = v.pipe(text, v.trim(), v.nonEmpty("wanted a UUID or a name, found nothing"));
  return v.pipe(v.array(name, "wanted a list"), v.minLength(1, problem));
}

/** 0 stands for the default, as in the Go controller; anything else must leave time for an answer. */
function timeout() {
  const wanted = describeDurationRange(TIMEOUT_MS_MIN, TIMEOUT_MS_MAX, "30s");
  return parsed(
    (text) =>
      parseDurationWithin(text, 0, 0) ?? parseDurationWithin(text, TIMEOUT_MS_MIN, TIMEOUT_MS_MAX),
    `${wanted}, or "0", in quotes, for the default`,
  );
}

function parseFingerprint(text: string): string | undefined {
  const hex = text
    .trim()
    .replace(/^sha-?256( fingerprint)?[:=]/i, "")
    .replaceAll(":", "")
    .toLowerCase();
  return /^[0-9a-f]{64}$/.test(hex) ? hex : undefined;
}

function parseZoneSource(text: string): ZoneSource | undefined {
  if (text === "host" || text === "pool") return { kind: text };
  const [, prefix] = /^hostTag:(.+)$/.exec(text) ?? [];
  return prefix === undefined ? undefined : { kind: "hostTag", prefix };
}
