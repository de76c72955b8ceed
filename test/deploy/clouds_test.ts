/**
 * What manifests and chart take from the definition of a cloud.
 * @module
 */
import { expect, test } from "bun:test";
import {
  CLOUD,
  DEFINITIONS,
  type Installable,
  isConfigText,
  toCloud,
} from "../../deploy/clouds.ts";
import { YAML_SYNTAX } from "../../lib/config/yaml_syntax.ts";

const INI: Installable = {
  name: "ini",
  settings: [],
  syntax: { ...YAML_SYNTAX, name: "INI" },
  install: {
    other: "other program",
    lease: "other",
    secret: "ini-settings",
    example: "",
    variable: "INI_URL",
  },
};

test("toCloud() names the file by the syntax, and the Secret as the definition says", () => {
  expect(toCloud(INI)).toEqual({
    name: "ini",
    file: "config.ini",
    isText: true,
    isYaml: false,
    other: "other program",
    lease: "other",
    secret: "ini-settings",
    example: "",
    variable: "INI_URL",
  });
  expect(toCloud({ name: "quiet", settings: [] })).toMatchObject({
    file: "config.yaml",
    isText: false,
    isYaml: true,
    secret: CLOUD.secret,
    lease: CLOUD.lease,
  });
  const { install, syntax = YAML_SYNTAX } = INI;
  const named = install && { install: { ...install, key: "named" } };
  const either = { ...INI, ...named, syntax: { ...syntax, accepts: () => true } };
  expect(toCloud(either)).toMatchObject({ file: "named", isText: true, isYaml: true });
});

test("isConfigText() says whether any cloud has settings that are no YAML", () => {
  const yaml = DEFINITIONS.filter(({ syntax }) => syntax === undefined);
  expect(isConfigText(yaml)).toBe(false);
  expect(isConfigText([...yaml, INI])).toBe(true);
});

test("the variable by which a pod needs no file is that of a setting", () => {
  for (const definition of DEFINITIONS) {
    const { variable } = toCloud(definition);
    if (variable === undefined) continue;
    expect(definition.settings.map((setting) => setting.variable)).toContain(variable);
  }
});
