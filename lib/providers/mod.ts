/**
 * The clouds that Landfall knows: the only file to edit when one is added.
 * @module
 */
import type { ProviderDefinition } from "../cloud/provider_definition.ts";
import { ConfigError } from "../core/errors.ts";
import { staticProvider } from "./static/mod.ts";
import { xenOrchestra } from "./xenorchestra/mod.ts";

/** Every provider, in the order of the reference page. The first is the default. */
export const PROVIDERS: readonly ProviderDefinition[] = [xenOrchestra, staticProvider];

/**
 * The provider of that name.
 *
 * @param name As given by `--cloud-provider`
 * @throws {ConfigError} when there is none, with the names of those there are
 */
export function requireProvider(name: string): ProviderDefinition {
  const definition = PROVIDERS.find((provider) => provider.name === name);
  if (definition !== undefined) return definition;
  const known = PROVIDERS.map((provider) => provider.name).join(", ");
  const message = `there is no provider "${name}": give one of ${known}`;
  throw new ConfigError([{ source: "--cloud-provider", message }]);
}
