/**
 * What the chart's schema knows of settings, flags and controllers.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { toConfigRules } from "../../../deploy/values/config_schema.ts";
import { CONTROLLER, FLAG } from "../../../deploy/values/flag_schema.ts";
import { CLOUD } from "../../../deploy/clouds.ts";
import { toControllers } from "../../../deploy/names.ts";
import type { SettingDescription } from "../../../lib/cloud/provider_definition.ts";
import { FLAGS } from "../../../lib/cli/flags/table.ts";

const row = (path: string, form: SettingDescription["form"]): SettingDescription => ({
  path,
  form,
  type: "any",
  description: "Some.",
});

test("toConfigRules() has the keys of the cloud and those of all clouds, and no others", () => {
  const settings = [
    row("url", "string"),
    row("block.switch", "boolean"),
    row("list", "array"),
    row("items", "array"),
    row("items.name", "string"),
    row("items.labels", "object"),
  ];
  const optional = (schema: object): object => ({ if: { enum: ["", null] }, else: schema });
  const block = (properties: object): object => ({
    type: "object",
    properties,
    additionalProperties: false,
  });
  const text = { type: "string" };
  const config = block({
    url: optional(text),
    block: optional(block({ switch: optional({ type: "boolean" }) })),
    list: optional({ type: "array", items: text }),
    items: optional({
      type: "array",
      items: block({
        name: optional(text),
        labels: optional({ type: "object", additionalProperties: text }),
      }),
    }),
    deletion: optional(block({ holdOff: optional(text) })),
  });
  const common = [row("deletion.holdOff", "string")];
  expect(toConfigRules([{ name: "some", settings }], common)).toEqual([
    {
      if: { properties: { cloudProvider: { not: { const: "some" } } } },
      else: { properties: { config } },
    },
  ]);
});

describe("FLAG", () => {
  const { pattern } = FLAG["if"] as { readonly pattern: string };
  const known = FLAGS.filter(({ effect }) => effect !== "removed").map(({ name }) => name);
  const accepted = known.flatMap((name) => [
    `--${name}`,
    `--${name}=value`,
    `-${name.replaceAll("-", "_")}=value`,
  ]);
  const refused = known.flatMap((name) => [`--${name}s`, `--x${name}=value`, `--${name} value`]);

  test("takes every flag that the program takes, in all forms", () => {
    const all = [...accepted, "-v=2", "-v2", "-h"];
    expect(all.filter((argument) => !new RegExp(pattern).test(argument))).toEqual([]);
  });

  test("refuses what is no flag, and those that were removed", () => {
    const all = [...refused, "v=2", "---v=2", "--port=1", "--address=x", "-x2", ""];
    const names = new Set(accepted);
    const wrong = all.filter((argument) => !names.has(argument));
    expect(wrong.filter((argument) => new RegExp(pattern).test(argument))).toEqual([]);
  });
});

describe("CONTROLLER", () => {
  const pattern = new RegExp(String(CONTROLLER["pattern"]));

  test.each([...toControllers(CLOUD), "*", "-cloud-node", "service-lb-controller"])(
    "takes %s",
    (name) => {
      expect(name).toMatch(pattern);
    },
  );

  test.each(["cloud-nodes", "--cloud-node", "-*", "", "cloud-node,service"])(
    "refuses %j",
    (name) => {
      expect(name).not.toMatch(pattern);
    },
  );
});
