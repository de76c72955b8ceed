/**
 * `--controllers` with more controllers than there are today.
 * @module
 */
import { expect, test } from "bun:test";
import { listControllerNames, selectControllers } from "../../../lib/cli/flags/controllers.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import type { ControllerName } from "../../../lib/cli/flags/controllers.ts";

const KNOWN: readonly ControllerName[] = [
  { name: "a", aliases: ["a-controller"], isAvailable: true },
  { name: "b", aliases: [], isAvailable: true },
  { name: "c", aliases: [], isAvailable: false },
];

const cases: readonly [readonly string[], readonly string[]][] = [
  [["*"], ["a", "b"]],
  [["*", "-a"], ["b"]],
  [["-a-controller", "*"], ["b"]],
  [["a"], ["a"]],
  [["-a"], []],
  [
    ["b", "-b", "*"],
    ["a", "b"],
  ],
  [["-b", "b", "*"], ["a"]],
];
test.each(cases)("P-02 selectControllers() turns %j into %j", (items, names) => {
  expect([...selectControllers(items, KNOWN).enabled]).toEqual([...names]);
});

test.each<[readonly string[], boolean]>([
  [["*"], false],
  [["*", "-a"], false],
  [["*", "quiet"], true],
  [["quiet-controller"], true],
  [["-quiet", "*", "quiet"], false],
])("P-02 selectControllers() with %j chooses one that is off by default: %j", (items, wanted) => {
  const quiet: ControllerName = {
    name: "quiet",
    aliases: ["quiet-controller"],
    isAvailable: true,
    isOffByDefault: true,
  };
  expect(selectControllers(items, [...KNOWN, quiet]).enabled.has("quiet")).toBe(wanted);
});

test.each<[readonly string[], readonly string[]]>([
  [["*"], []],
  [["*", "-a"], []],
  [["*", "a-controller"], ["a"]],
  [["b", "-b", "c"], ["b"]],
])("P-02 selectControllers() knows of %j that these are named: %j", (items, named) => {
  expect([...selectControllers(items, KNOWN).named]).toEqual([...named]);
});

test("P-02 selectControllers() warns about one that is asked for and not there", () => {
  expect(selectControllers(["*", "c"], KNOWN).warnings).toEqual([
    '--controllers: "c" is not part of this version and does not run',
  ]);
  expect(selectControllers(["*", "-c"], KNOWN).warnings).toEqual([]);
});

test("P-01 selectControllers() lists all controllers when one is unknown", () => {
  expect(selectControllers(["-zap", "a"], KNOWN).issues).toEqual([
    {
      source: "--controllers",
      message: 'unknown controller "zap" (known: a = a-controller, b, c)',
    },
  ]);
});

test.each([
  ["clod-node", "cloud-node"],
  ["-cloud-node-lifecycel", "cloud-node-lifecycle"],
  ["service-lb-controler", "service-lb-controller"],
])("P-01 selectControllers() suggests a name for %s", (written, meant) => {
  const [issue] = selectControllers([written]).issues;
  expect(issue?.message).toContain(`"; did you mean ${meant}? (known: `);
});

test("P-01 listControllerNames() has the names of Go first, those that Landfall lacks included", () => {
  const [node] = CONTROLLERS;
  if (node === undefined) throw new Error("no controller");
  const more = { ...node, name: "more", aliases: [] };
  const names = listControllerNames([more, node]);
  expect(names.map(({ name, isAvailable }) => [name, isAvailable])).toEqual([
    ["cloud-node", true],
    ["cloud-node-lifecycle", false],
    ["service", false],
    ["route", false],
    ["more", true],
  ]);
});
