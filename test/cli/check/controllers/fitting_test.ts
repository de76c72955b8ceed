/**
 * Which controllers `check` expects to run, and what it says about the others.
 * @module
 */
import { expect, test } from "bun:test";
import { fit } from "../../../../lib/cli/check/controllers/fitting.ts";
import { LOAD_BALANCERS } from "../../../../lib/cloud/pools/settings.ts";
import { serviceController } from "../../../../lib/controllers/service/definition.ts";
import { FakeProvider } from "../../../support/cloud/instances.ts";
import { NODE_CONTROLLERS } from "../../../support/nodes/node_controllers.ts";

const STEP = {
  status: "ok",
  findings: [{ level: "ok", code: "settings", message: "fine" }],
} as const;
const [plain] = NODE_CONTROLLERS;
if (plain === undefined) throw new Error("no controller");
const listener = { ...plain, name: "listener", needs: ["changes"] } as const;

const RUN = "ok controllers";

test.each<[string, readonly string[], object, readonly string[]]>([
  ["leaves out one that * chose", [], listener, ["ok settings", RUN, "ok capability"]],
  [
    "fails for one that was named",
    ["listener"],
    listener,
    ["ok settings", RUN, "failure capability"],
  ],
  [
    "leaves out one that was named and may be left out",
    ["listener"],
    { ...listener, mayBeLeftOut: true },
    ["ok settings", RUN, "ok capability"],
  ],
])("fit() %s", (_what, named, over, expected) => {
  const provider = new FakeProvider();
  const options = { provider, named: new Set(named), step: STEP, known: [] };
  const { fitting, step } = fit([plain, { ...listener, ...over }], options);
  expect(fitting).toEqual([plain]);
  expect(step.findings.map(({ level, code }) => `${level} ${code}`)).toEqual([...expected]);
});

test("fit() expects all to run while the settings cannot be used", () => {
  const options = { provider: undefined, named: new Set<string>(), step: STEP, known: [] };
  expect(fit([plain, listener], options)).toEqual({ fitting: [plain, listener], step: STEP });
});

test("fit() warns about pools while the controller service does not run", () => {
  const provider = new FakeProvider();
  const { settings } = LOAD_BALANCERS.parse({ pools: [{ name: "a", addresses: ["192.0.2.1"] }] });
  const options = {
    provider,
    named: new Set<string>(),
    step: STEP,
    known: [LOAD_BALANCERS],
    sections: new Map([[LOAD_BALANCERS.key, settings]]),
  };
  expect(fit(NODE_CONTROLLERS, options).step.findings.at(-1)).toMatchObject({
    level: "warning",
    path: "loadBalancers.pools",
  });
  const { step } = fit([...NODE_CONTROLLERS, serviceController], options);
  expect(step.findings.map(({ level }) => level)).toEqual(["ok", "ok"]);
});

test("fit() names the controllers, and says how to check others unless the flag names them", () => {
  const options = { provider: new FakeProvider(), step: STEP, known: [] };
  const find = (named: readonly string[]): unknown =>
    fit([plain, listener], { ...options, named: new Set(named) }).step.findings[1];
  const message = `this check is for ${plain.name}`;
  expect(find([])).toMatchObject({ level: "ok", message, advice: expect.any(String) });
  expect(find([plain.name])).not.toHaveProperty("advice");
});
