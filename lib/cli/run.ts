/**
 * `landfall run`: runs the controllers of one cluster until it receives SIGTERM or SIGINT.
 * @module
 */
import { hostname } from "node:os";
import { Announcer, OWN_NAME, PROCESS_EVENTS, toOwnObject } from "../app/announcer.ts";
import { runApp } from "../app/app.ts";
import type { AppOptions } from "../app/options.ts";
import type { ProviderDefinition, ProviderRegistry } from "../cloud/provider_definition.ts";
import { ProviderInUse } from "../cloud/provider_in_use.ts";
import type { SettingsSection } from "../cloud/settings/schema.ts";
import { toSectionParser } from "../config/provider_config.ts";
import { SettingsFile } from "../config/settings_file.ts";
import {
  type ControllerDefinition,
  listIdleSettings,
  listLeases,
  listSections,
  loadControllers,
  type LoadedController,
  needsCloud,
  needsSections,
} from "../controllers/definition.ts";
import { fitControllers } from "../controllers/fitting.ts";
import { CONTROLLERS } from "../controllers/mod.ts";
import { systemClock } from "../core/clock.ts";
import { ConfigError, formatConfigIssue } from "../core/errors.ts";
import { Fence } from "../core/fence.ts";
import { createLogger, type Logger } from "../core/log.ts";
import { MetricsRegistry } from "../core/metrics.ts";
import { exportProcess } from "../host/process_metrics.ts";
import { readDescriptorLimit, toConnectionsMax } from "../host/descriptors.ts";
import { exportLog, type LogPipe } from "../host/log_pipe.ts";
import { createNotifier } from "../host/notify.ts";
import { releaseAfterWork } from "../host/runtime.ts";
import { watchSignals } from "../host/signals.ts";
import { loadCredentials } from "../kube/credentials/mod.ts";
import type { KubeClient } from "../kube/api/client.ts";
import { createKubeClient, type KubeClientOptions } from "../kube/api/http_client.ts";
import type { LeaseName } from "../kube/election/lease.ts";
import { type ElectionTimes, toElectionDeadlineMs } from "../kube/election/leader.ts";
import { createRequestMetrics, Recovery } from "../kube/api/request.ts";
import { requireProvider } from "../providers/mod.ts";
import { toOwnLease } from "./flags/election.ts";
import { parseFlags, type Settings } from "./flags/mod.ts";
import type { CommandContext } from "./command.ts";
import { loadCloudSettings } from "./load_settings.ts";
import type { OtherLeaderOptions } from "./other_leader.ts";
import { VERSION } from "./version.ts";

/**
 * Runs the controllers.
 *
 * @returns Exit code 0, after SIGTERM or SIGINT
 * @throws {ConfigError} when flags, settings or credentials cannot be used
 */
