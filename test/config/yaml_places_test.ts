/**
 * Where things stand in a YAML file.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { findYamlPlaces } from "../../lib/config/yaml_places.ts";
import { measureCpuMs } from "../support/net/hostile.ts";
import { longTest } from "../support/long_tests.ts";

const TEXT = `url: x
addresses:
  exclude:
    - 10.0.0.0/8
    - {cidr: 10.1.0.0/16}
"a.b": 1
"a":
  b: 2
`;

describe("findYamlPlaces()", () => {
  const places: readonly [string, number | undefined, number | undefined][] = [
    ["url", 1, 1],
    ["url.below", 1, 1],
    ["addresses", 2, 1],
    ["addresses.exclude", 3, 3],
    ["addresses.absent", 2, 1],
    ["addresses.exclude.0", 4, 7],
    ["addresses.exclude.1.cidr", 5, 8],
    ["addresses.exclude.9", 3, 3],
    ["a.b", 6, 1],
    ["a", 7, 1],
    ["absent", undefined, undefined],
    ["", undefined, undefined],
  ];
  test.each(places)("findYamlPlaces() finds %j at %p:%p", async (path, line, column) => {
    const place = (await findYamlPlaces(TEXT)).find(path);
    expect([place?.line, place?.column]).toEqual([line, column]);
  });

  test("findYamlPlaces() reports at most ten errors", async () => {
    const text = Array.from({ length: 30 }, () => "a: 1").join("\n");
    const { issues } = await findYamlPlaces(text);
    expect(issues).toHaveLength(10);
    expect(issues[0]).toEqual({ message: "this key occurs twice; remove one", line: 2, column: 1 });
  });

  test("findYamlPlaces() finds each repeated key and each alias of nothing, in order", async () => {
    const text = "a: &x [*x, *y]\nb: {c: 1, c: 2}\nb: *x\n? [k]\n: *z\n";
    const { issues } = await findYamlPlaces(text);
    expect(issues.map(({ line, column }) => [line, column])).toEqual([
      [1, 12],
      [2, 11],
      [3, 1],
      [5, 3],
    ]);
  });

  const ITEMS = "list:\n  - id: a\n    name: b\n    zone: c\n    type: d\n";
  const broken: readonly [string, string, readonly string[]][] = [
    ["an open quote up to the end", ITEMS.replace("b", '"b'), ["3:11 the quote that begins here"]],
    [
      "an open quote before another",
      ITEMS.replace("b", "'b").replace("c", "'c'"),
      ["3:11 the quo"],
    ],
    [
      "an item that is out of line",
      ITEMS.replace("    name", "   name"),
      ["3:1 the in", "3:10 the next"],
    ],
    ["a tab", ITEMS.replace("    zone", "\tzone"), ["4:1 tabs", "4:8 the next"]],
  ];
  test.each(broken)(
    "findYamlPlaces() says once, and where it begins, %s",
    async (_, text, said) => {
      const { issues } = await findYamlPlaces(text);
      expect(issues).toHaveLength(said.length);
      for (const [at, { line, column, message }] of issues.entries()) {
        expect(`${line}:${column} ${message}`).toStartWith(said[at] ?? "");
      }
    },
  );

  // Each of these took from ten seconds to more than a minute.
  const large: readonly [string, string][] = [
    ["thousands of keys", Array.from({ length: 30_000 }, (_, at) => `k${at}: 1`).join("\n")],
    ["thousands of aliases", `a: &x 1\nb: [${"*x,".repeat(60_000)}]`],
    ["colons alone", ": ".repeat(3_000)],
    ["brackets", "[: ".repeat(3_000)],
    ["tags and keys", "!a : ".repeat(3_000)],
  ];
  longTest.each(large)("findYamlPlaces() is done with %s in time", async (_what, text) => {
    expect(await measureCpuMs(() => findYamlPlaces(text))).toBeLessThan(5_000);
  });
});
