/**
 * Reads from each cloud's definition what manifests and chart need to know about it.
 * @module
 */
import type { ProviderDefinition, ProviderInstall } from "../lib/cloud/provider_definition.ts";
import { YAML_SYNTAX } from "../lib/config/yaml_syntax.ts";
import { assert } from "../lib/core/errors.ts";
import { loadProviders, PROVIDERS } from "../lib/providers/mod.ts";

/** The part of a definition that this file uses. */
export type Installable = Pick<ProviderDefinition, "name" | "settings" | "syntax" | "install">;

/** How a cloud is installed. */
export interface Cloud extends Omit<ProviderInstall, "key"> {
  /** For `--cloud-provider`. */
  readonly name: string;
  /** Name of the settings file, and of its key in the Secret. */
  readonly file: string;
  /** Whether the chart takes the settings as text, because they are not YAML. */
  readonly isText: boolean;
  /** Whether they may be YAML as well. */
  readonly isYaml: boolean;
}

/** All clouds. */
export const DEFINITIONS: readonly Installable[] = await loadProviders();

/** The default cloud. */
export const CLOUD: Cloud = toCloud(await PROVIDERS[0].load());

/** The clouds that have manifests of their own, the default cloud first. */
export const MANIFEST_CLOUDS: readonly Cloud[] = [
  CLOUD,
  ...DEFINITIONS.map(toCloud).filter(({ folder }) => folder !== undefined),
];

/** Whether the chart's `config` may be text. Then it has no default, because Helm warns if text replaces an object. */
export function isConfigText(definitions: readonly Installable[]): boolean {
  return definitions.some((one) => toCloud(one).isText);
}

/** How a cloud is installed. A definition without `install` uses Secret and Lease of the default cloud. */
export function toCloud({ name, syntax = YAML_SYNTAX, install }: Installable): Cloud {
  if (install === undefined)
    assert(name !== PROVIDERS[0].name, "the default cloud must have install");
  const { other, lease, secret } = install ?? CLOUD;
  const { key, ...rest } = install ?? { other, lease, secret, example: "" };
  const isText = syntax.name !== YAML_SYNTAX.name;
  return {
    ...rest,
    name,
    file: key ?? `config.${syntax.name.toLowerCase()}`,
    isText,
    isYaml: !isText || syntax.accepts !== undefined,
  };
}
