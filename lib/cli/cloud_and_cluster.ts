/**
 * Opens the cloud and the cluster, for commands that show something.
 * @module
 */
import { CloudError } from "../cloud/errors.ts";
import type { Provider } from "../cloud/provider.ts";
import type { ProviderRegistry } from "../cloud/provider_definition.ts";
import type { SectionValues, SettingsSection } from "../cloud/settings/schema.ts";
import { ConfigError } from "../core/errors.ts";
import type { KubeClient } from "../kube/api/client.ts";
import type { Credentials } from "../kube/credentials/credentials.ts";
import { requireProvider } from "../providers/mod.ts";
import { createCheckClient, loadCheckedCredentials } from "./check/kubernetes.ts";
import { checkSettings } from "./check/settings.ts";
import type { CommandContext } from "./command.ts";
import type { Settings } from "./flags/mod.ts";

/** What {@linkcode withCloudAndCluster} opens. */
export interface Sources {
  readonly settings: Pick<Settings, "cloudProvider" | "cloudConfig" | "kubeconfig" | "master">;
  readonly env: CommandContext["env"];
  readonly providers: ProviderRegistry | undefined;
  /** Sections of the settings file that controllers bring. */
  readonly sections: readonly SettingsSection[];
}

/** What can be asked, until the end. */
interface CloudAndCluster {
  readonly provider: Provider;
  readonly client: KubeClient;
  readonly values: SectionValues | undefined;
}

/**
 * Opens the cloud and the cluster, and closes both again.
 *
 * @throws {ConfigError} when flags or settings cannot be used
 * @throws {Error} when there are no credentials that can be used
 * @throws {KubeError} when the API server does not show what is asked for
 * @throws {Error} when the cloud does not answer
 * @throws the signal's reason
 */
export async function withCloudAndCluster<T>(
  { settings, env, providers, sections }: Sources,
  signal: AbortSignal,
  read: (found: CloudAndCluster) => Promise<T>,
): Promise<T> {
  const definition = await requireProvider(settings.cloudProvider, providers);
  const ended = new AbortController();
  const both = AbortSignal.any([signal, ended.signal]);
  const reading = { definition, hasCloud: true, sections, settings };
  const sources = { ...reading, warnings: [], env, registry: providers, signal: both };
  const { provider, step, sections: values } = await checkSettings(sources);
  if (provider === undefined) {
    throw new ConfigError(step.findings.filter(({ level }) => level === "failure"));
  }
  const client = createCheckClient(await loadUsable(settings, env));
  try {
    return await read({ provider, client, values });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CloudError)) throw error;
    throw toReferral(error);
  } finally {
    client.close();
    ended.abort(new Error("it was read"));
  }
}

/** Loads the credentials. A file that is no flag's fault is no wrong use. */
async function loadUsable(
  settings: Sources["settings"],
  env: CommandContext["env"],
): Promise<Credentials> {
  try {
    return await loadCheckedCredentials(settings, env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    if (error.issues.some(({ source = "" }) => source.startsWith("--"))) throw error;
    throw toReferral(error);
  }
}

function toReferral(error: Error): Error {
  const message = `${error.message}; landfall check with the same flags says what to do`;
  return new Error(message, { cause: error });
}
