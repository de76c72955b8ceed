/**
 * The section `deletion`: what must be so before a Node is deleted, whichever cloud its machine is in.
 * @module
 */
import { numberWithin, setting, duration, trueOrFalse, wholeNumber } from "../settings/schema.ts";
import { createSection, type SectionWarning, type SettingsSection } from "../settings/section.ts";
import { DEFAULT_DELETION, type DeletionSettings } from "./guard.ts";

const CONFIRMATIONS_MAX = 100;
const HOUR_MS = 3_600_000;
const HOLD_OFF_MS_MAX = 24 * HOUR_MS;
const FLEET_WINDOW_MS_MIN = 60_000;
const FLEET_WINDOW_MS_MAX = 24 * HOUR_MS;

/** Below these, a connection that blinks is told apart from machines that are gone by luck alone. */
const WISE = { confirmations: 3, holdOffMs: 60_000, fleetShareMax: 0.5 } as const;

const ENTRIES = {
  enabled: setting(trueOrFalse(), {
    type: "boolean",
    default: "true",
    description:
      "Whether Nodes are deleted whose machine is proven gone. `false` only reports what would be deleted.",
  }),
  confirmations: setting(wholeNumber(1, CONFIRMATIONS_MAX), {
    type: `whole number, 1 to ${CONFIRMATIONS_MAX}`,
    default: "3",
    description:
      "How many complete observations in a row must show the machine gone. One that fails, is incomplete or " +
      "shows the machine starts anew.",
  }),
  holdOff: setting(duration(0, HOLD_OFF_MS_MAX, "90s"), {
    type: "duration, `0s` to `24h`",
    default: "60s",
    description: "How long those observations must span at least.",
  }),
  fleetShare: setting(numberWithin(0, 1, "0.34 for a third"), {
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
  whileOtherPoolsAreLost: setting(trueOrFalse(), {
    type: "boolean",
    default: "false",
    description:
      "Whether a Node may be deleted while other pools (parts of the cloud) are lost. Its machine must have stayed " +
      "in its own pool for 2m30s after the other was lost and be missing for 10m. What remains possible is in " +
      "[why Landfall does not delete a Node](../explanation/deletion.md#while-another-pool-is-lost).",
  }),
};

/** The section of the guard. */
export const DELETION: SettingsSection<DeletionSettings> = createSection({
  key: "deletion",
  docs: {
    title: "Settings of every cloud",
    text: [
      "They stand in the same file, whatever `--cloud-provider` says. A Node is deleted when it is not Ready " +
        "and its machine",
      "is proven gone: by so many observations over so long a time, and by one direct confirmation of the " +
        "cloud at the end.",
      "Values that make this weaker than is wise are warned about.",
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
  }),
  listWarnings: listUnwise,
});

function listUnwise(settings: DeletionSettings): SectionWarning[] {
  // Who only reports risks nothing.
  if (!settings.enabled) return [];
  const why = "a connection of the cloud that blinks can look like absence for a minute";
  const warn = (key: keyof typeof ENTRIES, message: string): SectionWarning => ({ key, message });
  const warnings: SectionWarning[] = [];
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
