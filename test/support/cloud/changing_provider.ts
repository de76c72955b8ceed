/**
 * A provider whose settings change while it works, as a changed settings file does it.
 * @module
 */
import type { Provider } from "../../../lib/cloud/provider.ts";
import type { ProviderDefinition, ProviderDeps } from "../../../lib/cloud/provider_definition.ts";
import { ProviderInUse } from "../../../lib/cloud/provider_in_use.ts";

/** What a test uses of a provider, and how it changes the settings. */
export interface ChangingProvider<S> {
  readonly provider: Provider;
  /** @throws {ConfigError} if the new settings cannot be used */
  change(settings: S): "sameCloud" | "otherCloud";
}

/** Creates a provider whose settings can change. */
export function createChanging<S>(
  definition: ProviderDefinition<S>,
  settings: S,
  deps: ProviderDeps,
): ChangingProvider<S> {
  const provider = new ProviderInUse(definition, settings, deps);
  return { provider, change: (next) => provider.replace(next) };
}
