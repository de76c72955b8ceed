/**
 * `landfall run`: keeps the Nodes of one cluster in step with their cloud until it is told to stop.
 * @module
 */
import { hostname } from "node:os";
import { runApp } from "../app/app.ts";
import type { Provider } from "../cloud/provider.ts";
import type { ConfigFile } from "../cloud/provider_definition.ts";
import { loadProviderConfig } from "../config/provider_config.ts";
import { systemClock } from "../core/clock.ts";
import { ConfigError, formatConfigIssue } from "../core/errors.ts";
import { createLogger, type Logger } from "../core/log.ts";
import { MetricsRegistry } from "../core/metrics.ts";
import { watchSignals } from "../host/signals.ts";
import { loadCredentials } from "../kube/credentials/mod.ts";
import { createKubeClient } from "../kube/http_client.ts";
import { findProvider, PROVIDERS } from "../providers/mod.ts";
import { parseFlags, type Settings } from "./flags.ts";
import { formatHelp } from "./help.ts";
import type { CommandContext } from "./command.ts";
import { VERSION } from "./version.ts";

/**
 * Runs the controllers.
 *
 * @returns Exit code 0, after SIGTERM or SIGINT
 * @throws {ConfigError} when flags, settings or credentials cannot be used
 */
export async function run(argv: readonly string[], context: CommandContext): Promise<number> {
  const { settings, warnings } = parseFlags(argv);
  if (settings.isHelpWanted) {
    context.print(formatHelp());
    return 0;
  }
  if (settings.isVersionWanted) {
    context.print(`landfall ${VERSION}\n`);
    return 0;
  }
  const clock = systemClock;
  const log = createLogger({
    format: settings.loggingFormat,
    level: settings.logLevel,
    write: context.complain,
    now: () => clock.now(),
  });
  for (const warning of warnings) log.warn("Flag", { warning });
  log.info("Landfall starts", { version: VERSION, provider: settings.cloudProvider });
  using stop = watchSignals();
  await serve(settings, { log, env: context.env, signal: stop.signal });
  log.info("Landfall stopped");
  return 0;
}

interface Serving {
  readonly log: Logger;
  readonly env: CommandContext["env"];
  readonly signal: AbortSignal;
}

async function serve(settings: Settings, { log, env, signal }: Serving): Promise<void> {
  const clock = systemClock;
  const metrics = new MetricsRegistry();
  // Controllers stop first and may still need the cloud then: the provider ends with the app.
  const ended = new AbortController();
  const provider = await createProvider(settings, { log, env, signal: ended.signal }, metrics);
  const { kubeconfig, master } = settings;
  const credentials = await loadCredentials({
    ...(kubeconfig ? { kubeconfig } : {}),
    ...(master ? { master } : {}),
    env,
    clock,
    log,
  });
  const client = createKubeClient({ credentials, clock, metrics, version: VERSION });
  const host = hostname();
  try {
    await runApp({ ...settings, provider, client, clock, log, metrics, host }, signal);
  } finally {
    ended.abort(signal.reason);
  }
}

async function createProvider(
  { cloudProvider, cloudConfig }: Settings,
  { log, env, signal }: Serving,
  metrics: MetricsRegistry,
): Promise<Provider> {
  const definition = findProvider(cloudProvider);
  if (definition === undefined) {
    const known = PROVIDERS.map(({ name }) => name).join(", ");
    const message = `there is no provider "${cloudProvider}": give one of ${known}`;
    throw new ConfigError([{ source: "--cloud-provider", message }]);
  }
  const config = await loadProviderConfig({
    ...(cloudConfig ? { path: cloudConfig } : {}),
    env,
    definition,
  });
  for (const warning of config.warnings) {
    log.warn("Provider settings", { warning: formatConfigIssue(warning) });
  }
  return definition.create(config.settings, {
    clock: systemClock,
    log,
    metrics,
    signal,
    ...(cloudConfig ? { configFile: toConfigFile(cloudConfig, env) } : {}),
  });
}

function toConfigFile(path: string, env: CommandContext["env"]): ConfigFile {
  return {
    path,
    reload: async (parser) => {
      const { settings } = await loadProviderConfig({ path, env, definition: parser });
      return settings;
    },
  };
}
