/**
 * The settings of the clouds as JSON Schema, for the chart's `config`: from the tables of the reference page.
 * @module
 */
import type { ProviderDefinition, SettingDescription } from "../lib/cloud/provider_definition.ts";
import { type SettingBranch, type SettingTree, toSettingTree } from "../lib/cloud/settings/tree.ts";
import type { Schema } from "./chart_value.ts";

/**
 * One rule for each cloud: if it is the one that `cloudProvider` names, `config` has its settings and no others.
 *
 * @param common Settings that every cloud has
 */
export function toConfigRules(
  providers: readonly Pick<ProviderDefinition, "name" | "settings">[],
  common: readonly SettingDescription[],
): Schema[] {
  return providers.map(({ name, settings }) => ({
    if: { properties: { cloudProvider: { not: { const: name } } } },
    else: { properties: { config: toBlock(toSettingTree([...settings, ...common])) } },
  }));
}

function toBlock(tree: SettingTree): Schema {
  const properties = [...tree].map(([key, branch]) => [key, toOptional(toPlain(branch))]);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}

function toPlain({ setting, children }: SettingBranch): Schema {
  const isList = setting?.form === "array";
  if (children.size > 0) {
    const block = toBlock(children);
    return isList ? { type: "array", items: block } : block;
  }
  if (isList) return { type: "array", items: { type: "string" } };
  const isMap = setting?.form === "object";
  return { type: setting?.form, ...(isMap && { additionalProperties: { type: "string" } }) };
}

/** Templates leave keys behind that are there but empty: they count as not set. */
function toOptional(schema: Schema): Schema {
  return { if: { enum: ["", null] }, else: schema };
}
