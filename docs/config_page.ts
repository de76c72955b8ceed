/**
 * docs/reference/config.md, from the settings of each provider.
 * @module
 */
import type { ProviderDefinition, SettingDescription } from "../lib/cloud/provider_definition.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";

const TITLES: Readonly<Record<string, string>> = {
  xenorchestra: "Xen Orchestra (`--cloud-provider=xenorchestra`, the default)",
  static: "Inventory file (`--cloud-provider=static`)",
};

/** Renders the page. */
export function renderConfigPage(
  providers: readonly Pick<ProviderDefinition, "name" | "settings">[],
): string {
  const sections = providers.map(
    ({ name, settings }) => `## ${TITLES[name] ?? toCode(name)}\n\n${toSettingsTable(settings)}`,
  );
  return `${GENERATED_NOTE}

# Settings of the clouds

A YAML file, named with \`--cloud-config\`. Where a setting has an environment variable, the file wins over it, key by
key; without a file the environment is read alone. All problems are reported at once with their line and column, and the
program ends with code 2. Unknown keys are warned about. No secret is ever repeated in a message.

${sections.join("\n")}`;
}

function toSettingsTable(settings: readonly SettingDescription[]): string {
  const rows = settings.map(({ path, type, default: fallback, variable, description }) => [
    toCode(path),
    type,
    toCode(fallback),
    toCode(variable),
    description,
  ]);
  return toTable(["key", "type", "default", "environment", "what it does"], rows);
}
