import { expect, test } from "bun:test";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { OWN_PREFIX } from "../../lib/core/text/label.ts";
import { listSources } from "../support/sources.ts";

/** What others brought: Kubernetes and its Go controllers, and the operators whose objects Landfall serves. */
const OTHERS = new RegExp(
  [
    String.raw`^[a-z0-9.-]*(kubernetes|k8s)\.io/`,
    String.raw`^sip\.airship\.airshipit\.org/finalizer$`,
    String.raw`^vino\.airshipit\.org$`,
    String.raw`^(sip|vino)\.airshipit\.org/`,
  ].join("|"),
);
/** A text such as `landfall.example.org/word`. */
const NAMESPACED = /["'`]([a-z0-9.-]*landfall[a-z0-9.-]*\/)[A-Za-z]/g;

test("every word of Landfall's own on an object stands under its prefix", () => {
  const words = CONTROLLERS.flatMap(({ words }) => words).map(({ word }) => word);
  const own = words.filter((word) => !OTHERS.test(word));
  expect(own.length).toBeGreaterThan(0);
  expect(own.filter((word) => !word.startsWith(OWN_PREFIX))).toEqual([]);
});

test("no text of lib has another prefix of Landfall's own", async () => {
  const prefixes = new Set<string>();
  for (const file of await listSources("lib")) {
    const source = await Bun.file(file).text();
    for (const [, prefix = ""] of source.matchAll(NAMESPACED)) prefixes.add(prefix);
  }
  expect([...prefixes].filter((prefix) => prefix !== OWN_PREFIX)).toEqual([]);
});
