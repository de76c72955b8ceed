import { describe, expect, test } from "bun:test";
import { Fence, LeadershipLostError } from "../../lib/core/fence.ts";
import { ScriptedKubeClient } from "../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { createParts, type Parts, toChecks } from "../../lib/app/parts.ts";
import type {
  ControllerContext,
  ControllerModule,
  LoadedController,
  RunningController,
} from "../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { toBareApp } from "../support/process/bare_app.ts";
import { FakeProvider } from "../support/cloud/instances.ts";

const TIMES = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

test("createParts() only puts the parts together: nothing is asked, nothing is known", () => {
  const provider = new FakeProvider();
  const { cloud } = createParts(toBareApp({ provider }));
  expect(cloud?.nodes.synced).toBe(false);
  expect(cloud?.source.current).toBeUndefined();
  expect(cloud?.source.lastAttemptMs).toBeUndefined();
});

test("createParts() lets nobody write without leadership, or everybody when nobody is elected", () => {
  const alone = new Fence();
  createParts(toBareApp({ fence: alone }));
  alone.check();
  const fence = new Fence();
  const client = new ScriptedKubeClient(new ManualClock());
  createParts(toBareApp({ fence, election: { client, namespace: "n", name: "l", ...TIMES } }));
  expect(() => fence.check()).toThrow(LeadershipLostError);
});

test("createParts() gives Nodes and their cloud to the controllers that need one, and to no others", () => {
  const given: ControllerContext[] = [];
  const controller: RunningController = { run: async () => {} };
  const module: ControllerModule = { create: (context) => (given.push(context), controller) };
  const [definition] = CONTROLLERS;
  if (definition === undefined) throw new Error("there is no controller");
  const toLoaded = (needsCloud: boolean): LoadedController => ({
    definition: { ...definition, needsCloud },
    module,
  });
  const controllers = [toLoaded(true), toLoaded(false)];
  const { cloud } = createParts(toBareApp({ provider: new FakeProvider(), controllers }));
  expect(given.map((context) => context.cloud)).toEqual([cloud, undefined]);
});

describe("createParts() with elections", () => {
  const [sample] = CONTROLLERS;
  if (sample === undefined) throw new Error("there is no controller");
  const toLoaded = (name: string, lease?: string): LoadedController => {
    const definition = { ...sample, name, needsCloud: false, ...(lease && { lease }) };
    return { definition, module: { create: () => ({ run: async () => {} }) } };
  };
  const [node, service] = [toLoaded("node"), toLoaded("service")];
  const [shop, till] = [toLoaded("shop", "shops"), toLoaded("till", "shops")];
  const create = (controllers: readonly LoadedController[], name?: string): Parts => {
    const options = toBareApp({ controllers, host: "h" });
    const election = name !== undefined && {
      election: { namespace: "n", ...TIMES, name, client: options.client },
    };
    return createParts({ ...options, ...election });
  };
  const list = (controllers: readonly LoadedController[], name?: string): unknown =>
    create(controllers, name).groups.map(({ elector, controllers: own }) => [
      elector?.lease.name,
      ...own.map(({ definition }) => definition.name),
    ]);

  test("gives all electors the name of their host, and their checks a name each", () => {
    const parts = create([node, shop], "ccm");
    const [identity = "", ...others] = parts.electors.map((elector) => elector.identity);
    expect(identity).toMatch(/^h_[0-9a-f-]{36}$/);
    expect(others).toEqual([identity]);
    const checks = toChecks(parts).filter(({ probes }) => probes.includes("livez"));
    expect(checks.map(({ name }) => name)).toEqual(["leaderElection", "leaderElection-shops"]);
  });

  test.each([
    ["one Lease as ever", [node, service], "ccm", [["ccm", "node", "service"]]],
    [
      "one Lease for each name, that of the process first",
      [shop, node, till],
      "ccm",
      [
        ["ccm", "node"],
        ["shops", "shop", "till"],
      ],
    ],
    ["no Lease that no controller waits for", [shop], "ccm", [["shops", "shop"]]],
    ["one Lease if a flag gives both one name", [shop, node], "shops", [["shops", "shop", "node"]]],
    ["the Lease of the process without controllers", [], "ccm", [["ccm"]]],
    ["none without an election", [shop, node], undefined, [[undefined, "shop", "node"]]],
  ] as const)("takes %s", (_title, controllers, name, groups) => {
    expect(list(controllers, name)).toEqual(groups);
  });

  test("refuses a controller with a Lease that needs a cloud, whose writes wait for another Lease", () => {
    const { definition, module } = shop;
    const wrong = { definition: { ...definition, needsCloud: true }, module };
    expect(() => create([wrong], "ccm")).toThrow(
      "shop has a Lease that its cloud does not wait for",
    );
  });

  test("takes one whose only way to the cloud asks the fence of its own Lease", () => {
    const { definition, module } = shop;
    const one = { ...definition, needsCloud: true, needs: ["machines"] as const };
    expect(list([{ definition: one, module }], "ccm")).toEqual([["shops", "shop"]]);
  });
});
