import { expect, test } from "bun:test";
import { ClusterView, toRegisteredNode } from "../../lib/cli/demo_cluster.ts";
import { narrate, playStory } from "../../lib/cli/demo_story.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { EVENTS, type KubeEvent, NODES, type Node } from "../../lib/kube/resource.ts";
import { Store } from "../../lib/kube/store.ts";
import { startKubernetesSimulator } from "../../lib/simulator/kubernetes/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
} from "../../lib/simulator/xenorchestra/mod.ts";
import { toNode } from "../support/nodes.ts";

function createView(): ClusterView {
  const log = silentLogger;
  return new ClusterView(
    new Store<Node>({ resource: NODES, log }),
    new Store<KubeEvent>({ resource: EVENTS, log }),
  );
}

test("playStory() says so when no controller makes it come true", async () => {
  const clock = systemClock;
  const world = createDemoWorld();
  const kubernetes = startKubernetesSimulator({ clock });
  const cloud = await startXenOrchestraSimulator({ clock, world: world.world });
  const lines: string[] = [];
  const tell = (line: string): number => lines.push(line);
  const stage = { kubernetes, cloud, world, view: createView(), clock, tell, stepMsMax: 10 };
  expect(await playStory(stage, new AbortController().signal)).toBe(false);
  expect(lines.filter((line) => line.includes("NO:"))).toHaveLength(6);
  await kubernetes.stop();
  await cloud.stop();
});

test("narrate() tells registrations, initialisations, Warnings and deletions", () => {
  const view = createView();
  const lines: string[] = [];
  const quiet = narrate({ view, tell: (line) => lines.push(line) });
  const tainted = toNode("n", { systemUuid: "uuid-1", resourceVersion: "1" });
  view.nodes.replace([tainted], "1");
  view.nodes.apply(
    toNode("n", { uninitialized: false, providerId: "test://i", resourceVersion: "2" }),
  );
  view.events.replace(
    [
      {
        metadata: { name: "n.1", namespace: "default", resourceVersion: "3" },
        involvedObject: { kind: "Node", name: "n" },
        type: "Warning",
        reason: "R",
        message: "m",
      },
    ],
    "3",
  );
  view.nodes.remove(tainted);
  quiet();
  view.nodes.apply(tainted);
  expect(lines.map((line) => line.trim().slice(0, 24))).toEqual(
    ["+  n registers, system UU", "=  n is test://i, undefin", "!  n: R: m", "-  n is deleted"].map(
      (line) => line.slice(0, 24),
    ),
  );
});

test("toRegisteredNode() is tainted, Ready, and tells the UUID that its machine reports", () => {
  const machine = { nodeName: "cp-1", vmId: "v", systemUuid: "u", address: "10.0.0.1" };
  const node = toRegisteredNode(machine, "2026-01-01T00:00:00Z");
  expect(node.spec.taints[0]?.key).toBe("node.cloudprovider.kubernetes.io/uninitialized");
  expect(node.status.nodeInfo["systemUUID"]).toBe("u");
  expect(node.metadata.annotations).toEqual({ "alpha.kubernetes.io/provided-node-ip": "10.0.0.1" });
  expect(node.metadata.labels).toHaveProperty(["node-role.kubernetes.io/control-plane"]);
});