export async function run(argv: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseFlags(argv, context.controllers);
  const { settings, warnings, configz, named, given } = parsed;
  if (settings.isHelpWanted) {
    // Imported only here: a running process never needs it.
    const { printHelp } = await import("./help.ts");
    return await printHelp(context, "run");
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
  const { env, logPipe, providers, controllers: registry = CONTROLLERS } = context;
  logPipe?.onLost((lines) =>
    log.warn("Log lines were dropped here: the reader was too slow", { lines }),
  );
  for (const warning of warnings) log.warn("Flag", { warning });
  const chosen = registry.filter(({ name }) => settings.controllers.has(name));
  const hasCloud = needsCloud(chosen);
  const provider = hasCloud ? settings.cloudProvider : undefined;
  log.info("Landfall starts", { version: VERSION, provider });
  using stop = watchSignals();
  const isFileRead = hasCloud || (settings.cloudConfig !== undefined && needsSections(chosen));
  const definition = isFileRead
    ? await requireProvider(settings.cloudProvider, providers)
    : undefined;
  const { signal } = stop;
  const sections = listSections(registry);
  const file = definition && { definition, hasCloud, sections, registry: providers };
  const lease = { ...toOwnLease(given), isNamed: given.has("leader-elect-resource-name") };
  const serving = { log, logPipe, env, signal, chosen, named, lease, ...(file && { file }) };
  await serve({ ...settings, configz }, serving);
  log.info("Landfall stopped");
  return 0;
}

interface Serving {
  readonly log: Logger;
  readonly logPipe?: LogPipe | undefined;
  readonly env: CommandContext["env"];
  /** Absent if no controller reads settings. */
  readonly file?: FileReading;
  /** The controllers to run. */
  readonly chosen: readonly ControllerDefinition[];
  /** Names of those that `--controllers` names itself, not only by `*`. */
  readonly named: ReadonlySet<string>;
  /** The Lease of the flags, and whether a flag names it, as in the manifests. */
  readonly lease: LeaseName & { readonly isNamed: boolean };
  readonly signal: AbortSignal;
}

/** How to read the settings file. */
interface FileReading {
  /** The provider of the file. */
  readonly definition: ProviderDefinition;
  /** Whether a controller needs the cloud. If none does, only sections are read. */
  readonly hasCloud: boolean;
  readonly sections: readonly SettingsSection[];
  /** The clouds that could be chosen. @default {PROVIDERS} */
  readonly registry: ProviderRegistry | undefined;
}

async function serve(
  { election, ...settings }: Omit<Settings, "controllers"> & Pick<AppOptions, "configz">,
  { log, logPipe, env, file, signal, chosen, named, lease }: Serving,
): Promise<void> {
  const clock = systemClock;
  const metrics = new MetricsRegistry();
  exportProcess(metrics, clock);
  exportLog(metrics, logPipe);
  // Controllers stop first and may still need the cloud: the provider stops with the app.
  const ended = new AbortController();
  const serving = { log, env, signal: ended.signal };
  const cloud = file
    ? await readSettings(settings, { ...serving, file }, metrics)
    : { announcer: new Announcer(toOwnObject(env, OWN_NAME)) };
  const { kubeconfig, master } = settings;
  const [controllers, credentials] = await Promise.all([
    loadControllers(requireFitting(chosen, { ...cloud, named, log, known: file?.sections ?? [] })),
    loadCredentials({
      ...(kubeconfig ? { kubeconfig } : {}),
      ...(master ? { master } : {}),
      env,
      clock,
      log,
    }),
  ]);
  const recovery = new Recovery();
  const requestMetrics = createRequestMetrics(metrics);
  const shared = { credentials, clock, metrics: requestMetrics, version: VERSION, recovery };
  const client = createKubeClient(shared);
  // A process without controllers serves only its pages. Its Lease would lock out a process that works.
  const isElected = election !== undefined && controllers.length > 0;
  const elected = isElected && { ...election, client: createElectionClient(shared, election) };
  const notifier = createNotifier({ env, clock, log });
  const descriptors = readDescriptorLimit();
  const limits = descriptors && { connectionsMax: toConnectionsMax(descriptors) };
  const parts = { ...cloud, ...limits, client, clock, log, metrics, host: hostname() };
  const options = {
    ...settings,
    ...parts,
    controllers,
    recovery,
    ...(notifier && { notifier }),
    ...(elected && { election: elected }),
  };
  const other = { own: lease, isElected, client, clock, log };
  const looking = lookForOther(other, { file, controllers, isNamed: lease.isNamed }, ended.signal);
  const releasing = releaseAfterWork(clock, AbortSignal.any([signal, ended.signal]));
  try {
    await Promise.all([runApp(options, signal), looking, releasing]);
  } finally {
    ended.abort(signal.reason);
  }
}

/** Only a process that was started by hand needs it: the manifests name the Lease and wait for it. */
async function lookForOther(
  options: Omit<OtherLeaderOptions, "definition" | "kinds">,
  { file, controllers, isNamed }: OwnChoice,
  signal: AbortSignal,
): Promise<void> {
  const { own, isElected } = options;
  if (controllers.length === 0) return;
  const definitions = controllers.map(({ definition }) => definition);
  const kinds = listLeases(definitions, own.name).filter((name) => name !== own.name);
  const isCloudKnown = file?.hasCloud === true && !(isElected && isNamed);
  if (!isCloudKnown && (isElected || kinds.length === 0)) return;
  const { warnOfOtherLeader } = await import("./other_leader.ts");
  const found = isCloudKnown && { definition: file.definition };
  await warnOfOtherLeader({ ...options, kinds, ...found }, signal);
}

interface OwnChoice {
  readonly file: FileReading | undefined;
  readonly controllers: readonly LoadedController[];
  /** Whether a flag names the Lease of the process. */
  readonly isNamed: boolean;
}

/** The controllers that can run with this cloud. @throws {ConfigError} if a named one cannot */
function requireFitting(
  chosen: readonly ControllerDefinition[],
  options: Pick<Serving, "log" | "named"> &
    Pick<AppOptions, "provider" | "sections"> & { readonly known: readonly SettingsSection[] },
): readonly ControllerDefinition[] {
  const { provider, named, sections, known, log } = options;
  if (provider === undefined) return chosen;
  const fitted = fitControllers(chosen, { provider, named, sections });
  const { fitting, leftOut, useless, refusals } = fitted;
  if (refusals.length > 0) {
    throw new ConfigError(refusals.map((message) => ({ source: "--controllers", message })));
  }
  for (const one of leftOut) log.info("A controller does not run", { ...one });
  for (const why of useless) log.warn("A controller can do nothing", { why });
  for (const idle of listIdleSettings(known, sections ?? new Map(), fitting)) {
    log.warn("Cloud settings", { warning: formatConfigIssue(idle) });
  }
  return fitting;
}

function createElectionClient(shared: KubeClientOptions, times: ElectionTimes): KubeClient {
  const deadlineMs = toElectionDeadlineMs(times);
  return createKubeClient({ ...shared, component: "leader-election", deadlineMs });
}

/** The settings of `--cloud-config`, and the cloud that they describe, if there is one. */
type Configured = Pick<
  AppOptions,
  "announcer" | "configuration" | "fence" | "provider" | "sections"
>;

async function readSettings(
  { cloudConfig }: Pick<Settings, "cloudConfig">,
  {
    log,
    env,
    file,
    signal,
  }: Pick<Serving, "env" | "log" | "signal"> & { readonly file: FileReading },
  metrics: MetricsRegistry,
): Promise<Configured> {
  const { hasCloud, sections, registry } = file;
  const definition = hasCloud ? file.definition : toSectionParser(file.definition);
  const configFile = cloudConfig ? new SettingsFile(cloudConfig, env, sections) : undefined;
  const path = cloudConfig ?? "";
  const config = await loadCloudSettings({ path, env, definition, sections, registry });
  // Without a choice there is nothing to say.
  if (config.syntax) log.info("Read the settings", { path, syntax: config.syntax });
  for (const warning of config.warnings) {
    log.warn("Cloud settings", { warning: formatConfigIssue(warning) });
  }
  const announcer = new Announcer(toOwnObject(env, hasCloud ? definition.name : OWN_NAME));
  const configuration = configFile && {
    path: configFile.path,
    env,
    definition,
    sections,
    current: { settings: config.settings, sections: config.sections },
  };
  const read = { announcer, sections: config.sections, ...(configuration && { configuration }) };
  if (!hasCloud) return read;
  const fence = new Fence();
  const provider = new ProviderInUse(definition, config.settings, {
    clock: systemClock,
    log,
    metrics,
    signal,
    fence,
    notify: ({ message }) => announcer.announce(PROCESS_EVENTS.credentialExpires, message),
    ...(configFile && { configFile }),
  });
  const replace = provider.replace.bind(provider);
  return {
    ...read,
    ...(configuration && { configuration: { ...configuration, replace } }),
    provider,
    fence,
  };
}
