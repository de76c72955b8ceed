/**
 * What manifests and chart take from the definition of a cloud.
 * @module
 */
import { expect, test } from "bun:test";
import { DEFINITIONS, toCloud } from "../../deploy/clouds.ts";

test("the variable by which a pod needs no file is that of a setting", () => {
  for (const definition of DEFINITIONS) {
    const { variable } = toCloud(definition);
    if (variable === undefined) continue;
    expect(definition.settings.map((setting) => setting.variable)).toContain(variable);
  }
});
