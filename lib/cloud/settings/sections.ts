/**
 * The sections of a settings file that every cloud has, besides the address pools: `nodes`, `deletion`, `outOfService`.
 * @module
 */
import {
  LABEL_SELECTOR_FORM,
  type LabelSelector,
  parseLabelSelector,
} from "../../core/text/label.ts";
import {
  createSection,
  duration,
  numberWithin,
  parsed,
  type SectionWarning,
  setting,
  type SettingsSection,
  trueOrFalse,
  wholeNumber,
} from "./schema.ts";
import { DEFAULT_DELETION, type DeletionSettings } from "../deletion/guard.ts";
import {
  DEFAULT_OUT_OF_SERVICE,
  type OutOfServiceSettings,
  type StreakSettings,
} from "../deletion/streak.ts";

/** The section `nodes`. */
export interface NodeSelection {
  /** The Nodes that Landfall manages. Empty: all. */
  readonly selector: LabelSelector;
}

/** The section of the Nodes. */
export const NODE_SELECTION: SettingsSection<NodeSelection> = createSection({
  key: "nodes",
  docs: {
    title: "Which Nodes Landfall manages",
    text: [
      "For a cluster in which some Nodes are not machines of this cloud, for example bare-metal Nodes. See [Nodes of",
      "another kind](../guides/configure.md#nodes-that-are-not-machines-of-this-cloud).",
    ].join("\n"),
  },
  entries: {
    selector: setting(parsed(parseLabelSelector, LABEL_SELECTOR_FORM), {
      type: "label selector",
      description:
        "Landfall manages only the Nodes whose labels match. It neither changes nor deletes any other Node, does not " +
        "ask the cloud about it and does not warn about it. The form is that of `kubectl get nodes --selector`, " +
        "without `>` and `<`. " +
        "Default: all Nodes.",
    }),
  },
  toSettings: ({ selector = [] }) => ({ selector }),
});

/** Most observations in a row that `deletion` and `outOfService` may ask for. */
const CONFIRMATIONS_MAX = 100;

/** Longest time that they may have to span, in milliseconds. */
const SPAN_MS_MAX: number = 24 * 3_600_000;

/** What is safe. */
interface SafeStreak {
  readonly least: StreakSettings;
  /** The key of the time that the observations span, in the settings file. */
  readonly spanKey: string;
  /** What goes wrong with less, for people, without a full stop. */
  readonly why: string;
}

const FLEET_WINDOW_MS_MIN = 60_000;
const FLEET_WINDOW_MS_MAX = 24 * 3_600_000;

/** With less than this, an interrupted connection can be mistaken for deleted machines. */
const SAFE: SafeStreak = {
  least: { confirmations: 3, holdOffMs: 60_000 },
  spanKey: "holdOff",
  why: "a short loss of the cloud's connection can look like deleted machines for a minute",
};
const SAFE_FLEET_SHARE_MAX = 0.5;

const ENTRIES = {
  enabled: setting(trueOrFalse(), {
    type: "boolean",
    default: "true",
    description:
      "Whether Landfall deletes Nodes whose machine is proven gone. `false`: it only reports what it would delete.",
  }),
  confirmations: setting(wholeNumber(1, CONFIRMATIONS_MAX), {
    type: `whole number, 1 to ${CONFIRMATIONS_MAX}`,
    default: "3",
    description:
      "How many complete observations in a row must show that the machine is gone. The count starts again after an " +
      "observation that fails, is incomplete or shows the machine.",
  }),
  holdOff: setting(duration(0, SPAN_MS_MAX, "90s"), {
    type: "duration, `0s` to `24h`",
    default: "60s",
    description: "The shortest time that those observations must span.",
  }),
  fleetShare: setting(numberWithin(0, 1, "0.34 for a third"), {
    type: "number, 0 to 1",
    default: "0.34",
    description:
      "The share of Nodes that may be gone at once, of those that existed a `fleetWindow` ago. Nodes deleted since " +
      "then count. One Node is always allowed. If more are gone, it looks like an outage: Landfall deletes none " +
      "until fewer are gone or you decide.",
  }),
  fleetWindow: setting(duration(FLEET_WINDOW_MS_MIN, FLEET_WINDOW_MS_MAX, "90s"), {
    type: "duration, `1m` to `24h`",
    default: "10m",
    description: "How long a deletion counts against `fleetShare`.",
  }),
  whileOtherPoolsAreLost: setting(trueOrFalse(), {
    type: "boolean",
    default: "false",
    description:
      "Whether Landfall may delete a Node while other pools (parts of the cloud) are lost. The machine must have " +
      "stayed in its own pool for 2m30s after the other was lost, and must be missing for 10m. The remaining risk is " +
      "described in " +
      "[why Landfall does not delete a Node](../explanation/deletion.md#while-another-pool-is-lost).",
  }),
  uninitializedNodes: setting(trueOrFalse(), {
    type: "boolean",
    default: "false",
    description:
      "Whether Landfall also deletes a Node that was never initialised, if its machine is proven gone. See " +
      "[such Nodes](../explanation/deletion.md#a-node-that-was-never-initialised).",
  }),
};

