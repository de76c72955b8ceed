import { expect, test } from "bun:test";
import { describeUnknownKeys } from "../../lib/controllers/own_keys.ts";
import { listSources, readSource } from "../support/sources.ts";

test.each([
  [{}, undefined],
  [{ labels: { app: "x" }, annotations: { "landfall.dev/keep-address": "true" } }, undefined],
  [
    { annotations: { "landfall.dev/keep-adress": "true" } },
    'the annotation "landfall.dev/keep-adress" has no effect: did you mean landfall.dev/keep-address?',
  ],
  [
    { labels: { "landfall.dev/exclude-from-out-of-servce": "" } },
    'the label "landfall.dev/exclude-from-out-of-servce" has no effect: did you mean ' +
      "landfall.dev/exclude-from-out-of-service?",
  ],
  [
    { annotations: { "landfall.dev/qqqqqqqqqq": "" } },
    'the annotation "landfall.dev/qqqqqqqqqq" has no effect: Landfall does not know it',
  ],
])("describeUnknownKeys() of %j", (metadata, expected) => {
  expect(describeUnknownKeys(metadata)).toBe(expected);
});

/** They are tags of addresses in CloudStack, the purpose of a signature, or a domain alone. */
const NO_KEYS: ReadonlySet<string> = new Set([
  "cluster",
  "kept-for",
  "service",
  "service-uid",
  "shared-with",
]);

test("describeUnknownKeys() knows every label and annotation of the code", async () => {
  const names = new Set<string>();
  for (const file of await listSources("lib")) {
    const text = await readSource(file);
    for (const [, name = ""] of text.matchAll(/"landfall\.dev\/([a-z-]+)"/g)) names.add(name);
    for (const [, name = ""] of text.matchAll(/\$\{OWN_PREFIX\}([a-z-]+)`/g)) names.add(name);
  }
  expect(names.size).toBeGreaterThan(20);
  const unknown = [...names]
    .filter((name) => !NO_KEYS.has(name))
    .filter((name) => describeUnknownKeys({ labels: { [`landfall.dev/${name}`]: "" } }));
  // If this fails, add them to OWN_NAMES in lib/controllers/own_keys.ts.
  expect(unknown).toEqual([]);
});
