/**
 * The section `outOfService`: the conditions under which Landfall takes a Node out of service because its machine is
 * off.
 * @module
 */
import { duration, setting, wholeNumber } from "../settings/schema.ts";
import { createSection, type SectionWarning, type SettingsSection } from "../settings/section.ts";
import { DEFAULT_OUT_OF_SERVICE, type OutOfServiceSettings } from "./off_streaks.ts";

const CONFIRMATIONS_MAX = 100;
const GRACE_MS_MAX = 24 * 3_600_000;

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
    graceDuration: setting(duration(0, GRACE_MS_MAX, "30s"), {
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
  listWarnings: listRiskyValues,
});

function listRiskyValues({ graceMs, confirmations }: OutOfServiceSettings): SectionWarning[] {
  const why = "a machine that restarts is off for a moment";
  const warnings: SectionWarning[] = [];
  if (graceMs < DEFAULT_OUT_OF_SERVICE.graceMs) {
    const least = DEFAULT_OUT_OF_SERVICE.graceMs / 1_000;
    warnings.push({ key: "graceDuration", message: `less than ${least}s is not safe: ${why}` });
  }
  if (confirmations < DEFAULT_OUT_OF_SERVICE.confirmations) {
    const least = DEFAULT_OUT_OF_SERVICE.confirmations;
    warnings.push({ key: "confirmations", message: `fewer than ${least} are not safe: ${why}` });
  }
  return warnings;
}
