/**
 * The settings of the clouds as JSON Schema, for the chart's `config`: from the tables of the reference page.
 * @module
 */
import {
  type SettingBranch,
  type SettingDescription,
  type SettingTree,
  toSettingTree,
} from "../../lib/cloud/settings/schema.ts";
import type { Schema } from "./chart_value.ts";
import { type Installable, isConfigText, toCloud } from "../clouds.ts";

/**
 * One rule for each cloud: if it is the one that `cloudProvider` names, `config` has its settings and no others, or is
 * text in the cloud's own syntax.
 *
 * @param common Settings that every cloud has
 */
export function toConfigRules(
  definitions: readonly Installable[],
  common: readonly SettingDescription[],
): Schema[] {
  const toRule = isConfigText(definitions) ? toOptional : (block: Schema): Schema => block;
  return definitions.map((one) => {
    const block = toBlock(toSettingTree([...one.settings, ...common]));
    const { isText, isYaml } = toCloud(one);
    const config = !isText
      ? toRule(block)
      : isYaml
        ? { if: TEXT_OR_NOTHING, else: block }
        : TEXT_OR_NOTHING;
    return {
      if: { properties: { cloudProvider: { not: { const: one.name } } } },
      else: { properties: { config } },
    };
  });
}

const TEXT_OR_NOTHING: Schema = { type: ["string", "null"] };

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

/** Allows keys without a value: they count as not set, because templates often produce them. */
function toOptional(schema: Schema): Schema {
  return { if: { enum: ["", null] }, else: schema };
}
