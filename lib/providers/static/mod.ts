/**
 * The static provider: machines from an inventory file. Copy it to write another provider.
 * @module
 */
import type { ParsedConfig, ProviderDefinition } from "../../cloud/provider_definition.ts";
import { assert } from "../../core/errors.ts";
import { parseFile, SETTINGS, type StaticFile } from "./config_schema.ts";
import { STATIC_DOCS } from "./docs.ts";
import { StaticProvider } from "./provider.ts";

/** The static provider, for the registry. */
export const staticProvider: ProviderDefinition<StaticFile> = {
  name: "static",
  docs: STATIC_DOCS,
  settings: SETTINGS,
  parseConfig,
  create: (file, deps) =>
    new StaticProvider({ file, deps, parser: { settings: SETTINGS, parseConfig } }),
  reconfigure(provider, file) {
    assert(
      provider instanceof StaticProvider,
      "only a provider that was created here can be reconfigured here",
    );
    provider.reconfigure(file);
    return "sameCloud";
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
