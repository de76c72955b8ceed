/**
 * Which of the chosen controllers run with the cloud, for `landfall check`, and what it says about the others.
 * @module
 */
import type { SectionValues, SettingsSection } from "../../../cloud/settings/schema.ts";
import type { Provider } from "../../../cloud/provider.ts";
import { type ControllerDefinition, listIdleSettings } from "../../../controllers/definition.ts";
import { fitControllers } from "../../../controllers/fitting.ts";
import type { CheckFlags } from "../flags.ts";
import { addFindings, type CheckFinding, type SettingsStep } from "../report.ts";
import type { CheckedSettings } from "../settings.ts";

/**
 * Leaves out controllers that need more of the cloud than it can do. Says among the settings which ones it left out,
 * and which ones it takes to run.
 */
export function fit(
  chosen: readonly ControllerDefinition[],
  options: Pick<CheckFlags, "named"> &
    Pick<CheckedSettings, "step"> & {
      readonly sections?: SectionValues | undefined;
      readonly provider: Provider | undefined;
      /** Every section that the file may have. */
      readonly known: readonly SettingsSection[];
    },
): { readonly fitting: readonly ControllerDefinition[]; readonly step: SettingsStep } {
  const { step, provider, named, sections, known } = options;
  if (provider === undefined) return { fitting: chosen, step };
  const fitted = fitControllers(chosen, { provider, named, sections });
  const { fitting, leftOut, useless, refusals } = fitted;
  const place = { code: "capability", source: "--controllers" };
  const findings = [
    toAssumption(fitting, named),
    ...[...refusals, ...useless].map((message): CheckFinding => ({
      level: "failure",
      ...place,
      message,
    })),
    ...leftOut.map(({ why, ...more }): CheckFinding => ({
      level: "ok",
      ...place,
      message: why,
      ...more,
    })),
    ...listIdleSettings(known, sections ?? new Map(), fitting).map((idle): CheckFinding => ({
      level: "warning",
      code: "settings",
      ...idle,
    })),
  ];
  return { fitting, step: addFindings(step, findings) };
}

/** A check asks no running process: without the flag, it takes the default, which the chart and manifests change. */
function toAssumption(
  fitting: readonly ControllerDefinition[],
  named: CheckFlags["named"],
): CheckFinding {
  const names = fitting.map(({ name }) => name).join(", ") || "no controllers";
  const advice = "if the Landfall of the cluster runs others, give check its --controllers";
  return {
    level: "ok",
    code: "controllers",
    message: `this check is for ${names}`,
    source: "--controllers",
    ...(named.size === 0 && { advice }),
  };
}
