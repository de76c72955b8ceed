/**
 * Form of the inventory file, and what the reference page says about it.
 * @module
 */
import * as v from "valibot";
import type { InstanceAddress } from "../../cloud/provider.ts";
import type { SettingDescription } from "../../cloud/provider_definition.ts";
import { toSettingForm } from "../../cloud/settings/form.ts";
import type { ConfigIssue } from "../../core/errors.ts";
import { describeDurationRange, parseDurationWithin } from "../../core/text/duration.ts";
import { parseIp } from "../../core/net/ip.ts";
import { isLabelKey, isLabelValue } from "../../core/text/label.ts";
import { isInstanceId, isScheme } from "./provider_id.ts";

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

/** An inventory file that can be used. */
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

const text = v.pipe(
  v.string("wanted text, in quotes if it looks like a number"),
  v.nonEmpty("wanted text that is not empty"),
);

/** Becomes a label, so it must be one. */
const labelled = v.pipe(
  text,
  v.check(
    isLabelValue,
    "wanted a label value: at most 63 of A-Z a-z 0-9 - _ . and a letter or digit at both ends",
  ),
);

const ADDRESS = v.pipe(
  v.object(
    {
      type: v.picklist(ADDRESS_TYPES, `wanted one of ${ADDRESS_TYPES.join(", ")}`),
      address: text,
    },
    "wanted type and address",
  ),
  v.forward(
    v.check(
      ({ type, address }) =>
        type.endsWith("IP") ? parseIp(address) !== undefined : HOST_NAME.test(address),
      ({ input }) => (input.type.endsWith("IP") ? "wanted an IP address" : "wanted a host name"),
    ),
    ["address"],
  ),
);

const LABELS = v.pipe(
  v.record(
    v.string(),
    v.string("wanted text, in quotes if it looks like a number or a boolean"),
    "wanted labels (key: value)",
  ),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    for (const [key, value] of Object.entries(dataset.value)) {
      const wrong = isLabelKey(key) ? "value" : "key";
      if (wrong === "value" && isLabelValue(value)) continue;
      addIssue({
        message: `this is not a label ${wrong} that Kubernetes accepts`,
        path: [{ type: "object", origin: "value", input: dataset.value, key, value }],
      });
    }
  }),
);

const INSTANCE = v.object(
  {
    id: v.pipe(text, v.check(isInstanceId, "wanted letters, digits, dots, dashes and underscores")),
    name: text,
    systemUUID: v.optional(v.pipe(text, v.trim(), v.toLowerCase())),
    type: v.optional(labelled),
    zone: v.optional(labelled),
    region: v.optional(labelled),
    state: v.optional(
      v.picklist(["running", "stopped", "deleted"], "wanted running, stopped or deleted"),
      "running",
    ),
    addresses: v.optional(v.array(ADDRESS, "wanted a list"), []),
    labels: v.optional(LABELS, {}),
  },
  "wanted an instance (id, name, …)",
);

const SCHEMA = v.object(
  {
    scheme: v.optional(
      v.pipe(text, v.check(isScheme, "wanted lower-case letters, digits, + . -, a letter first")),
      "static",
    ),
    region: v.optional(labelled),
    zone: v.optional(labelled),
    refreshInterval: v.optional(duration(), "10s"),
    instances: v.array(INSTANCE, "wanted a list of instances; an empty one is []"),
  },
  "wanted an inventory (instances: …)",
);

/**
 * Checks what a file says, all of it, repeated IDs and UUIDs included.
 *
 * @returns The file exactly when there are no issues
 */
export function parseFile(raw: unknown): { file?: StaticFile; issues: ConfigIssue[] } {
  const result = v.safeParse(SCHEMA, raw);
  const issues: ConfigIssue[] = (result.issues ?? []).map((issue) => ({
    path: v.getDotPath(issue) ?? "",
    message: isMissing(issue) ? "required" : issue.message,
  }));
  issues.push(...listRepeated(raw, "id"), ...listRepeated(raw, "systemUUID"));
  return result.success && issues.length === 0 ? { file: result.output, issues } : { issues };
}

