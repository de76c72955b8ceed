import { expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import { UnconfirmedAbsences } from "../../../lib/controllers/node_lifecycle/unconfirmed_absences.ts";
import { FleetWatch } from "../../../lib/controllers/fleet/fleet_watch.ts";
import { createLifecycleMetrics } from "../../../lib/controllers/node_lifecycle/metrics.ts";
import { LifecycleReconciler } from "../../../lib/controllers/node_lifecycle/reconcile.ts";
import { RefreshPacer } from "../../../lib/controllers/node_lifecycle/refresh_pacer.ts";
import { createLifecycleWorld, type LifecycleWorld } from "../../support/nodes/lifecycle_rig.ts";

const never = new AbortController().signal;

function createReconciler({ context, metrics }: LifecycleWorld): LifecycleReconciler {
  return new LifecycleReconciler({
    ...context,
    fleet: new FleetWatch(context, DEFAULT_DELETION),
    unconfirmed: new UnconfirmedAbsences(context),
    pacer: new RefreshPacer({ ...context, tickIntervalMs: 5_000 }),
    metrics: createLifecycleMetrics(metrics),
  });
}

test("LifecycleReconciler knows whether every Node of ours is Ready", async () => {
  const world = createLifecycleWorld();
  const reconciler = createReconciler(world);
  await reconciler.reconcile(world.add("a"), never);
  await reconciler.reconcile(world.add("new", { ready: "False", uninitialized: true }), never);
  expect(reconciler.areAllReady).toBe(true);
  await reconciler.reconcile(world.add("b", { ready: "Unknown" }), never);
  expect(reconciler.areAllReady).toBe(false);
  world.server.setReady("b", "True");
  await reconciler.reconcile(world.server.find("b") ?? world.add("b"), never);
  expect(reconciler.areAllReady).toBe(true);
});

test("LifecycleReconciler forgets a Node that is gone", async () => {
  const world = createLifecycleWorld();
  const reconciler = createReconciler(world);
  await reconciler.reconcile(world.add("a", { ready: "Unknown" }), never);
  reconciler.forget("a");
  expect(reconciler.areAllReady).toBe(true);
});
