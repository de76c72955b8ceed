/**
 * Applies changes of the settings file to a running process, and reports whether it uses them.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { InventorySource } from "../cloud/inventory/source.ts";
import { findSettings, type SectionValues } from "../cloud/settings/schema.ts";
import { type ConfigOutcome, followConfig } from "../config/config_follower.ts";
import type { ProviderConfig } from "../config/provider_config.ts";
import {
  type ControllerDefinition,
  listIdleSettings,
  type RunningController,
} from "../controllers/definition.ts";
import { formatConfigIssue } from "../core/errors.ts";
import type { Gauge, MetricsRegistry } from "../core/metrics.ts";
import { PROCESS_EVENTS } from "./announcer.ts";
import type { AppOptions, Configuration } from "./options.ts";

type ReloadOptions = Pick<AppOptions, "announcer" | "clock" | "log" | "metrics">;

/** What takes changed settings. */
interface ReloadedParts {
  readonly cloud?: { readonly source: Pick<InventorySource, "requestRefresh"> };
  readonly controllers: readonly {
    readonly definition: Pick<ControllerDefinition, "section">;
    readonly controller: Pick<RunningController, "noteSettings" | "reconfigure">;
  }[];
  /** Takes the settings of all sections. Called before the controllers get them. */
  readonly noteSections?: (sections: SectionValues) => void;
}

/** Registers the gauge that says whether the process uses the current content of the file. */
export function createReloadMetric(metrics: MetricsRegistry): Gauge {
  return metrics.gauge({
    name: "landfall_config_last_reload_successful",
    help: "1 while Landfall uses the settings of the file, 0 while it refuses them; absent without a file.",
  });
}

/** Follows the file until the signal aborts; then returns. */
export async function followSettings(
  configuration: Configuration,
  options: ReloadOptions,
  { cloud, controllers, noteSections }: ReloadedParts,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = options;
  const success = createReloadMetric(options.metrics);
  const { path, replace } = configuration;
  success.set(1);
  let { sections, settings } = configuration.current;
  const apply = (config: ProviderConfig<unknown>): void => {
    // Landfall signs in to the cloud again only if the provider's own settings changed.
    const isCloudSame = isDeepStrictEqual(config.settings, settings);
    const isOtherCloud = !isCloudSame && replace?.(config.settings) === "otherCloud";
    noteSections?.(config.sections);
    for (const {
      definition: { section },
      controller,
    } of controllers) {
      const next = findSettings(section, config.sections);
      const isSame = isDeepStrictEqual(next, findSettings(section, sections));
      if (isOtherCloud || !isSame) controller.reconfigure?.(next, { isOtherCloud });
      controller.noteSettings?.();
    }
    const running = controllers.map(({ definition }) => definition);
    for (const idle of listIdleSettings(configuration.sections, config.sections, running)) {
      log.warn("Cloud settings", { warning: formatConfigIssue(idle) });
    }
    ({ sections, settings } = config);
    if (!isCloudSame) cloud?.source.requestRefresh(true);
  };
  const onOutcome = (outcome: ConfigOutcome): void => {
    success.set(outcome.kind === "refused" ? 0 : 1);
    tell(options, path, outcome);
  };
  await followConfig({ ...configuration, apply, onOutcome, clock }, signal);
}

function tell({ log, announcer }: ReloadOptions, path: string, outcome: ConfigOutcome): void {
  if (outcome.kind === "withdrawn") {
    log.info("The configuration file is valid again; its settings are in use", { path });
    return;
  }
  if (outcome.kind === "applied") {
    for (const warning of outcome.warnings) {
      log.warn("Cloud settings", { warning: formatConfigIssue(warning) });
    }
    log.info("The configuration file changed; its settings are in use", { path });
    announcer?.announce(PROCESS_EVENTS.configApplied, `The changed ${path} is in use`);
    return;
  }
  const problems = outcome.issues.map(formatConfigIssue);
  const message = "Cannot use the changed configuration file; keeping the old settings";
  log.warn(message, { path, problems });
  announcer?.announce(PROCESS_EVENTS.configRefused, `${message}: ${problems.join("; ")}`);
}