/** Every setting, in the order of the reference page. */
export const SETTINGS: readonly SettingDescription[] = [
  ...describe("", SCHEMA.entries, {
    scheme: {
      type: "text",
      description:
        "What stands before `://` in provider IDs. Never change it in a living cluster; a running process refuses to.",
      default: "static",
    },
    region: { type: "label value", description: "Region of the instances that name none." },
    zone: { type: "label value", description: "Zone of the instances that name none." },
    refreshInterval: {
      type: "duration",
      description: "How often the file is looked at.",
      default: "10s",
    },
    instances: { type: "list", description: "The machines; an empty list is `[]`. Required." },
  }),
  ...describe("instances.", INSTANCE.entries, {
    id: {
      type: "text",
      description: "Identifier; becomes part of the provider ID. Required, unique.",
    },
    name: { type: "text", description: "Name, as the Node is called. Required." },
    systemUUID: {
      type: "text",
      description: "System UUID as the kubelet reports it, any case. Unique.",
    },
    type: { type: "label value", description: "Instance type." },
    zone: { type: "label value", description: "Zone." },
    region: { type: "label value", description: "Region." },
    state: {
      type: "`running`, `stopped` or `deleted`",
      description: "`deleted` proves that the machine is gone.",
      default: "running",
    },
    addresses: { type: "list", description: "Addresses, in the order the Node gets them." },
    labels: { type: "map", description: "Additional labels." },
  }),
  ...describe("instances.addresses.", ADDRESS.entries, {
    type: { type: ADDRESS_TYPES.map((one) => `\`${one}\``).join(", "), description: "Required." },
    address: { type: "IP address or host name", description: "Required." },
  }),
];

/** Every key of a block has its notes: what has none does not compile. */
function describe<K extends string>(
  above: string,
  entries: Readonly<Record<K, Entry>>,
  notes: Readonly<Record<NoInfer<K>, Notes>>,
): SettingDescription[] {
  const kinds = new Map(
    Object.entries<Entry>(entries).map(([key, { type, wrapped }]) => [key, wrapped?.type ?? type]),
  );
  return Object.entries<Notes>(notes).map(([key, one]) => ({
    path: above + key,
    form: toSettingForm(kinds.get(key) ?? ""),
    ...one,
  }));
}

type Notes = Omit<SettingDescription, "form" | "path">;

/** A schema, of which that of an optional key is wrapped. */
interface Entry {
  readonly type: string;
  readonly wrapped?: { readonly type: string };
}

function duration() {
  const message = describeDurationRange(REFRESH_MS_MIN, REFRESH_MS_MAX, "30s");
  return v.pipe(
    v.string(message),
    v.rawTransform(({ dataset, addIssue, NEVER }): number => {
      const ms = parseDurationWithin(dataset.value, REFRESH_MS_MIN, REFRESH_MS_MAX);
      if (ms !== undefined) return ms;
      addIssue({ message });
      return NEVER;
    }),
  );
}

/** Asked of the raw file, so that repetitions show together with everything else that is wrong. */
function listRepeated(raw: unknown, key: "id" | "systemUUID"): ConfigIssue[] {
  const seen = new Map<string, number>();
  const issues: ConfigIssue[] = [];
  for (const [index, entry] of toEntries(raw).entries()) {
    const value = readText(entry, key);
    if (value === undefined) continue;
    const known = key === "id" ? value : value.trim().toLowerCase();
    const first = seen.get(known);
    if (first === undefined) seen.set(known, index);
    else
      issues.push({
        path: `instances.${index}.${key}`,
        message: `is that of instances.${first} too`,
      });
  }
  return issues;
}

function toEntries(raw: unknown): readonly unknown[] {
  if (typeof raw !== "object" || raw === null || !("instances" in raw)) return [];
  return Array.isArray(raw.instances) ? raw.instances : [];
}

function readText(entry: unknown, key: string): string | undefined {
  if (typeof entry !== "object" || entry === null) return undefined;
  const value: unknown = Object.entries(entry).find(([name]) => name === key)?.[1];
  return typeof value === "string" ? value : undefined;
}

function isMissing(issue: v.BaseIssue<unknown>): boolean {
  return issue.kind === "schema" && issue.input === undefined;
}
