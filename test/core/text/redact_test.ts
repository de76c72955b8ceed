import { expect, test } from "bun:test";
import { isPathLike, listSecrets, redact } from "../../../lib/core/text/redact.ts";

const BASIC = Buffer.from("ann:geheim:1").toString("base64");

test.each<[Record<string, string>, readonly string[]]>([
  [{}, []],
  [{ accept: "application/json" }, []],
  [{ authorization: "Bearer t0ken" }, ["t0ken"]],
  [{ authorization: `Basic ${BASIC}` }, [BASIC, "geheim:1"]],
  [{ cookie: "authenticationToken=t0ken=; other=value" }, ["t0ken=", "value"]],
  // In every text there is one.
  [{ authorization: "Bearer a" }, []],
])("listSecrets() of %j", (headers, secrets) => {
  expect(listSecrets(headers)).toEqual([...secrets]);
});

test("redact() leaves no secret in a text", () => {
  expect(redact("no t0ken, t0ken or geheim", ["t0ken", "geheim"])).toBe(
    "no (secret), (secret) or (secret)",
  );
  expect(redact("nothing", [])).toBe("nothing");
});

test.each([
  ["/etc/landfall/token", true],
  ["./token", true],
  ["../token", true],
  ["~/token", true],
  ["token.txt", true],
  ["/" + "x".repeat(500), true],
  ["token", false],
  ["", false],
  // As long as the shortest tokens.
  ["x/".repeat(15) + "x", true],
  ["x/".repeat(16), false],
])("isPathLike() of %j is %p", (text, isOne) => {
  expect(isPathLike(text)).toBe(isOne);
});
