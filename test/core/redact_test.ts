import { expect, test } from "bun:test";
import { isPathLike, listSecrets, maskSecrets, redact } from "../../lib/core/redact.ts";

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
  ["token=abc", "token=(secret)"],
  ['{"token": "abc", "user": "ann"}', '{"token": "(secret)", "user": "ann"}'],
  ["--client-secret hunter2 was refused", "--client-secret (secret) was refused"],
  ["Authorization: Bearer abc", "Authorization: Bearer (secret)"],
  ["https://ann:geheim@sso.example/a?b=c", "https://(secret)@sso.example/a?b=c"],
  ["got eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.x", "got (secret)"],
  ["AKIAIOSFODNN7EXAMPLEKEY wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "(secret) (secret)"],
  ["api key: abc", "api key: (secret)"],
  ["a\n-----BEGIN KEY-----\nabc\n-----END KEY-----\nb", "a\n(secret)\nb"],
  ["a\n-----BEGIN KEY-----\nabc", "a\n(secret)"],
  ["/usr/lib/python3/dist-packages/azure/identity.py:12", undefined],
  ["cannot fetch token: 2 of 3 servers failed", "cannot fetch token: (secret) of 3 servers failed"],
  ["cannot fetch token: oauth2: expired", undefined],
  ["Unable to locate https://sso.example.org/realms/42: no such host", undefined],
])("maskSecrets() of %j is %j", (text, masked = text) => {
  expect(maskSecrets(text)).toBe(masked);
});

test("maskSecrets() takes its time in proportion to the text", () => {
  for (const piece of ["token", "-----BEGIN ", "a", "://", "/x", "token ", "= "]) {
    const startMs = performance.now();
    maskSecrets(piece.repeat(4_096 / piece.length));
    expect(performance.now() - startMs).toBeLessThan(200);
  }
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
