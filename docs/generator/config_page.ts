/**
 * docs/reference/config.md, from the settings of every cloud and of each provider.
 * @module
 */
import type { ProviderDefinition } from "../../lib/cloud/provider_definition.ts";
import type { SettingDescription, SettingsSection } from "../../lib/cloud/settings/schema.ts";
import { YAML_SYNTAX } from "../../lib/config/yaml_syntax.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";

/**
 * Renders the page.
 *
 * @param providers The first is the default
 * @param common Sections that are the same for each provider
 */
export function renderConfigPage(
  providers: readonly Pick<ProviderDefinition, "name" | "docs" | "syntax" | "settings">[],
  common: readonly SettingsSection[],
): string {
  const names = new Set(providers.map(({ syntax = YAML_SYNTAX }) => syntax.name));
  const sections = providers.map(({ name, docs, syntax = YAML_SYNTAX, settings }, index) => {
    const { title, file = `A ${syntax.name} file.` } = docs;
    const flag = toCode(`--cloud-provider=${name}`) + (index === 0 ? ", the default" : "");
    const heading = `${title.charAt(0).toUpperCase()}${title.slice(1)} (${flag})`;
    const form = names.size > 1 ? `${file}\n\n` : "";
    return `## ${heading}\n\n${form}${toSettingsTable(settings)}`;
  });
  const file = `A ${[...names].join(" or ")} file`;
  return `${GENERATED_NOTE}

# Settings of the clouds

${file}, named with \`--cloud-config\`. Some settings also have an environment variable. The file wins over it,
key by key. Without a file, Landfall reads only the environment. All keys of the Go controller are settings here.

If something is wrong, Landfall reports all problems at once, with line and column, and exits with code 2. A key that no
setting has is a problem, too: otherwise a misspelt switch would be off unnoticed. The message names the key that you
probably meant. No message repeats a secret.

Landfall follows the file while it runs. It uses a change of the file within 20 seconds, and a change of the files that
it names within a minute. If a change is wrong, Landfall keeps the old settings, and writes a \`ConfigRefused\`
Event and a log record with every problem. It keeps what it knows of the machines, unless \`url\` changes: then it
begins as after a start. It reads environment variables only at the start.

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
