/**
 * The registry of clouds. To add a cloud, add one line here.
 * @module
 */
import type { ProviderDefinition, ProviderRegistry } from "../cloud/provider_definition.ts";
import { ConfigError } from "../core/errors.ts";
import { suggest } from "../core/text/edit_distance.ts";

/** Every provider, in the order of the reference page. */
export const PROVIDERS: ProviderRegistry = [
  { name: "xenorchestra", load: async () => (await import("./xenorchestra/mod.ts")).xenOrchestra },
  { name: "static", load: async () => (await import("./static/mod.ts")).staticProvider },
  {
    name: "external-cloudstack",
    aliases: ["cloudstack"],
    load: async () => (await import("./cloudstack/mod.ts")).cloudStack,
  },
];

/**
 * Loads the provider with this name, and no other.
 *
 * @param name Value of `--cloud-provider`
 * @throws {ConfigError} if there is none; the message lists the known names
 */
export async function requireProvider(
  name: string,
  registry: ProviderRegistry = PROVIDERS,
): Promise<ProviderDefinition> {
  const entry = registry.find(
    (provider) => provider.name === name || provider.aliases?.includes(name),
  );
  if (entry !== undefined) return await entry.load();
  const names = registry.map((provider) => provider.name);
  const message = `unknown provider "${name}"${suggest(name, names)} (known: ${names.join(", ")})`;
  throw new ConfigError([{ source: "--cloud-provider", message }]);
}

/** Loads all providers in order, for the documents. */
export async function loadProviders(
  registry: ProviderRegistry = PROVIDERS,
): Promise<readonly ProviderDefinition[]> {
  return await Promise.all(registry.map((provider) => provider.load()));
}
