import { expect, test } from "bun:test";
import { DELETION } from "../../lib/cloud/settings/sections.ts";
import { fitControllers } from "../../lib/controllers/fitting.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { FakeProvider, HintingProvider } from "../support/cloud/instances.ts";

const [plain] = CONTROLLERS;
if (plain === undefined) throw new Error("no controller");
const listener = { ...plain, name: "listener", needs: ["changes"] } as const;
const LACK = "the cloud test cannot report changes as they happen";
const WHY = `controller listener does not run: ${LACK}`;

test.each<[string, FakeProvider, readonly string[], object]>([
  [
    "runs all with a cloud that can",
    new HintingProvider(),
    ["listener"],
    { fitting: [plain, listener] },
  ],
  [
    "leaves out one that * chose",
    new FakeProvider(),
    [],
    { fitting: [plain], leftOut: [{ why: WHY }] },
  ],
  [
    "refuses one that was named",
    new FakeProvider(),
    ["listener"],
    { fitting: [plain], refusals: [`controller listener cannot run: ${LACK}`] },
  ],
])("fitControllers() %s", (_, provider, named, wanted) => {
  const fitted = fitControllers([plain, listener], { provider, named: new Set(named) });
  expect(fitted).toEqual({ fitting: [], leftOut: [], useless: [], refusals: [], ...wanted });
});

test("fitControllers() leaves out one that was named and may be left out", () => {
  const optional = { ...listener, mayBeLeftOut: true };
  const options = { provider: new FakeProvider(), named: new Set(["listener"]) };
  const fitted = fitControllers([plain, optional], options);
  expect(fitted).toEqual({ fitting: [plain], leftOut: [{ why: WHY }], useless: [], refusals: [] });
});

test("fitControllers() runs one whose settings stand in for what the cloud lacks", () => {
  const standing = {
    ...listener,
    section: { ...DELETION, key: "mine", standard: false },
    standIn: {
      list: (settings: unknown) => (settings === true ? (["changes"] as const) : []),
      advice: "set mine",
    },
  };
  const fit = (isSet: boolean): unknown => {
    const sections = new Map([["mine", isSet]]);
    return fitControllers([standing], { provider: new FakeProvider(), named: new Set(), sections });
  };
  expect(fit(true)).toEqual({ fitting: [standing], leftOut: [], useless: [], refusals: [] });
  expect(fit(false)).toEqual({
    fitting: [],
    leftOut: [{ why: WHY, advice: "set mine" }],
    useless: [],
    refusals: [],
  });
});

test("fitControllers() runs one that reports by itself what the cloud lacks", () => {
  const reporting = { ...listener, reportsLack: true };
  const options = { provider: new FakeProvider(), named: new Set(["listener"]) };
  expect(fitControllers([reporting], options)).toEqual({
    fitting: [reporting],
    leftOut: [],
    useless: [`controller listener only says on each ${plain.kind.kind} that ${LACK}`],
    refusals: [],
  });
});
