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
 * @throws {ConfigError} when settings or credentials cannot be used
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
  const client = createCheckClient(await loadCheckedCredentials(settings, env));
  try {
    return await read({ provider, client, values });
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CloudError)) throw error;
    const message = `${error.message}; landfall check with the same flags says what to do`;
    throw new Error(message, { cause: error });
  } finally {
    client.close();
    ended.abort(new Error("it was read"));
  }
}
