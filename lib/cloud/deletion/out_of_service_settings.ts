/**
 * The section `outOfService`: the conditions under which Landfall takes a Node out of service because its machine is
 * off.
 * @module
 */
import { duration, setting, wholeNumber } from "../settings/schema.ts";
import { createSection, type SettingsSection } from "../settings/section.ts";
import { DEFAULT_OUT_OF_SERVICE, type OutOfServiceSettings } from "./off_streaks.ts";
import {
  CONFIRMATIONS_MAX,
  listRiskyStreak,
  type SafeStreak,
  SPAN_MS_MAX,
} from "./streak_settings.ts";

const SAFE: SafeStreak = {
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
    listRiskyStreak({ confirmations, holdOffMs: graceMs }, SAFE),
});
