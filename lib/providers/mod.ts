/**
 * The clouds that Landfall knows: the only file to edit when one is added.
 * @module
 */
import type { ProviderDefinition } from "../cloud/provider_definition.ts";
import { staticProvider } from "./static/mod.ts";
import { xenOrchestra } from "./xenorchestra/mod.ts";

/** Every provider, in the order of the reference page. The first is the default. */
export const PROVIDERS: readonly ProviderDefinition[] = [xenOrchestra, staticProvider];

/** Finds a provider by its name; `undefined` when there is none of that name. */
export function findProvider(name: string): ProviderDefinition | undefined {
  return PROVIDERS.find((provider) => provider.name === name);
}
