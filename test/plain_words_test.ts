/**
 * Words that texts of the project do not use, because plain English has simpler ones.
 * @module
 */
import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readSource, ROOT } from "./support/sources.ts";

/** A word or phrase, in lower case, and what to write instead. */
const AVOIDED: ReadonlyMap<string, string> = new Map([
  ["nobody", "no process, no user, or an active sentence"],
  ["somebody", "who it is: a user, another process, another program"],
  ["anybody", "who it is: a client, a user"],
  ["everybody", "who it is: all clients, all users"],
  ["whoever", "who it is: the caller, the process that …"],
  ["whomever", "who it is"],
  ["whatever", "any, or what it is"],
  ["whichever", "any, or which it is"],
  ["whosever", "whose it is"],
  ["anew", "again"],
  ["afresh", "again"],
  ["whilst", "while"],
  ["lest", "so that … not"],
  ["hence", "so"],
  ["thus", "so"],
  ["upon", "on, when"],
  ["thereof", "of it"],
  ["therein", "in it"],
  ["whereby", "with which"],
  ["albeit", "although"],
  ["ere", "before"],
  ["in vain", "without success"],
  ["of late", "recently"],
  ["for want of", "without"],
  ["but for", "except"],
  ["save for", "except"],
  ["cannot be told", "is unknown, or cannot check"],
  ["without a word", "silently"],
  ["told of", "notified, or reported"],
  ["tells of", "reports, or describes"],
  ["tell of", "report, or describe"],
  ["is told", "learns, or gets a message"],
  ["are told", "learn, or get a message"],
  ["be told", "learn, or is known"],
  ["speaks of", "is about, or reports"],
  ["what is given", "the value, or its name"],
  ["wanted a", "must be a"],
  ["wanted text", "must be text"],
  ["of no use", "useless, or cannot help"],
  ["as it stands", "unchanged, or the current one"],
  ["as they stand", "unchanged, or the current ones"],
  ["under way", "running, or in progress"],
  ["ought to", "must, or should"],
  ["whence", "from which"],
  ["whereas", "but, or while"],
]);

/** Folders and files that keep to the list. */
const PLAIN: readonly string[] = [
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "README.md",
  "SECURITY.md",
  "bench",
  "deploy",
  "docs",
  "lib/app",
  "lib/cli",
  "lib/cloud",
  "lib/cloud_http",
  "lib/config",
  "lib/controllers",
  "lib/core",
  "lib/engine",
  "lib/host",
  "lib/http",
  "lib/kube",
  "lib/providers",
  "lib/simulator",
  "main.ts",
  "release",
];

const TEXT = /\.(css|json|md|service|sh|tpl|tsx?|txt|ya?ml)$/;
const WORDS = [...AVOIDED.keys()].join("|").replaceAll(" ", "\\s+");
const PHRASES = new RegExp(`\\b(?:${WORDS})\\b`, "gi");

/** Joins the lines of a comment or a paragraph, in which a phrase may be broken. */
function joinLines(text: string): string {
  return text.replaceAll(/\n\s*(?:\*|\/\/|#|\|)?[ \t]*/g, "\n ");
}

function findAvoided(text: string): string[] {
  return Array.from(joinLines(text).matchAll(PHRASES), ([found]) =>
    found.toLowerCase().replaceAll(/\s+/g, " "),
  );
}

async function listTexts(place: string): Promise<string[]> {
  if (TEXT.test(place)) return [place];
  const entries = await readdir(join(ROOT, place), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && TEXT.test(entry.name))
    .map((entry) => join(entry.parentPath.slice(ROOT.length + 1), entry.name));
}

async function findProblems(places: readonly string[]): Promise<string[]> {
  const problems: string[] = [];
  for (const place of places) {
    for (const file of await listTexts(place)) {
      for (const found of findAvoided(await readSource(file))) {
        problems.push(`${file}: "${found}" (better: ${AVOIDED.get(found) ?? ""})`);
      }
    }
  }
  return problems;
}

test("texts use plain words", async () => {
  expect(await findProblems(PLAIN)).toEqual([]);
});

test("every folder of lib is on one of the lists", async () => {
  const entries = await readdir(join(ROOT, "lib"));
  const listed = new Set(PLAIN);
  expect(entries.filter((name) => !listed.has(`lib/${name}`))).toEqual([]);
});

test.each([
  ["Nobody knows", ["nobody"]],
  ["what cannot be\n * told here", ["cannot be told"]],
  ["// it goes on without a\n  // word", ["without a word"]],
  ["the largest of them, there, together", []],
])("the search for words finds in %j %j", (text, found) => {
  expect(findAvoided(text)).toEqual(found);
});
