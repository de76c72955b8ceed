/**
 * Which of the chosen controllers run with the cloud, for `landfall check`, and what it says about the others.
 * @module
 */
import type {
  MissingLoadBalancers,
  ProviderDefinition,
} from "../../../cloud/provider_definition.ts";
import type { SectionValues, SettingsSection } from "../../../cloud/settings/section.ts";
import type { Provider } from "../../../cloud/provider.ts";
import type { ControllerDefinition } from "../../../controllers/definition.ts";
import { fitControllers } from "../../../controllers/fitting.ts";
import { listIdleSettings } from "../../../controllers/load.ts";
import { requireProvider } from "../../../providers/mod.ts";
import type { CommandContext } from "../../command.ts";
import type { CheckFlags } from "../flags.ts";
import { addFindings, type CheckFinding, type SettingsStep } from "../report.ts";
import { listChosenService } from "./services.ts";
import type { CheckedSettings } from "../settings.ts";

/**
 * What the cloud's definition says about load balancers.
 *
 * @param definition Absent: no controller that runs needs the cloud. It still counts if the flags choose `service`
 */
export async function findMissing(
  definition: ProviderDefinition | undefined,
  options: Pick<CheckFlags, "settings" | "lacking"> & {
    readonly providers: CommandContext["providers"] | undefined;
  },
): Promise<MissingLoadBalancers | undefined> {
  const { settings, lacking, providers } = options;
  const isAsked = definition === undefined && lacking.has("service");
  const found = isAsked ? await requireProvider(settings.cloudProvider, providers) : definition;
  return found?.missingLoadBalancers;
}

/**
 * Leaves out controllers that need more of the cloud than it can do, and says so among the settings. Says there as well
 * that the flags choose a controller that Landfall lacks and the cluster may need.
 */
export function fit(
  chosen: readonly ControllerDefinition[],
  options: Pick<CheckFlags, "named" | "lacking"> &
    Pick<CheckedSettings, "step"> & {
      readonly sections?: SectionValues | undefined;
      readonly provider: Provider | undefined;
      readonly missing: MissingLoadBalancers | undefined;
      /** Every section that the file may have. */
      readonly known: readonly SettingsSection[];
    },
): { readonly fitting: readonly ControllerDefinition[]; readonly step: SettingsStep } {
  const { step, provider, named, lacking, missing, sections, known } = options;
  const services = missing ? listChosenService(missing, lacking) : [];
  if (provider === undefined) return { fitting: chosen, step: addFindings(step, services) };
  const { fitting, leftOut, refusals } = fitControllers(chosen, { provider, named, sections });
  const toFinding = (level: CheckFinding["level"], message: string): CheckFinding => {
    return { level, code: "capability", message, source: "--controllers" };
  };
  const findings = [
    ...services,
    ...refusals.map((why) => toFinding("failure", why)),
    ...leftOut.map((why) => toFinding("ok", `${why}, so it does not run`)),
    ...listIdleSettings(known, sections ?? new Map(), fitting).map((idle): CheckFinding => ({
      level: "warning",
      code: "settings",
      ...idle,
    })),
  ];
  return { fitting, step: addFindings(step, findings) };
}
