/**
 * The first step of `landfall check`: reads the settings, and creates the provider that they describe.
 * @module
 */
import type { Provider } from "../../cloud/provider.ts";
import type { ProviderDefinition, ProviderRegistry } from "../../cloud/provider_definition.ts";
import type { SectionValues, SettingsSection } from "../../cloud/settings/schema.ts";
import { SettingsFile } from "../../config/settings_file.ts";
import { toSectionParser } from "../../config/provider_config.ts";
import { systemClock } from "../../core/clock.ts";
import { ConfigError, type ConfigIssue } from "../../core/errors.ts";
import { Fence } from "../../core/fence.ts";
import { silentLogger } from "../../core/log.ts";
import { MetricsRegistry } from "../../core/metrics.ts";
import { type CheckFinding, type SettingsStep, toStatus } from "./report.ts";
import type { CommandContext } from "../command.ts";
import type { Settings } from "../flags/mod.ts";
import { loadCloudSettings } from "../load_settings.ts";

/** Where settings come from. */
export interface SettingsSources {
  /** Absent: no controller reads settings. */
  readonly definition?: ProviderDefinition | undefined;
  /** Whether a chosen controller needs the cloud; else only sections are read. */
  readonly hasCloud: boolean;
  /** What the file may have beside the provider's settings, as `parseProviderConfig()` takes them. */
  readonly sections: readonly SettingsSection[];
  readonly settings: Pick<Settings, "cloudProvider" | "cloudConfig">;
  /** Warnings about the flags. */
  readonly warnings: readonly string[];
  readonly env: CommandContext["env"];
  /** The clouds that could be chosen. @default {PROVIDERS} */
  readonly registry?: ProviderRegistry | undefined;
  /** Ends the provider. */
  readonly signal: AbortSignal;
}

/** The step, and what the settings give. */
export interface CheckedSettings {
  readonly step: SettingsStep;
  /** Absent when they cannot be used. */
  readonly provider?: Provider;
  /** Absent when they cannot be used, or no controller reads them. */
  readonly sections?: SectionValues;
}

/** Reads the settings as `run` does, and creates a provider that leaves nothing behind in the cloud. */
export async function checkSettings(sources: SettingsSources): Promise<CheckedSettings> {
  const { settings, env, signal, hasCloud, sections, registry } = sources;
  const { cloudConfig } = settings;
  const flags = sources.warnings.map((message) => toFinding("warning", { message }));
  if (sources.definition === undefined) {
    return { step: toStep(sources, [toGood(sources), ...flags]) };
  }
  const definition = hasCloud ? sources.definition : toSectionParser(sources.definition);
  const file = cloudConfig ? { path: cloudConfig } : {};
  try {
    const config = await loadCloudSettings({ ...file, env, definition, sections, registry });
    const odd = config.warnings.map((warning) => toFinding("warning", warning));
    const step = toStep(sources, [toGood(sources, config.syntax), ...flags, ...odd]);
    if (!hasCloud) return { step, sections: config.sections };
    const provider = await config.use(() =>
      definition.create(config.settings, {
        clock: systemClock,
        log: silentLogger,
        metrics: new MetricsRegistry(),
        signal,
        fence: new Fence(),
        isTransient: true,
        ...(cloudConfig ? { configFile: new SettingsFile(cloudConfig, env, sections) } : {}),
      }),
    );
    return { step, provider, sections: config.sections };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const found = error.issues.map((issue) =>
      toFinding(issue.isWarning ? "warning" : "failure", issue),
    );
    const findings = [...flags, ...found];
    return { step: toStep(sources, findings) };
  }
}

function toStep(
  { definition, settings, hasCloud }: SettingsSources,
  findings: readonly CheckFinding[],
): SettingsStep {
  const { cloudProvider, cloudConfig } = settings;
  return {
    status: toStatus(findings),
    ...(definition && hasCloud ? { provider: cloudProvider } : {}),
    ...(definition && cloudConfig ? { file: cloudConfig } : {}),
    findings,
  };
}

/** @param syntax The syntax of the file, if there was a choice */
function toGood({ definition, settings }: SettingsSources, syntax?: string): CheckFinding {
  const source = definition ? (settings.cloudConfig ?? "the environment") : "the command line";
  const message = syntax === undefined ? "can be used" : `can be used, read as ${syntax}`;
  return { level: "ok", code: "settings", message, source };
}

function toFinding(
  level: CheckFinding["level"],
  { isWarning: _level, ...issue }: ConfigIssue,
): CheckFinding {
  return { level, code: "settings", ...issue };
}
