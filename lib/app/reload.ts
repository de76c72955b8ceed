/**
 * Applies changes of the settings file to a running process, and reports whether it uses them.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { InventorySource } from "../cloud/inventory/source.ts";
import type { ConfigParser, Environment } from "../cloud/provider_definition.ts";
import type { ProviderInUse } from "../cloud/provider_in_use.ts";
import {
  findSettings,
  type SectionValues,
  type SettingsSection,
} from "../cloud/settings/section.ts";
import { type ConfigOutcome, followConfig } from "../config/config_follower.ts";
import type { ProviderConfig } from "../config/provider_config.ts";
import type { ControllerDefinition, RunningController } from "../controllers/definition.ts";
import { listIdleSettings } from "../controllers/load.ts";
import type { Clock } from "../core/clock.ts";
import { formatConfigIssue } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import type { Gauge, MetricsRegistry } from "../core/metrics.ts";
import { type Announcer, PROCESS_EVENTS } from "./announcer.ts";

/** The file of `--cloud-config`, and its content at the start. */
export interface Configuration {
  readonly path: string;
  /** Reads the file, as in {@linkcode followConfig}. */
  readonly read?: (path: string) => Promise<string>;
  readonly env: Environment;
  /** Parses the file. */
  readonly definition: ConfigParser<unknown>;
  /** Uses other settings of the cloud. Absent if the process has none: the file then has only sections for it. */
  readonly replace?: ProviderInUse["replace"];
  /** The sections that the file may have besides the provider's settings, as `parseProviderConfig()` takes them. */
  readonly sections: readonly SettingsSection[];
  readonly current: Pick<ProviderConfig<unknown>, "sections" | "settings">;
}

/** What {@linkcode runReload} needs. */
interface ReloadOptions {
  readonly configuration: Configuration;
  /** The inventory of the cloud. */
  readonly source?: Pick<InventorySource, "requestRefresh"> | undefined;
  readonly controllers: readonly {
    readonly definition: Pick<ControllerDefinition, "section">;
    readonly controller: Pick<RunningController, "reconfigure">;
  }[];
  /** Takes the settings of all sections. Called before the controllers get them. */
  readonly noteSections?: (sections: SectionValues) => void;
  readonly announcer?: Pick<Announcer, "announce"> | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** See {@linkcode createReloadMetric}. */
  readonly success: Gauge;
}

/** Registers the gauge that says whether the process uses the current content of the file. */
export function createReloadMetric(metrics: MetricsRegistry): Gauge {
  return metrics.gauge({
    name: "landfall_config_last_reload_successful",
    help: "1 while Landfall uses the settings of the file, 0 while it refuses them; absent without a file.",
  });
}

/** Follows the file until the signal aborts; then returns. */
export async function runReload(options: ReloadOptions, signal: AbortSignal): Promise<void> {
  const { configuration, clock, success } = options;
  const { definition: parser, current, replace, ...where } = configuration;
  success.set(1);
  let { sections, settings } = current;
  const apply = (config: ProviderConfig<unknown>): void => {
    const { source, controllers } = options;
    // Landfall signs in to the cloud again only if the provider's own settings changed.
    const isCloudSame = isDeepStrictEqual(config.settings, settings);
    const isOtherCloud = !isCloudSame && replace?.(config.settings) === "otherCloud";
    options.noteSections?.(config.sections);
    for (const {
      definition: { section },
      controller,
    } of controllers) {
      const next = findSettings(section, config.sections);
      const isSame = isDeepStrictEqual(next, findSettings(section, sections));
      if (isOtherCloud || !isSame) controller.reconfigure?.(next, { isOtherCloud });
    }
    const running = controllers.map(({ definition }) => definition);
    for (const idle of listIdleSettings(configuration.sections, config.sections, running)) {
      options.log.warn("Cloud settings", { warning: formatConfigIssue(idle) });
    }
    ({ sections, settings } = config);
    if (!isCloudSame) source?.requestRefresh(true);
  };
  const onOutcome = (outcome: ConfigOutcome): void => tell(options, outcome);
  await followConfig({ ...where, parser, current, apply, onOutcome, clock }, signal);
}

function tell({ configuration, ...options }: ReloadOptions, outcome: ConfigOutcome): void {
  const { log, announcer, success } = options;
  const { path } = configuration;
  success.set(outcome.kind === "refused" ? 0 : 1);
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
