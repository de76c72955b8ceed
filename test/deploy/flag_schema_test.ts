/**
 * What the chart's schema knows of flags and controllers.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { CONTROLLER, FLAG } from "../../deploy/values/flag_schema.ts";
import { CLOUD } from "../../deploy/clouds.ts";
import { toControllers } from "../../deploy/names.ts";
import { FLAGS } from "../../lib/cli/flags/table.ts";

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
