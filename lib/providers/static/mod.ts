/**
 * The static provider: machines from an inventory file. Copy it to write another provider.
 * @module
 */
import type { ParsedConfig, ProviderDefinition } from "../../cloud/provider_definition.ts";
import { ConfigError } from "../../core/errors.ts";
import { parseFile, SETTINGS, type StaticFile } from "./config_schema.ts";
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

function parseConfig(raw: unknown): ParsedConfig<StaticFile> {
  if (raw === undefined || raw === null) {
    const message = "Cannot use the static provider: name its inventory file with --cloud-config";
    return { issues: [{ message }], warnings: [] };
  }
  const { file, issues } = parseFile(raw);
  return file === undefined ? { issues, warnings: [] } : { settings: file, issues, warnings: [] };
}
