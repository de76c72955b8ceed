import { expect, test } from "bun:test";
import { LabelReconciler } from "../../../lib/controllers/node_labels/reconcile.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { ScriptedKubeClient } from "../../support/kube/scripted_kube_client.ts";
import { createLifecycleWorld } from "../../support/nodes/lifecycle_rig.ts";

const never = new AbortController().signal;

test("LabelReconciler remembers a Node as early until there is an inventory, and writes then", async () => {
  const world = createLifecycleWorld();
  const { clock, source, provider, context } = world;
  const node = world.add("a");
  provider.instances.set("a", toInstance("a", { zone: "z" }));
  const client = new ScriptedKubeClient(clock);
  client.onWrite = () => node;
  const reconciler = new LabelReconciler({ ...context, client });
  await reconciler.reconcile(node, never);
  expect([...reconciler.early]).toEqual(["a"]);
  expect(client.writes).toEqual([]);
  const stop = new AbortController();
  const refreshing = source.run(stop.signal);
  await clock.advance(0);
  await reconciler.reconcile(node, never);
  expect([...reconciler.early]).toEqual([]);
  const labels = { "topology.kubernetes.io/zone": "z" };
  expect(client.writes).toMatchObject([{ path: { name: "a" }, body: { metadata: { labels } } }]);
  stop.abort(new Error("the test is over"));
  await refreshing;
});

test("LabelReconciler forgets a Node that is gone", async () => {
  const world = createLifecycleWorld();
  const reconciler = new LabelReconciler(world.context);
  await reconciler.reconcile(world.add("a"), never);
  reconciler.forget("a");
  expect([...reconciler.early]).toEqual([]);
});
