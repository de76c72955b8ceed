import { expect, test } from "bun:test";
import {
  toReadyConditions,
  toRegisteredNode,
  toUnknownConditions,
} from "../../../lib/cli/demo/cluster.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import { toNode } from "../../support/nodes/nodes.ts";
import { createView } from "../../support/page/demo_stage.ts";

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

test("toRegisteredNode() is tainted, Ready, and tells the UUID that its machine reports", () => {
  const machine = { nodeName: "cp-1", vmId: "v", systemUuid: "u", address: "10.0.0.1" };
  const node = toRegisteredNode(machine, "2026-01-01T00:00:00Z");
  expect(node.spec.taints[0]?.key).toBe("node.cloudprovider.kubernetes.io/uninitialized");
  expect(node.status.conditions.find(({ type }) => type === "Ready")?.status).toBe("True");
  expect(node.status.nodeInfo["systemUUID"]).toBe("u");
  expect(node.metadata.annotations).toEqual({ "alpha.kubernetes.io/provided-node-ip": "10.0.0.1" });
  expect(node.metadata.labels).toHaveProperty(["node-role.kubernetes.io/control-plane"]);
});

test.each([
  [
    "toReadyConditions()",
    toReadyConditions("2026-01-01T00:00:09Z", "2026-01-01T00:00:01Z"),
    ["False", "False", "False", "True"],
    ["09", "01"],
  ],
  [
    "toUnknownConditions()",
    toUnknownConditions("2026-01-01T00:00:01Z", "2026-01-01T00:00:09Z"),
    Array(4).fill("Unknown"),
    ["01", "09"],
  ],
])("%s tells pressures and readiness, and when", (_name, conditions, statuses, [heard, since]) => {
  const types = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"];
  expect(conditions.map(({ type }) => type)).toEqual(types);
  expect(conditions.map(({ status }) => status)).toEqual(statuses);
  for (const { lastHeartbeatTime, lastTransitionTime } of conditions) {
    expect(lastHeartbeatTime).toBe(`2026-01-01T00:00:${heard}Z`);
    expect(lastTransitionTime).toBe(`2026-01-01T00:00:${since}Z`);
  }
});
