/**
 * Loads the settings of a cloud, and notices a file that is for another cloud than `--cloud-provider` names.
 * @module
 */
import type { ProviderDefinition, ProviderRegistry } from "../cloud/provider_definition.ts";
import type { SettingSyntax } from "../cloud/settings/schema.ts";
import { readConfigText } from "../config/config_text.ts";
import {
  chooseSyntax,
  listKeys,
  loadProviderConfig,
  type ProviderConfig,
  type ProviderConfigOptions,
} from "../config/provider_config.ts";
import { ConfigError, type ConfigIssue } from "../core/errors.ts";
import { loadProviders } from "../providers/mod.ts";

/** What to load, and for which cloud. */
interface CloudSettingsOptions extends ProviderConfigOptions<unknown> {
  readonly definition: ProviderDefinition;
  /** The clouds that can be chosen. @default {PROVIDERS} */
  readonly registry?: ProviderRegistry | undefined;
}

/**
 * Loads the settings.
 *
 * @throws {ConfigError} with every problem. If the file has the settings of another cloud, that comes first
 */
export async function loadCloudSettings(
  options: CloudSettingsOptions,
): Promise<ProviderConfig<unknown>> {
  try {
    return await loadProviderConfig(options);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const other = await findOtherCloud(options);
    if (other === undefined) throw error;
    const { hint, isSure } = other;
    throw new ConfigError(isSure ? [hint] : [hint, ...error.issues], { cause: error });
  }
}

interface OtherCloud {
  readonly hint: ConfigIssue;
  /** Whether the file has nothing of the cloud that was named: every other problem follows from that. */
  readonly isSure: boolean;
}

/** Another cloud is meant if it knows more keys of the file. Both may know some: clouds share settings. */
async function findOtherCloud({
  path = "",
  definition,
  registry,
}: CloudSettingsOptions): Promise<OtherCloud | undefined> {
  const text = await readOrNothing(path);
  if (text === undefined) return undefined;
  // Most clouds share a syntax, and a large file that is wrong takes long to read.
  const read = new Map<SettingSyntax, readonly string[]>();
  const count = async (one: ProviderDefinition): Promise<number> => {
    const syntax = chooseSyntax(text, one);
    const keys = read.get(syntax) ?? (await listKeys(text, one));
    read.set(syntax, keys);
    return countKnown(keys, one);
  };
  const own = await count(definition);
  let most = own;
  let meant: ProviderDefinition | undefined;
  for (const other of await loadProviders(registry)) {
    const known = await count(other);
    if (known > most) [most, meant] = [known, other];
  }
  if (meant === undefined) return undefined;
  const message =
    `is ${definition.name}, but ${path} has the settings of ${meant.name}; ` +
    `set --cloud-provider=${meant.name}`;
  return { hint: { source: "--cloud-provider", message }, isSure: own === 0 };
}

/** How many of the keys at the top of a file are settings of a cloud. */
function countKnown(keys: readonly string[], { settings }: ProviderDefinition): number {
  const known = new Set(settings.map(({ path }) => path.split(".")[0]));
  return keys.filter((key) => known.has(key)).length;
}

async function readOrNothing(path: string): Promise<string | undefined> {
  if (path === "") return undefined;
  try {
    return await readConfigText(path);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
