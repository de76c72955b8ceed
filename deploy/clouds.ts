/**
 * What manifests and chart have to know of each cloud, as its definition says it.
 * @module
 */
import type { ProviderDefinition, ProviderInstall } from "../lib/cloud/provider_definition.ts";
import { YAML_SYNTAX } from "../lib/config/yaml_syntax.ts";
import { assert } from "../lib/core/assert.ts";
import { loadProviders, PROVIDERS } from "../lib/providers/mod.ts";

/** What is read of a definition. */
export type Installable = Pick<ProviderDefinition, "name" | "settings" | "syntax" | "install">;

/** How a cloud is installed. */
export interface Cloud extends ProviderInstall {
  /** For `--cloud-provider`. */
  readonly name: string;
  /** File with its settings, and key of it in the Secret. */
  readonly file: string;
  /** Whether the chart takes its settings as text, for they are no YAML. */
  readonly isText: boolean;
}

/** Every cloud that can be chosen. */
export const DEFINITIONS: readonly Installable[] = await loadProviders();

/** The cloud that the manifests name, and the chart by itself: the default one. */
export const CLOUD: Cloud = toCloud(await PROVIDERS[0].load());

/** Whether the chart's `config` may be text: then it has no default, for Helm warns of text in the place of a table. */
export function isConfigText(definitions: readonly Installable[]): boolean {
  return definitions.some((one) => toCloud(one).isText);
}

/** How a cloud is installed. One that does not say it has the Secret of the default one. */
export function toCloud({ name, syntax = YAML_SYNTAX, install }: Installable): Cloud {
  const isText = syntax.name !== YAML_SYNTAX.name;
  const file = `config.${syntax.name.toLowerCase()}`;
  if (install === undefined) assert(name !== PROVIDERS[0].name, "the default cloud says it");
  return { ...(install ?? { secret: CLOUD.secret, example: "" }), name, file, isText };
}