/** The section of the guard. */
export const DELETION: SettingsSection<DeletionSettings> = createSection({
  key: "deletion",
  docs: {
    title: "Settings of every cloud",
    text: [
      "These settings are in the same file for every `--cloud-provider`. Landfall deletes a Node when it is not",
      "Ready and its machine is proven gone: by `confirmations` observations over at least `holdOff`, and then by",
      "one direct request to the cloud. Landfall warns about values that are too weak to be safe.",
    ].join("\n"),
  },
  entries: ENTRIES,
  toSettings: (written) => ({
    enabled: written.enabled ?? DEFAULT_DELETION.enabled,
    confirmations: written.confirmations ?? DEFAULT_DELETION.confirmations,
    holdOffMs: written.holdOff ?? DEFAULT_DELETION.holdOffMs,
    fleetShare: written.fleetShare ?? DEFAULT_DELETION.fleetShare,
    fleetWindowMs: written.fleetWindow ?? DEFAULT_DELETION.fleetWindowMs,
    whileOtherPartsAreLost:
      written.whileOtherPoolsAreLost ?? DEFAULT_DELETION.whileOtherPartsAreLost,
    includesUninitialized: written.uninitializedNodes ?? DEFAULT_DELETION.includesUninitialized,
  }),
  listWarnings: listRiskyValues,
});

function listRiskyValues(settings: DeletionSettings): SectionWarning[] {
  // If Landfall deletes nothing, the other settings carry no risk.
  if (!settings.enabled) return [];
  const warnings = listRiskyStreak(settings, SAFE);
  if (settings.fleetShare > SAFE_FLEET_SHARE_MAX) {
    const risk = "Landfall may then delete most Nodes at once during an outage";
    const message = `more than ${SAFE_FLEET_SHARE_MAX} is not safe: ${risk}`;
    warnings.push({ key: "fleetShare", message });
  }
  return warnings;
}

const SAFE_OUT_OF_SERVICE: SafeStreak = {
  least: {
    confirmations: DEFAULT_OUT_OF_SERVICE.confirmations,
    holdOffMs: DEFAULT_OUT_OF_SERVICE.graceMs,
  },
  spanKey: "graceDuration",
  why: "a machine that restarts is off for a moment",
};

/** The section of the controller `cloud-node-out-of-service`. */
export const OUT_OF_SERVICE: SettingsSection<OutOfServiceSettings> = createSection({
  key: "outOfService",
  docs: {
    title: "When a Node is taken out of service",
    text: [
      "These settings apply while `cloud-node-out-of-service` runs. `--controllers` must name this controller. The",
      "fleet limit is that of `deletion`. See [what the controller does](../explanation/out-of-service.md).",
    ].join("\n"),
  },
  entries: {
    graceDuration: setting(duration(0, SPAN_MS_MAX, "30s"), {
      type: "duration, `0s` to `24h`",
      default: "30s",
      description:
        "How long the cloud must show a machine as off. A longer `--node-out-of-service-grace-period` wins.",
    }),
    confirmations: setting(wholeNumber(1, CONFIRMATIONS_MAX), {
      type: `whole number, 1 to ${CONFIRMATIONS_MAX}`,
      default: "2",
      description:
        "How many complete inventories in a row must show it as off. The count starts again after an inventory that " +
        "fails, is incomplete or shows any other state.",
    }),
  },
  toSettings: (written) => ({
    graceMs: written.graceDuration ?? DEFAULT_OUT_OF_SERVICE.graceMs,
    confirmations: written.confirmations ?? DEFAULT_OUT_OF_SERVICE.confirmations,
  }),
  listWarnings: ({ confirmations, graceMs }) =>
    listRiskyStreak({ confirmations, holdOffMs: graceMs }, SAFE_OUT_OF_SERVICE),
});

/** Warns of settings with which a streak is too short to be safe. */
function listRiskyStreak(
  { confirmations, holdOffMs }: StreakSettings,
  { least, spanKey, why }: SafeStreak,
): SectionWarning[] {
  const warnings: SectionWarning[] = [];
  if (confirmations < least.confirmations) {
    const message = `fewer than ${least.confirmations} are not safe: ${why}`;
    warnings.push({ key: "confirmations", message });
  }
  if (holdOffMs < least.holdOffMs) {
    const message = `less than ${least.holdOffMs / 1_000}s is not safe: ${why}`;
    warnings.push({ key: spanKey, message });
  }
  return warnings;
}
