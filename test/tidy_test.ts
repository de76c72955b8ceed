import { expect, test } from "bun:test";
import { dirname, join, normalize } from "node:path";
import { listSources, readSource } from "./support/sources.ts";

const LINE_LENGTH_MAX = 120;

/** A call that only some files may make, and why not elsewhere. */
const BANNED: readonly { call: RegExp; allowed: RegExp; why: string }[] = [
  {
    call: /\bconsole\.\w+/,
    allowed: /^lib\/(cli\/|core\/log\.ts)/,
    why: "console belongs to cli and log",
  },
  {
    call: /\bprocess\.\w+|from "node:process"/,
    allowed: /^(main\.ts|lib\/host\/|lib\/cli\/)/,
    why: "process belongs to main, host and cli",
  },
  {
    call: /\bDate\.now\b|\bnew Date\(\)|\bset(Timeout|Interval)\(/,
    // The page's script runs in a browser.
    allowed: /^lib\/(core\/clock|http\/page\/script)\.ts/,
    why: "time comes from the Clock",
  },
];

const lib = await listSources("lib");
const all = [
  "main.ts",
  ...lib,
  ...(await listSources("test")),
  ...(await listSources("bench")),
  ...(await listSources("docs")),
  ...(await listSources("deploy")),
  ...(await listSources("release")),
];
const texts = new Map<string, string>();
for (const file of all) texts.set(file, await readSource(file));

function findFiles(check: (text: string, file: string) => boolean, files = all): string[] {
  return files.filter((file) => check(texts.get(file) ?? "", file));
}

test("no line is longer than 120 characters", () => {
  const long = findFiles((text) => text.split("\n").some((line) => line.length > LINE_LENGTH_MAX));
  expect(long).toEqual([]);
});

test("every file that ARCHITECTURE.md names is there", async () => {
  const text = await readSource("ARCHITECTURE.md");
  const named = Array.from(text.matchAll(/`(\w[\w/]*\.tsx?)`/g), ([, file = ""]) => file);
  expect(named.length).toBeGreaterThan(10);
  const missing = named.filter((file) => !all.some((path) => `/${path}`.endsWith(`/${file}`)));
  expect(missing).toEqual([]);
});

test("every file with JSX names its library, so that the program starts in any folder", () => {
  const files = all.filter((file) => file.endsWith(".tsx"));
  const pragma = /^\/\*\* @jsxImportSource hono\/jsx \*\/$/m;
  expect(files.filter((file) => !pragma.test(texts.get(file) ?? ""))).toEqual([]);
  expect(files).not.toEqual([]);
});

test("no file exports what only it uses, not even a type that a signature names", () => {
  const used = new Set<string>();
  const whole = new Set<string>();
  for (const [file, text] of texts) {
    const from =
      /\b(?:import|export)\s(?:type\s)?\s*(?:\{([^}]*)\}|\*(?: as \w+)?) from "(\.[^"]+)"/g;
    for (const [, names, path = ""] of text.matchAll(from)) {
      const target = normalize(join(dirname(file), path));
      if (names === undefined) whole.add(target);
      for (const [name] of names?.matchAll(/\w+(?= as )|\w+(?=\s*(,|$))/g) ?? [])
        used.add(`${target} ${name}`);
    }
  }
  const declaration = /^export (?:interface|type|(?:abstract )?class) (\w+)/gm;
  const exported = findFiles((_text, file) => !whole.has(file)).flatMap((file) =>
    Array.from(texts.get(file)?.matchAll(declaration) ?? [], ([, name]) => `${file} ${name}`),
  );
  expect(exported.length).toBeGreaterThan(1_000);
  expect(exported.filter((one) => !used.has(one))).toEqual([]);
});

test("no test stands outside test/", () => {
  expect(lib.filter((file) => /_test\.tsx?$|\.test\.tsx?$/.test(file))).toEqual([]);
});

test("files and folders of lib are named in snake_case, and no door is an index", () => {
  expect(lib.filter((file) => !/^[a-z0-9_/]+\.tsx?$/.test(file))).toEqual([]);
  expect(all.filter((file) => /(^|\/)index\.tsx?$/.test(file))).toEqual([]);
});

test("no file uses any, a non-null assertion or a silenced check", () => {
  const loose =
    /\bas any\b|: any\b|<any>|@ts-(ignore|expect-error|nocheck)|oxlint-disable|eslint-disable/;
  const self = "test/tidy_test.ts";
  expect(findFiles((text, file) => file !== self && loose.test(withoutComments(text)))).toEqual([]);
});

for (const { call, allowed, why } of BANNED) {
  test(`${why}`, () => {
    const banned = findFiles(
      (text, file) => !allowed.test(file) && call.test(withoutComments(text)),
      ["main.ts", ...lib],
    );
    expect(banned).toEqual([]);
  });
}

test("log records name Nodes as node, and show times as people write them", () => {
  const bad: string[] = [];
  let count = 0;
  for (const file of lib) {
    const text = withoutComments(texts.get(file) ?? "");
    for (const fields of listLogFields(text)) {
      count += 1;
      const name = /[{,]\s*(key|\w+(?:Ms|Seconds|Minutes))\b\s*[,:}]/.exec(fields)?.[1];
      if (name !== undefined) bad.push(`${file}: ${name}`);
    }
  }
  expect(bad).toEqual([]);
  expect(count).toBeGreaterThan(100);
});

/** What calls of a logger are given, up to the bracket that ends them, and what is made for them beforehand. */
function listLogFields(text: string): string[] {
  const made = Array.from(
    text.matchAll(/\bconst fields = (\{[^}]*\})/g),
    ([, fields = ""]) => fields,
  );
  const call = /\blog\s*(?:\.(?:debug|info|warn|error|with)|\[[^\]]*\])\(/gi;
  const given = Array.from(text.matchAll(call), ({ index, 0: { length } }) => {
    const start = index + length;
    let depth = 1;
    let end = start;
    for (; end < text.length && depth > 0; end += 1) {
      if (text[end] === "(") depth += 1;
      if (text[end] === ")") depth -= 1;
    }
    return text.slice(start, end - 1);
  });
  return [...made, ...given];
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
}
