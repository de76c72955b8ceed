/**
 * The static provider: machines from an inventory file. Copy it to write another provider.
 * @module
 */
import type { ProviderDefinition } from "../../cloud/provider_definition.ts";
import { ConfigError } from "../../core/errors.ts";
import { type StaticHandover, StaticProvider } from "./provider.ts";
import { parseConfig, SETTINGS, type StaticFile } from "./settings.ts";

/** The static provider, for the registry. */
export const staticProvider: ProviderDefinition<StaticFile, StaticHandover> = {
  name: "static",
  docs: {
    title: "inventory file",
    topology: { instanceType: "`type`", zone: "`zone`", region: "`region`" },
    providerId: {
      form: "static://<id>",
      meaning: "The instance of an inventory file; `scheme` changes the first word.",
    },
    example: { instances: [] },
  },
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
