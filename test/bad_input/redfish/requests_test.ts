/**
 * Requests to the Redfish service as no client would send them.
 * @module
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createRig, credentialsOf } from "../../support/redfish/client.ts";
import { tries } from "../../support/extent.ts";

const A = credentialsOf("a");
const NAMES = ["redfish", "v1", "Systems", "a", "b", "Actions", "ComputerSystem.Reset", "Managers"];
const PARTS = [
  ...NAMES,
  "SessionService",
  "Sessions",
  "$metadata",
  "EthernetInterfaces",
  "0",
  "-1",
];
const WORDS = ["Boot", "BootSourceOverrideTarget", "BootSourceOverrideEnabled", "ResetType"];
const VALUES = ["Pxe", "Once", "On", "UserName", "Password", "__proto__", "constructor"];

const part = fc.oneof(
  fc.constantFrom(...PARTS),
  fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => encodeURIComponent(text)),
);
const REAL = [
  "/redfish/v1/Systems/a",
  "/redfish/v1/Systems/b",
  "/redfish/v1/Systems/a/Actions/ComputerSystem.Reset",
  "/redfish/v1/SessionService/Sessions",
];
const random = fc
  .tuple(fc.constantFrom("/redfish/v1", "/redfish", ""), fc.array(part, { maxLength: 6 }))
  .map(([start, parts]) => `${start}/${parts.join("/")}`);
const path = fc.oneof(fc.constantFrom(...REAL), random);
const key = fc.constantFrom(...WORDS, ...VALUES);
const leaf = fc.oneof(key, fc.jsonValue({ maxDepth: 1 }));
const body = fc.oneof(
  fc.dictionary(key, fc.oneof(leaf, fc.dictionary(key, leaf))),
  fc.jsonValue(),
  fc.string(),
);
const text = fc.oneof(
  fc.constantFrom("Basic", "Basic =", "Bearer x", `Basic ${"A".repeat(4_000)}`, "*", '""'),
  fc.base64String().map((encoded) => `Basic ${encoded}`),
);
const headers = fc.dictionary(
  fc.constantFrom("authorization", "x-auth-token", "if-match", "odata-version", "content-type"),
  text,
);
const request = fc.record({
  path,
  method: fc.constantFrom("GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"),
  body,
  headers: fc.oneof(fc.constant({}), headers),
  isKnown: fc.boolean(),
});

test("the Redfish service answers every request in its form, fails at none, and shows no password", async () => {
  await fc.assert(
    fc.asyncProperty(
      request,
      async ({ path: at, method, body: content, headers: given, isKnown }) => {
        const { backend, ask } = createRig();
        const hasBody = method !== "GET" && method !== "HEAD";
        const sent = hasBody && { body: content };
        const told = await ask(at, { method, headers: given, ...sent, ...(isKnown && { as: A }) });
        expect([at, method, told.status]).not.toEqual([at, method, 500]);
        expect(JSON.stringify(told.json)).not.toContain(A.password);
        if (told.status >= 400 && method !== "HEAD") {
          expect(told.json["error"]).toMatchObject({ "@Message.ExtendedInfo": [{}] });
        }
        expect(backend.asked.filter((one) => !one.startsWith("a "))).toEqual([]);
        if (!isKnown) expect(backend.asked).toEqual([]);
      },
    ),
    tries(400),
  );
});
