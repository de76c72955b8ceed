import { describe, expect, test } from "bun:test";
import { toReadyConditions, toUnknownConditions } from "../../../lib/cli/demo/cluster.ts";
import {
  describe as describeNode,
  describePlace,
} from "../../../lib/cli/demo/clouds/xenorchestra/places.ts";
import { hasShutdownTaint, printChanges } from "../../../lib/cli/demo/printer.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { LOAD_BALANCER_CLEANUP, type Service } from "../../../lib/kube/kinds/service.ts";
import { type NodeOptions, toNode } from "../../support/nodes/nodes.ts";
import { createView } from "../../support/page/demo_stage.ts";

const NOW = "2026-01-01T00:00:00Z";
const SHUTDOWN = { key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" };

const cloud = { describe: describeNode, describePlace };

function toKnown(isReady: boolean, options: NodeOptions = {}): Node {
  const node = toNode("n", { uninitialized: false, providerId: "test://i", ...options });
  const conditions = isReady ? toReadyConditions(NOW, NOW) : toUnknownConditions(NOW, NOW);
  return { ...node, status: { ...node.status, conditions } };
}

function tellOf(before: Node, after: Node | undefined): string[] {
  const view = createView();
  const lines: string[] = [];
  view.nodes.replace([before], "1");
  const quiet = printChanges({ view, cloud, tell: (line) => lines.push(line) });
  lines.length = 0;
  const metadata = { ...after?.metadata, name: "n", resourceVersion: "101" };
  if (after) view.nodes.apply({ ...after, metadata });
  else view.nodes.remove(before);
  quiet();
  return lines;
}

function toService(ip?: string): Service {
  return {
    metadata: {
      name: "web",
      namespace: "default",
      resourceVersion: "1",
      finalizers: [LOAD_BALANCER_CLEANUP],
    },
    ...(ip !== undefined && { status: { loadBalancer: { ingress: [{ ip }] } } }),
  };
}

function toEvent(type: string, reason: string): KubeEvent {
  return {
    metadata: { name: "n.1", namespace: "default", resourceVersion: "3" },
    involvedObject: { kind: "Node", name: "n" },
    type,
    reason,
    message: "m",
  };
}

describe("printChanges()", () => {
  const tainted = toNode("n", { systemUuid: "uuid-1" });
  const ready = toKnown(true);
  const zone = {
    "topology.kubernetes.io/zone": "z",
    "topology.k8s.xenorchestra/pool_name_label": "p",
  };
  const moved = { ...zone, "topology.k8s.xenorchestra/host_name_label": "h" };

  test.each<[string, Node, Node | undefined, readonly string[]]>([
    [
      "an initialisation",
      tainted,
      ready,
      ["  =  n is test://i, undefined on undefined/undefined, named undefined"],
    ],
    [
      "nothing while a Node waits for its cloud",
      tainted,
      toNode("n", { resourceVersion: "2" }),
      [],
    ],
    ["nothing when nothing that matters changed", ready, toKnown(true, { labels: { a: "b" } }), []],
    ["a kubelet that is given up", ready, toKnown(false), ["  ~  n is NotReady"]],
    ["a kubelet that is back", toKnown(false), ready, ["  ~  n is Ready"]],
    ["a move", ready, toKnown(true, { labels: moved }), ["  ~  n is on p/h, in zone z"]],
    [
      "another type",
      ready,
      toKnown(true, { labels: { "node.kubernetes.io/instance-type": "t" } }),
      ["  ~  n has the instance type t"],
    ],
    [
      "a machine that is off",
      ready,
      toKnown(true, { taints: [SHUTDOWN] }),
      [`  ~  n is tainted ${SHUTDOWN.key}:NoSchedule`],
    ],
    [
      "a machine that is on again",
      toKnown(true, { taints: [SHUTDOWN] }),
      ready,
      [`  ~  n is no longer tainted ${SHUTDOWN.key}:NoSchedule`],
    ],
    ["a deletion", ready, undefined, ["  -  n is deleted"]],
  ])("tells %s", (_what, before, after, lines) => {
    expect(tellOf(before, after)).toEqual([...lines]);
  });

  test.each<[string, Service | undefined, Service | undefined, readonly string[]]>([
    [
      "the address of a Service",
      toService(),
      toService("192.0.2.1"),
      ["  ~  web has the address 192.0.2.1"],
    ],
    ["that it lost its address", toService("192.0.2.1"), toService(), ["  ~  web has no address"]],
    ["nothing when it stays", toService("192.0.2.1"), toService("192.0.2.1"), []],
    ["nothing of a new Service", undefined, toService("192.0.2.1"), []],
    [
      "its end",
      toService("192.0.2.1"),
      undefined,
      ["  -  web is deleted, and Landfall is done with it"],
    ],
    ["nothing of the end of others", { ...toService(), metadata: { name: "web" } }, undefined, []],
  ])("tells %s", (_what, before, after, lines) => {
    const view = createView();
    if (before !== undefined) view.services.replace([before], "1");
    const told: string[] = [];
    const quiet = printChanges({ view, cloud, tell: (line) => told.push(line) });
    if (after === undefined && before !== undefined) view.services.remove(before);
    if (after !== undefined) {
      view.services.apply({ ...after, metadata: { ...after.metadata, resourceVersion: "2" } });
    }
    quiet();
    expect(told).toEqual([...lines]);
  });

  test("tells registrations, until it is ended", () => {
    const view = createView();
    const lines: string[] = [];
    const quiet = printChanges({ view, cloud, tell: (line) => lines.push(line) });
    view.nodes.replace([tainted], "1");
    quiet();
    view.nodes.remove(tainted);
    expect(lines).toEqual(["  +  n registers, system UUID uuid-1"]);
  });

  test("tells nothing that moves the cursor or sets colours", () => {
    const view = createView();
    const lines: string[] = [];
    printChanges({ view, cloud, tell: (line) => lines.push(line) });
    view.nodes.replace([toNode("n", { systemUuid: "\u001b[2J\nuuid" })], "1");
    view.events.replace([{ ...toEvent("Warning", "R"), message: "\u009b31m" }], "3");
    view.events.apply({ ...toEvent("Warning", "R"), message: "\u009b31m" });
    expect(lines).toEqual(["  +  n registers, system UUID ?[2J uuid", "  !  n: R: ?31m"]);
  });

  test.each([
    ["Warning", "R", ["  !  n: R: m"]],
    ["Normal", "DeletingNode", ["  !  n: DeletingNode: m"]],
    ["Normal", "Synced", []],
  ])("reports an Event of type %s and reason %s, once: %j", (type, reason, lines) => {
    const view = createView();
    const told: string[] = [];
    printChanges({ view, cloud, tell: (line) => told.push(line) });
    view.events.replace([toEvent(type, reason)], "3");
    const metadata = { ...toEvent(type, reason).metadata, resourceVersion: "4" };
    view.events.apply({ ...toEvent(type, reason), metadata, count: 2 });
    expect(told).toEqual([...lines]);
  });
});

test.each([
  ["without taints", toKnown(true), false],
  ["with another taint", toNode("n"), false],
  ["with the taint", toKnown(true, { taints: [SHUTDOWN] }), true],
])("hasShutdownTaint() of a Node %s", (_what, node, expected) => {
  expect(hasShutdownTaint(node)).toBe(expected);
});
