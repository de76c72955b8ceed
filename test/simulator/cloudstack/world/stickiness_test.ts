import { expect, test } from "bun:test";
import {
  HAPROXY_METHODS,
  readStoredParameters,
  toCapabilityText,
  toStickinessPolicy,
  toStoredParameters,
} from "../../../../lib/simulator/cloudstack/world/stickiness.ts";

test("toCapabilityText() is the JSON of what HAProxy knows", () => {
  const text = toCapabilityText(HAPROXY_METHODS);
  const rows = JSON.parse(text).map(
    (method: { methodname: string; paramlist: { paramname: string; isflag: boolean }[] }) => [
      method.methodname,
      method.paramlist.map(({ paramname, isflag }) => (isflag ? `[${paramname}]` : paramname)),
    ],
  );
  expect(rows).toEqual([
    ["LbCookie", ["cookie-name", "mode", "domain", "[nocache]", "[indirect]", "[postonly]"]],
    ["AppCookie", ["cookie-name", "length", "holdtime", "mode", "[request-learn]", "[prefix]"]],
    ["SourceBased", ["tablesize", "expire"]],
  ]);
  expect(toCapabilityText([])).toBe("[]");
});

test("toStickinessPolicy() keeps a client by its address, unless something else is asked for", () => {
  const policy = toStickinessPolicy({ ruleId: "r", name: "p", parameters: { expire: "30m" } });
  expect(policy).toMatchObject({
    ruleId: "r",
    methodName: "SourceBased",
    parameters: "expire=30m&",
    isRevoked: false,
  });
  expect(policy).not.toHaveProperty("description");
  const options = { ruleId: "r", name: "p", methodName: "LbCookie", description: "d" };
  expect(toStickinessPolicy(options)).toMatchObject({ methodName: "LbCookie", description: "d" });
});

test.each<[string, [string, string | undefined][], Record<string, string>]>([
  [
    "values",
    [
      ["a", "1"],
      ["b", "x y"],
    ],
    { a: "1", b: "x y" },
  ],
  [
    "a flag without a value",
    [
      ["nocache", undefined],
      ["a", "1"],
    ],
    { nocache: "null", a: "1" },
  ],
  [
    "an empty value",
    [
      ["a", ""],
      ["b", "2"],
    ],
    { a: "", b: "2" },
  ],
  [
    "an empty value at the end, which is lost",
    [
      ["b", "2"],
      ["a", ""],
    ],
    { b: "2" },
  ],
  [
    "two values",
    [
      ["domain", "one"],
      ["domain", "two"],
    ],
    { domain: "two:one" },
  ],
  [
    "a sign that cuts",
    [
      ["a", "1=2"],
      ["b", "3"],
    ],
    { a: "1", "2": "b" },
  ],
  ["nothing", [], {}],
])("stored parameters with %s", (_, entries, shown) => {
  expect(readStoredParameters(toStoredParameters(entries))).toEqual(shown);
});
