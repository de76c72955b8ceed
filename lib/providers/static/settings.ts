/**
 * Schema of the inventory file, with the text of the reference page.
 * @module
 */
import * as v from "valibot";
import type { InstanceAddress } from "../../cloud/instance.ts";
import type { ParsedConfig } from "../../cloud/provider_definition.ts";
import {
  describeBlock,
  duration,
  need,
  needText,
  oneOf,
  required,
  setting,
  type SettingDescription,
} from "../../cloud/settings/schema.ts";
import type { ConfigIssue } from "../../core/errors.ts";
import { parseIp } from "../../core/net/ip.ts";
import { isFields, mustBeSetting } from "../../core/text/values.ts";
import { isLabelKey, isLabelValue, LABEL_VALUE_FORM } from "../../core/text/label.ts";

/** One instance of an inventory file. */
export interface StaticEntry {
  readonly id: string;
  readonly name: string;
  /** Lower case. */
  readonly systemUUID?: string | undefined;
  readonly type?: string | undefined;
  readonly zone?: string | undefined;
  readonly region?: string | undefined;
  readonly state: "running" | "stopped" | "deleted";
  readonly addresses: readonly InstanceAddress[];
  readonly labels: Readonly<Record<string, string>>;
}

/** A valid inventory file. */
export interface StaticFile {
  readonly scheme: string;
  readonly region?: string | undefined;
  readonly zone?: string | undefined;
  /** Milliseconds. */
  readonly refreshInterval: number;
  readonly instances: readonly StaticEntry[];
}

const REFRESH_MS_MIN = 1_000;
const REFRESH_MS_MAX = 3_600_000;
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i;
const ADDRESS_TYPES = [
  "InternalIP",
  "ExternalIP",
  "Hostname",
  "InternalDNS",
  "ExternalDNS",
] as const;

const STATES = ["running", "stopped", "deleted"] as const;

const ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const ID_LENGTH_MAX = 253;
/** What is valid before `://`. */
const SCHEME = /^[a-z][a-z0-9+.-]*$/;

const ID_FORM = `at most ${ID_LENGTH_MAX} letters, digits, ".", "_" or "-", with a letter or digit at both ends`;

/** Whether a text can be the ID of an instance: letters, digits, `.`, `_` and `-`, at most 253 characters. */
export function isInstanceId(text: string): boolean {
  return text.length <= ID_LENGTH_MAX && ID.test(text);
}

const text = v.pipe(v.string(needText), v.nonEmpty(mustBeSetting("text", "")));

/** This text becomes a label value, so it must be valid as one. */
const labelled = v.pipe(text, v.check(isLabelValue, need(LABEL_VALUE_FORM)));

const ADDRESS = v.pipe(
  v.object(
    {
      type: required(oneOf(ADDRESS_TYPES), {
        type: ADDRESS_TYPES.map((one) => `\`${one}\``).join(", "),
        description: "Required.",
      }),
      address: required(text, { type: "IP address or host name", description: "Required." }),
    },
    need("a block with type and address"),
  ),
  v.forward(
    v.check(
      ({ type, address }) =>
        type.endsWith("IP") ? parseIp(address) !== undefined : HOST_NAME.test(address),
      ({ input: { type, address } }) =>
        mustBeSetting(type.endsWith("IP") ? "an IP address" : "a host name", address),
    ),
    ["address"],
  ),
);

const LABELS = v.pipe(
  v.record(v.string(), v.string(needText), need("labels (key: value)")),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const [key, value] of Object.entries(dataset.value)) {
      if (isLabelKey(key) && isLabelValue(value)) continue;
      addIssue({
        message: isLabelKey(key)
          ? mustBeSetting(LABEL_VALUE_FORM, value)
          : "this is not a label key that Kubernetes accepts",
        path: [{ type: "object", origin: "value", input: dataset.value, key, value }],
      });
    }
  }),
);

