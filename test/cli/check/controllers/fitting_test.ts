/**
 * Which controllers `check` expects to run, and what it says about the others.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { findMissing, fit } from "../../../../lib/cli/check/controllers/fitting.ts";
import { parseCheckFlags } from "../../../../lib/cli/check/flags.ts";
import { LOAD_BALANCERS } from "../../../../lib/cloud/pools/settings.ts";
import { serviceController } from "../../../../lib/controllers/service/definition.ts";
import { cloudStack } from "../../../../lib/providers/cloudstack/mod.ts";
import { FakeProvider } from "../../../support/cloud/instances.ts";
import { NODE_CONTROLLERS } from "../../../support/nodes/node_controllers.ts";

const STEP = {
  status: "ok",
  findings: [{ level: "ok", code: "settings", message: "fine" }],
} as const;
const MISSING = { message: "none yet", advice: "keep the other", lease: "other" };
const NONE: ReadonlySet<string> = new Set();
const SERVICE: ReadonlySet<string> = new Set(["service"]);

describe("fit()", () => {
  test.each([
    ["a cloud that can be used", new FakeProvider()],
    ["settings that cannot be used", undefined],
  ])("fails for the controller service where it matters, with %s", (_what, provider) => {
    const shared = { provider, named: NONE, step: STEP, known: [] };
    const { fitting, step } = fit(NODE_CONTROLLERS, {
      ...shared,
      lacking: SERVICE,
      missing: MISSING,
    });
    expect(fitting).not.toEqual([]);
    expect([step.status, step.findings.map(({ code }) => code)]).toEqual([
      "failure",
      ["settings", "serviceController"],
    ]);
    for (const [lacking, missing] of [
      [SERVICE, undefined],
      [NONE, MISSING],
    ] as const) {
      expect(fit(NODE_CONTROLLERS, { ...shared, lacking, missing }).step).toEqual(STEP);
    }
  });
});

test("fit() warns about pools while the controller service does not run", () => {
  const provider = new FakeProvider();
  const { settings } = LOAD_BALANCERS.parse({ pools: [{ name: "a", addresses: ["192.0.2.1"] }] });
  const options = {
    provider,
    named: NONE,
    lacking: NONE,
    missing: undefined,
    step: STEP,
    known: [LOAD_BALANCERS],
    sections: new Map([[LOAD_BALANCERS.key, settings]]),
  };
  expect(fit(NODE_CONTROLLERS, options).step.findings.at(-1)).toMatchObject({
    level: "warning",
    path: "loadBalancers.pools",
  });
  expect(fit([...NODE_CONTROLLERS, serviceController], options).step).toEqual(STEP);
});

describe("findMissing()", () => {
  test.each<[string, readonly string[], boolean]>([
    ["asks the definition", ["--controllers=cloud-node"], true],
    [
      "asks it even if only service is chosen, which needs no cloud",
      ["--controllers=service"],
      false,
    ],
  ])("%s", async (_what, argv, isLoaded) => {
    const flags = parseCheckFlags(
      ["--cloud-provider=external-cloudstack", ...argv],
      NODE_CONTROLLERS,
    );
    const found = await findMissing(isLoaded ? cloudStack : undefined, {
      ...flags,
      providers: undefined,
    });
    expect(found).toEqual(cloudStack.missingLoadBalancers);
  });

  test("loads no definition without need", async () => {
    const flags = parseCheckFlags(
      ["--cloud-provider=none", "--controllers=-service"],
      NODE_CONTROLLERS,
    );
    expect(await findMissing(undefined, { ...flags, providers: undefined })).toBeUndefined();
  });
});
