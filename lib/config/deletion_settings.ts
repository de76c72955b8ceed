/**
 * Settings of every cloud, whichever it is: `deletion`, what must be so before a Node is deleted.
 * @module
 */
import * as v from "valibot";
import { DEFAULT_DELETION } from "../cloud/deletion/guard.ts";
import type { DeletionSettings } from "../cloud/deletion/guard.ts";
import type { SettingDescription } from "../cloud/provider_definition.ts";
import { describeBlock, duration, setting } from "../cloud/settings/schema.ts";
import type { ConfigIssue } from "../core/errors.ts";

/** What a file says, parted into what every cloud has and what is the provider's own. */
export interface SplitConfig {
  /** The file without `deletion`, for the provider. */
  readonly rest: unknown;
  /** The defaults where the file says nothing, or something wrong. */
  readonly deletion: DeletionSettings;
  /** What is wrong below `deletion`, each with its `path`. */
  readonly issues: readonly ConfigIssue[];
  /** Settings that are weaker than is wise. */
  readonly warnings: readonly ConfigIssue[];
}

const KEY = "deletion";

const CONFIRMATIONS_MAX = 100;
const HOUR_MS = 3_600_000;
const HOLD_OFF_MS_MAX = 24 * HOUR_MS;
const FLEET_WINDOW_MS_MIN = 60_000;
const FLEET_WINDOW_MS_MAX = 24 * HOUR_MS;

/** Below these, a connection that blinks is told apart from machines that are gone by luck alone. */
const WISE = { confirmations: 3, holdOffMs: 60_000, fleetShareMax: 0.5 } as const;

const CONFIRMATIONS = `wanted a whole number from 1 to ${CONFIRMATIONS_MAX}, not in quotes`;
const SHARE = "wanted a number from 0 to 1, not in quotes, such as 0.34 for a third";

// Messages never repeat what was written: it may be a secret on the wrong line.
const SCHEMA = v.object({
  enabled: setting(v.boolean("wanted true or false"), {
    type: "boolean",
    default: "true",
    description:
      "Whether Nodes are deleted whose machine is proven gone. `false` only reports what would be deleted.",
  }),
  confirmations: setting(
    v.pipe(
      v.number(CONFIRMATIONS),
      v.integer(CONFIRMATIONS),
      v.minValue(1, CONFIRMATIONS),
      v.maxValue(CONFIRMATIONS_MAX, CONFIRMATIONS),
    ),
    {
      type: `whole number, 1 to ${CONFIRMATIONS_MAX}`,
      default: "3",
      description:
        "How many complete observations in a row must show the machine gone. One that fails, is incomplete or " +
        "shows the machine starts anew.",
    },
  ),
  holdOff: setting(duration(0, HOLD_OFF_MS_MAX, "90s"), {
    type: "duration, `0s` to `24h`",
    default: "60s",
    description: "How long those observations must span at least.",
  }),
  fleetShare: setting(v.pipe(v.number(SHARE), v.minValue(0, SHARE), v.maxValue(1, SHARE)), {
    type: "number, 0 to 1",
    default: "0.34",
    description:
      "Which share of the Nodes that there were a `fleetWindow` ago may be gone at once, those deleted since " +
      "included; one always may. If more are, none is deleted until fewer are or a person decides: it looks like " +
      "an outage.",
  }),
  fleetWindow: setting(duration(FLEET_WINDOW_MS_MIN, FLEET_WINDOW_MS_MAX, "90s"), {
    type: "duration, `1m` to `24h`",
    default: "10m",
    description: "For how long a deletion counts against `fleetShare`.",
  }),
  whileOtherPoolsAreLost: setting(v.boolean("wanted true or false"), {
    type: "boolean",
    default: "false",
    description:
      "Whether a Node may be deleted while other pools (parts of the cloud) are lost. Its machine must have stayed " +
      "in its own pool for 2m30s after the other was lost and be missing for 10m. What remains possible is in " +
      "[why Landfall does not delete a Node](../explanation/deletion.md#while-another-pool-is-lost).",
  }),
});

/** Every setting of this module, in the order of the reference page. */
export const DELETION_SETTINGS: readonly SettingDescription[] = describeBlock(
  SCHEMA.entries,
  `${KEY}.`,
);

/**
 * Takes `deletion` off what a file says, so that no provider has to know it. Never repeats a value.
 *
 * @param raw The file, parsed from YAML; `undefined` or `null` without one
 */
export function splitConfig(raw: unknown): SplitConfig {
  if (typeof raw !== "object" || raw === null || !Object.hasOwn(raw, KEY)) {
    return { rest: raw, deletion: DEFAULT_DELETION, issues: [], warnings: [] };
  }
  const entries = Object.entries(raw);
  const rest = Object.fromEntries(entries.filter(([key]) => key !== KEY));
  return { rest, ...parseDeletion(entries.find(([key]) => key === KEY)?.[1]) };
}

function parseDeletion(written: unknown): Omit<SplitConfig, "rest"> {
  // Templates leave keys behind that are there but empty: they count as not set.
  const raw = isEmpty(written) ? {} : written;
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    const message = "wanted settings under deletion (key: value)";
    return { deletion: DEFAULT_DELETION, issues: [{ path: KEY, message }], warnings: [] };
  }
  const given = Object.entries(raw).filter(([, value]) => !isEmpty(value));
  const result = v.safeParse(SCHEMA, Object.fromEntries(given));
  if (!result.success) {
    const issues = result.issues.map((issue) => ({
      path: `${KEY}.${v.getDotPath(issue) ?? ""}`,
      message: issue.message,
    }));
    return { deletion: DEFAULT_DELETION, issues, warnings: [] };
  }
  const { output } = result;
  const deletion: DeletionSettings = {
    enabled: output.enabled ?? DEFAULT_DELETION.enabled,
    confirmations: output.confirmations ?? DEFAULT_DELETION.confirmations,
    holdOffMs: output.holdOff ?? DEFAULT_DELETION.holdOffMs,
    fleetShare: output.fleetShare ?? DEFAULT_DELETION.fleetShare,
    fleetWindowMs: output.fleetWindow ?? DEFAULT_DELETION.fleetWindowMs,
    whileOtherPartsAreLost:
      output.whileOtherPoolsAreLost ?? DEFAULT_DELETION.whileOtherPartsAreLost,
  };
  return { deletion, issues: [], warnings: listUnwise(deletion) };
}

function listUnwise(settings: DeletionSettings): ConfigIssue[] {
  // Who only reports risks nothing.
  if (!settings.enabled) return [];
  const why = "a connection of the cloud that blinks can look like absence for a minute";
  const warn = (key: keyof typeof SCHEMA.entries, message: string): ConfigIssue => ({
    path: `${KEY}.${key}`,
    message,
  });
  const warnings: ConfigIssue[] = [];
  if (settings.confirmations < WISE.confirmations) {
    warnings.push(warn("confirmations", `fewer than ${WISE.confirmations} are unwise: ${why}`));
  }
  if (settings.holdOffMs < WISE.holdOffMs) {
    warnings.push(warn("holdOff", `less than ${WISE.holdOffMs / 1_000}s is unwise: ${why}`));
  }
  if (settings.fleetShare > WISE.fleetShareMax) {
    const risk = "most Nodes may then be deleted at once, which is what an outage looks like";
    warnings.push(warn("fleetShare", `more than ${WISE.fleetShareMax} is unwise: ${risk}`));
  }
  return warnings;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}
