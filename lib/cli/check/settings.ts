/**
 * The first step of `landfall check`: whether the settings can be used, and the cloud that they describe.
 * @module
 */
import type { Provider } from "../../cloud/provider.ts";
import type { ProviderDefinition } from "../../cloud/provider_definition.ts";
import { readConfigText } from "../../config/config_text.ts";
import { loadProviderConfig, placeIssues } from "../../config/provider_config.ts";
import { SettingsFile } from "../../config/settings_file.ts";
import { systemClock } from "../../core/clock.ts";
import { ConfigError, type ConfigIssue } from "../../core/errors.ts";
import { Fence } from "../../core/fence.ts";
import { silentLogger } from "../../core/log.ts";
import { MetricsRegistry } from "../../core/metrics.ts";
import { type CheckFinding, type SettingsStep, toStatus } from "./report.ts";
import type { CommandContext } from "../command.ts";
import type { Settings } from "../flags/mod.ts";

/** Where settings come from. */
export interface SettingsSources {
  /** Absent: no controller that runs needs a cloud. */
  readonly definition?: ProviderDefinition | undefined;
  readonly settings: Pick<Settings, "cloudProvider" | "cloudConfig">;
  /** What is odd about the flags. */
  readonly warnings: readonly string[];
  readonly env: CommandContext["env"];
  /** Ends the provider. */
  readonly signal: AbortSignal;
}

/** What became of the settings. */
export interface CheckedSettings {
  readonly step: SettingsStep;
  /** Absent when they cannot be used. */
  readonly provider?: Provider;
  /** Whether Nodes may be deleted. */
  readonly isDeletionEnabled: boolean;
}

/** Reads the settings as `run` does, and makes a provider of them that leaves nothing behind in the cloud. */
export async function checkSettings(sources: SettingsSources): Promise<CheckedSettings> {
  const { definition, settings, env, signal } = sources;
  const { cloudConfig } = settings;
  const flags = sources.warnings.map((message) => toFinding("warning", { message }));
  if (definition === undefined) {
    return { step: toStep(sources, [toGood(sources), ...flags]), isDeletionEnabled: false };
  }
  const file = cloudConfig ? { path: cloudConfig } : {};
  try {
    const config = await loadProviderConfig({ ...file, env, definition });
    const provider = definition.create(config.settings, {
      clock: systemClock,
      log: silentLogger,
      metrics: new MetricsRegistry(),
      signal,
      fence: new Fence(),
      isTransient: true,
      ...(cloudConfig ? { configFile: new SettingsFile(cloudConfig, env) } : {}),
    });
    const odd = config.warnings.map((warning) => toFinding("warning", warning));
    const findings = [toGood(sources), ...flags, ...odd];
    return {
      step: toStep(sources, findings),
      provider,
      isDeletionEnabled: config.deletion.enabled,
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const issues = await placeAll(error.issues, cloudConfig, definition);
    const found = issues.map((issue) => toFinding(issue.isWarning ? "warning" : "failure", issue));
    const findings = [...flags, ...found];
    return { step: toStep(sources, findings), isDeletionEnabled: true };
  }
}

function toStep(
  { definition, settings }: SettingsSources,
  findings: readonly CheckFinding[],
): SettingsStep {
  const { cloudProvider, cloudConfig } = settings;
  return {
    status: toStatus(findings),
    ...(definition ? { provider: cloudProvider } : {}),
    ...(definition && cloudConfig ? { file: cloudConfig } : {}),
    findings,
  };
}

function toGood({ definition, settings }: SettingsSources): CheckFinding {
  const source = definition ? (settings.cloudConfig ?? "the environment") : "the command line";
  return { level: "ok", code: "settings", message: "can be used", source };
}

function toFinding(
  level: CheckFinding["level"],
  { isWarning: _level, ...issue }: ConfigIssue,
): CheckFinding {
  return { level, code: "settings", ...issue };
}

/** A provider that cannot be made knows the paths of settings only; where they stand is to be looked up. */
async function placeAll(
  issues: readonly ConfigIssue[],
  path: string | undefined,
  definition: ProviderDefinition,
): Promise<readonly ConfigIssue[]> {
  if (!path || issues.every((issue) => issue.source !== undefined)) return issues;
  return await placeIssues(issues, { path, text: await readConfigText(path), definition });
}
