/**
 * docs/reference/config.md, from the settings of every cloud and of each provider.
 * @module
 */
import type {
  ProviderDefinition,
  SettingDescription,
} from "../../lib/cloud/provider_definition.ts";
import type { SettingsSection } from "../../lib/cloud/settings/section.ts";
import { YAML_SYNTAX } from "../../lib/config/yaml_syntax.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";

/**
 * Renders the page.
 *
 * @param providers The first is the default
 * @param common Sections that are the same whatever the provider
 */
export function renderConfigPage(
  providers: readonly Pick<ProviderDefinition, "name" | "docs" | "syntax" | "settings">[],
  common: readonly SettingsSection[],
): string {
  const names = new Set(providers.map(({ syntax = YAML_SYNTAX }) => syntax.name));
  const sections = providers.map(
    ({ name, docs: { title }, syntax = YAML_SYNTAX, settings }, index) => {
      const flag = toCode(`--cloud-provider=${name}`) + (index === 0 ? ", the default" : "");
      const heading = `${title.charAt(0).toUpperCase()}${title.slice(1)} (${flag})`;
      const form = names.size > 1 ? `A ${syntax.name} file.\n\n` : "";
      return `## ${heading}\n\n${form}${toSettingsTable(settings)}`;
    },
  );
  const file = `A ${[...names].join(" or ")} file`;
  return `${GENERATED_NOTE}

# Settings of the clouds

${file}, named with \`--cloud-config\`. Where a setting has an environment variable, the file wins over it, key by
key; without a file the environment is read alone. All problems are reported at once with their line and column, and the
program ends with code 2. A key that no setting has is such a problem, with what was probably meant: a misspelt switch
must not be off unseen. All keys of the Go controller are settings here. No secret is ever repeated in a message.

The file is followed while Landfall runs: a change is in use within 20 seconds, whatever it is about, and so is a change
of the files that it names within a minute. A change that is wrong is refused, with an Event (\`ConfigRefused\`) and a
log record that have every problem with its line, and the old settings stay in use. What is known of the machines stays,
unless \`url\` is another one: then it is as after a start. Environment variables are read at the start only.

${common.map(renderSection).join("\n")}
${sections.join("\n")}`;
}

function renderSection({ docs, settings }: SettingsSection): string {
  return `## ${docs.title}\n\n${docs.text}\n\n${toSettingsTable(settings)}`;
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
