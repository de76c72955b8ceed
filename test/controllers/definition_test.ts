import { expect, test } from "bun:test";
import {
  type ControllerDefinition,
  type ControllerModule,
  isSeparable,
  isStandalone,
  listIdleSettings,
  listInstalled,
  listLeases,
  listOnByDefault,
  loadControllers,
  needsCloud,
  type NumberFlag,
  readFlag,
  readTextFlag,
  type TextFlag,
} from "../../lib/controllers/definition.ts";
import { DELETION } from "../../lib/cloud/settings/sections.ts";
import { LOAD_BALANCERS } from "../../lib/cloud/pools/settings.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";

const PERIOD: NumberFlag = {
  name: "period",
  type: "duration",
  default: "1m30s",
  help: "How often",
  range: [0, 100_000],
};
const COUNT: NumberFlag = {
  ...PERIOD,
  name: "count",
  type: "int",
  default: "7",
};

test("readFlag() gives the value of a flag, else its default", () => {
  expect(readFlag({ period: 5, count: 0 }, PERIOD)).toBe(5);
  expect(readFlag({ period: 5, count: 0 }, COUNT)).toBe(0);
  expect(readFlag({}, PERIOD)).toBe(90_000);
  expect(readFlag({}, COUNT)).toBe(7);
});

test("readTextFlag() gives the text of a flag, else its default", () => {
  const flag: TextFlag = {
    name: "class",
    type: "string",
    default: "standard",
    help: "Which class",
    findProblem: () => undefined,
  };
  expect(readTextFlag({ class: "" }, flag)).toBe("");
  expect(readTextFlag({ class: "a/b" }, flag)).toBe("a/b");
  expect(readTextFlag({}, flag)).toBe("standard");
});

test("listOnByDefault() leaves out what is off until it is named", () => {
  const off = CONTROLLERS.map((one) => ({ ...one, isOffByDefault: true }));
  const on = CONTROLLERS.map((one) => ({ ...one, isOffByDefault: false }));
  expect(listOnByDefault([...off, ...on])).toEqual(on);
});

test.each([
  ["names none", {}, ["a"]],
  ["names one", { controllers: ["b"] }, ["a", "b"]],
  ["names one that is off by default", { controllers: ["c"] }, ["a"]],
])("listInstalled() of a cloud that %s", (_what, install, expected) => {
  const [plain] = CONTROLLERS;
  if (plain === undefined) throw new Error("no controller");
  const registry = [
    { ...plain, name: "a" },
    { ...plain, name: "b", mayBeLeftOut: true },
    { ...plain, name: "c", isOffByDefault: true },
  ];
  expect(listInstalled(registry, install).map(({ name }) => name)).toEqual(expected);
});

test("loadControllers() loads those that were chosen, in their order", async () => {
  const [first, second] = CONTROLLERS;
  if (first === undefined || second === undefined) throw new Error("too few controllers");
  const slow = Promise.withResolvers<ControllerModule>();
  const late: ControllerDefinition = { ...first, load: () => slow.promise };
  const loading = loadControllers([late, second]);
  const module = await second.load();
  slow.resolve(module);
  expect(await loading).toEqual([
    { definition: late, module },
    { definition: second, module },
  ]);
});

test("listIdleSettings() names settings that do nothing, because their controller does not run", () => {
  const { settings } = LOAD_BALANCERS.parse({ pools: [{ name: "a", addresses: ["192.0.2.1"] }] });
  const sections = [DELETION, LOAD_BALANCERS];
  const values = new Map<string, unknown>([[LOAD_BALANCERS.key, settings]]);
  const list = (running: readonly { readonly section?: typeof LOAD_BALANCERS }[]): unknown[] =>
    listIdleSettings(sections, values, running).map(({ path }) => path);
  expect(list([])).toEqual(["loadBalancers.pools"]);
  expect(listIdleSettings(sections, values, [])[0]?.message).toEndWith(
    ". Restart Landfall; if --controllers is not the default, name service in it first",
  );
  expect(list([{}])).toEqual(["loadBalancers.pools"]);
  expect(list([{ section: LOAD_BALANCERS }])).toEqual([]);
  expect(listIdleSettings(sections, new Map(), [])).toEqual([]);
});

test("every controller can be loaded", async () => {
  for (const { module } of await loadControllers(CONTROLLERS)) {
    expect(module.create).toBeFunction();
  }
});

test.each([
  [true, []],
  [true, [true, false]],
  [false, [false, false]],
])("needsCloud() is %j for controllers of which these need one: %j", (wanted, needs) => {
  expect(needsCloud(needs.map((one) => ({ needsCloud: one })))).toBe(wanted);
});

test.each<[string[], (string | undefined)[]]>([
  [["own"], []],
  [["own"], [undefined, undefined]],
  [
    ["own", "shops"],
    ["shops", undefined, "shops"],
  ],
  [["shops"], ["shops"]],
  [["own"], ["own"]],
])("listLeases() is %j for controllers that name %j", (expected, names) => {
  const chosen = names.map((lease) => (lease === undefined ? {} : { lease }));
  expect(listLeases(chosen, "own")).toEqual(expected);
});

test.each([
  [true, true, { isOffByDefault: true, needsCloud: false, lease: "shops" }],
  [false, false, { needsCloud: false, lease: "shops" }],
  [true, false, { isOffByDefault: true, needsCloud: true, lease: "shops" }],
  [false, false, { isOffByDefault: true, needsCloud: false }],
])("isSeparable() is %j and isStandalone() is %j for %j", (separable, standalone, controller) => {
  expect(isSeparable(controller)).toBe(separable);
  expect(isStandalone(controller)).toBe(standalone);
});
