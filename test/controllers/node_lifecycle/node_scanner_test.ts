import { expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import { UnconfirmedAbsences } from "../../../lib/controllers/node_lifecycle/unconfirmed_absences.ts";
import { FleetWatch } from "../../../lib/controllers/fleet/fleet_watch.ts";
import { NodeScanner } from "../../../lib/controllers/node_lifecycle/node_scanner.ts";
import { createLifecycleWorld, type LifecycleWorld } from "../../support/nodes/lifecycle_rig.ts";

interface Stage extends LifecycleWorld, AsyncDisposable {
  readonly scanner: NodeScanner;
  readonly reconciler: { areAllReady: boolean };
  /** The Nodes that need something, and whether one that is not Ready misses its machine. */
  look(): { readonly due: readonly string[]; readonly hasMissing: boolean };
}

/** Three Nodes that are well. */
async function setStage(): Promise<Stage> {
  const world = createLifecycleWorld();
  const { clock, source, context } = world;
  for (const name of ["a", "b", "c"]) world.add(name);
  const fleet = new FleetWatch(context, DEFAULT_DELETION);
  const reconciler = { areAllReady: true };
  const unconfirmed = new UnconfirmedAbsences(context);
  const scanner = new NodeScanner({ ...context, fleet, unconfirmed, reconciler });
  const stop = new AbortController();
  const refreshing = source.run(stop.signal);
  await clock.advance(0);
  return {
    ...world,
    scanner,
    reconciler,
    look: () => {
      const due: string[] = [];
      const hasMissing = scanner.look((name) => due.push(name));
      return { due, hasMissing };
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error("the test is over"));
      await clock.advance(0);
      await refreshing;
    },
  };
}

test("NodeScanner finds the Nodes that need something", async () => {
  await using stage = await setStage();
  stage.add("off", { ready: "Unknown", state: "stopped" });
  await stage.clock.advance(30_000);
  expect(stage.look()).toEqual({ due: ["off"], hasMissing: false });
  stage.server.setReady("a", "Unknown");
  stage.loseMachines("a");
  await stage.clock.advance(30_000);
  expect(stage.look().hasMissing).toBe(true);
});

test("NodeScanner rests once it looked at Nodes that are all well", async () => {
  await using stage = await setStage();
  expect(stage.scanner.isAtRest).toBe(false);
  expect(stage.look()).toEqual({ due: [], hasMissing: false });
  expect(stage.scanner.isAtRest).toBe(true);
});

test.each<[string, (stage: Stage) => unknown]>([
  ["a Node changed", ({ scanner }) => scanner.noteChange()],
  ["a Node is not Ready", ({ reconciler }) => (reconciler.areAllReady = false)],
  [
    "the instances are others",
    async ({ add, clock }) => {
      add("d");
      await clock.advance(30_000);
    },
  ],
  [
    "the cloud does not answer",
    async ({ provider, clock }) => {
      provider.failure = new Error("no answer");
      await clock.advance(30_000);
    },
  ],
])("NodeScanner looks again when %s", async (_when, change) => {
  await using stage = await setStage();
  stage.look();
  await change(stage);
  expect(stage.scanner.isAtRest).toBe(false);
});
