import { expect, test } from "bun:test";
import { ClusterView } from "../../lib/cli/demo_cluster.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { EVENTS, type KubeEvent, NODES, type Node } from "../../lib/kube/resource.ts";
import { Store } from "../../lib/kube/store.ts";
import { toNode } from "../support/nodes.ts";

function createView(): ClusterView {
  const log = silentLogger;
  return new ClusterView(
    new Store<Node>({ resource: NODES, log }),
    new Store<KubeEvent>({ resource: EVENTS, log }),
  );
}

const NEVER = new AbortController().signal;

test("ClusterView waits until a change makes it true", async () => {
  const view = createView();
  const waiting = view.waitFor(() => view.nodes.get("n") !== undefined, 10_000, NEVER);
  view.nodes.replace([toNode("n")], "1");
  expect(await waiting).toBe(true);
});

test("ClusterView tells when it did not come true in time", async () => {
  expect(await createView().waitFor(() => false, 5, NEVER)).toBe(false);
});

test("ClusterView stops waiting when it is told to", async () => {
  const stop = new AbortController();
  const waiting = createView().waitFor(() => false, 10_000, stop.signal);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("ClusterView finds the newest Event of a Node by its reason", () => {
  const view = createView();
  const toEvent = (name: string, reason: string, message: string): KubeEvent => ({
    metadata: { name, namespace: "default", resourceVersion: name },
    involvedObject: { kind: "Node", name: "n" },
    reason,
    message,
  });
  view.events.replace(
    [toEvent("1", "R", "old"), toEvent("2", "R", "new"), toEvent("3", "S", "")],
    "3",
  );
  expect(view.findEvent("n", "R")?.message).toBe("new");
  expect(view.findEvent("m", "R")).toBeUndefined();
});
