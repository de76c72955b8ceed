import { expect, test } from "bun:test";
import {
  HAPROXY_METHODS,
  toCapabilityText,
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
