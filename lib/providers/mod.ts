/**
 * The clouds that Landfall knows: the only file to edit when one is added.
 * @module
 */
import type { ProviderDefinition, ProviderRegistry } from "../cloud/provider_definition.ts";
import { ConfigError } from "../core/errors.ts";

/** Every provider, in the order of the reference page. */
export const PROVIDERS: ProviderRegistry = [
  { name: "xenorchestra", load: async () => (await import("./xenorchestra/mod.ts")).xenOrchestra },
  { name: "static", load: async () => (await import("./static/mod.ts")).staticProvider },
];

/**
 * Loads the provider of that name, and no other.
 *
 * @param name As given by `--cloud-provider`
 * @throws {ConfigError} when there is none, with the names of those there are
 */
export async function requireProvider(
  name: string,
  registry: ProviderRegistry = PROVIDERS,
): Promise<ProviderDefinition> {
  const entry = registry.find((provider) => provider.name === name);
  if (entry !== undefined) return await entry.load();
  const known = registry.map((provider) => provider.name).join(", ");
  const message = `there is no provider "${name}": give one of ${known}`;
  throw new ConfigError([{ source: "--cloud-provider", message }]);
}

/** Loads all of them, in their order: for documents, which tell of each. */
export async function loadProviders(
  registry: ProviderRegistry = PROVIDERS,
): Promise<readonly ProviderDefinition[]> {
  return await Promise.all(registry.map((provider) => provider.load()));
}
