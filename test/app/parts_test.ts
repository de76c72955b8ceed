import { expect, test } from "bun:test";
import { Fence, LeadershipLostError } from "../../lib/core/fence.ts";
import { ScriptedKubeClient } from "../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { createParts } from "../../lib/app/parts.ts";
import type { ControllerContext } from "../../lib/controllers/context.ts";
import type { ControllerModule, RunningController } from "../../lib/controllers/definition.ts";
import type { LoadedController } from "../../lib/controllers/load.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { toBareApp } from "../support/process/bare_app.ts";
import { FakeProvider } from "../support/cloud/instances.ts";

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
  const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
  createParts(toBareApp({ fence, election: { client, namespace: "n", name: "l", ...times } }));
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