const INSTANCE = v.object(
  {
    id: required(v.pipe(text, v.check(isInstanceId, need(ID_FORM))), {
      type: "text",
      description: "Identifier, part of the provider ID. Required, unique.",
    }),
    name: required(text, { type: "text", description: "Name of the Node. Required." }),
    systemUUID: setting(v.pipe(text, v.trim(), v.toLowerCase()), {
      type: "text",
      description: "System UUID as the kubelet reports it, in upper or lower case. Unique.",
    }),
    type: setting(labelled, { type: "label value", description: "Instance type." }),
    zone: setting(labelled, { type: "label value", description: "Zone." }),
    region: setting(labelled, { type: "label value", description: "Region." }),
    state: v.optional(
      required(oneOf(STATES), {
        type: "`running`, `stopped` or `deleted`",
        description:
          "With `deleted`, the machine is gone: its Node is deleted, unless it is Ready.",
        default: "running",
      }),
      "running",
    ),
    addresses: v.optional(
      required(v.array(ADDRESS, need("a list")), {
        type: "list",
        description: "Addresses, in the order in which a new Node gets them.",
      }),
      [],
    ),
    labels: v.optional(required(LABELS, { type: "map", description: "Additional labels." }), {}),
  },
  need("an instance (id, name, …)"),
);

const SCHEMA = v.object(
  {
    scheme: v.optional(
      required(
        v.pipe(
          text,
          v.regex(SCHEME, need("lower-case letters, digits, + . -, with a letter first")),
        ),
        {
          type: "text",
          description:
            "The text before `://` in provider IDs. Never change it in a cluster with Nodes; a running Landfall " +
            "refuses the change.",
          default: "static",
        },
      ),
      "static",
    ),
    region: setting(labelled, {
      type: "label value",
      description: "Region of instances without `region`.",
    }),
    zone: setting(labelled, {
      type: "label value",
      description: "Zone of instances without `zone`.",
    }),
    refreshInterval: v.optional(
      required(duration(REFRESH_MS_MIN, REFRESH_MS_MAX, "30s"), {
        type: "duration",
        description: "How often Landfall checks the file for changes.",
        default: "10s",
      }),
      "10s",
    ),
    instances: required(v.array(INSTANCE, need("a list of instances; an empty one is []")), {
      type: "list",
      description: "The machines; an empty list is `[]`. Required.",
    }),
  },
  need("an inventory (instances: …)"),
);

/** Checks everything in a file, including repeated IDs and UUIDs. */
export function parseConfig(raw: unknown): ParsedConfig<StaticFile> {
  if (raw === undefined || raw === null) {
    const message =
      "there is no inventory: list the machines under instances, in the file that --cloud-config names";
    return { issues: [{ message }], warnings: [] };
  }
  const result = v.safeParse(SCHEMA, raw);
  const issues = (result.issues ?? []).map((issue): ConfigIssue => {
    const path = v.getDotPath(issue) ?? "";
    return isMissing(issue)
      ? { path, message: "required", solvedBy: [path] }
      : { path, message: issue.message };
  });
  issues.push(...listRepeated(raw, "id"), ...listRepeated(raw, "systemUUID"));
  const isGood = result.success && issues.length === 0;
  return { ...(isGood && { settings: result.output }), issues, warnings: [] };
}

/** Every setting, in the order of the reference page. */
export const SETTINGS: readonly SettingDescription[] = [
  ...describeBlock(SCHEMA.entries),
  ...describeBlock(INSTANCE.entries, "instances."),
  ...describeBlock(ADDRESS.entries, "instances.addresses."),
];

/** Reads the raw file, so that repetitions are reported even if there are other problems. */
function listRepeated(raw: unknown, key: "id" | "systemUUID"): ConfigIssue[] {
  const seen = new Map<string, number>();
  const issues: ConfigIssue[] = [];
  const listed = isFields(raw) ? raw["instances"] : undefined;
  const entries: readonly unknown[] = Array.isArray(listed) ? listed : [];
  for (const [index, entry] of entries.entries()) {
    const value = isFields(entry) ? entry[key] : undefined;
    if (typeof value !== "string") continue;
    const known = key === "id" ? value : value.trim().toLowerCase();
    const first = seen.get(known);
    if (first === undefined) seen.set(known, index);
    else
      issues.push({
        path: `instances.${index}.${key}`,
        message: `is also that of instances.${first}; change one of them`,
      });
  }
  return issues;
}

function isMissing(issue: v.BaseIssue<unknown>): boolean {
  return issue.kind === "schema" && issue.input === undefined;
}
