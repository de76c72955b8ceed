/**
 * The static provider: machines from an inventory file. Copy it to write another provider.
 * @module
 */
import type { ProviderDefinition } from "../../cloud/provider_definition.ts";
import { ConfigError } from "../../core/errors.ts";
import { parseConfig, SETTINGS, type StaticFile } from "./config_schema.ts";
import { STATIC_DOCS } from "./docs.ts";
import { type StaticHandover, StaticProvider } from "./provider.ts";

/** The static provider, for the registry. */
export const staticProvider: ProviderDefinition<StaticFile, StaticHandover> = {
  name: "static",
  docs: STATIC_DOCS,
  settings: SETTINGS,
  parseConfig,
  compare: () => "sameUser",
  create(file, deps, before) {
    const { scheme } = before?.from ?? file;
    if (scheme !== file.scheme) {
      const why = `existing provider IDs begin with "${scheme}"`;
      const message = `cannot change to "${file.scheme}" while Landfall runs: ${why}`;
      throw new ConfigError([{ path: "scheme", message }]);
    }
    return new StaticProvider({ file, deps, parser: { settings: SETTINGS, parseConfig } });
  },
};
