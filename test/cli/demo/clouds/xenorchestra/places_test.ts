import { expect, test } from "bun:test";
import {
  describe as describeNode,
  describePlace,
  isOnHost,
} from "../../../../../lib/cli/demo/clouds/xenorchestra/places.ts";
import { createDemoWorld } from "../../../../../lib/simulator/xenorchestra/mod.ts";
import { toNode } from "../../../../support/nodes/nodes.ts";

const world = createDemoWorld();
const hostId = world.hostIds["xcp-par-1"];
const LABELS = {
  "topology.kubernetes.io/zone": hostId,
  "failure-domain.beta.kubernetes.io/zone": hostId,
  "topology.k8s.xenorchestra/host_id": hostId,
  "topology.k8s.xenorchestra/host_name_label": "xcp-par-1",
  "topology.k8s.xenorchestra/pool_name_label": "paris",
  "vm.k8s.xenorchestra/name_label": "w",
  "node.kubernetes.io/instance-type": "t",
};

test("isOnHost() is true only if every label names the host", () => {
  expect(isOnHost(toNode("n", { labels: LABELS }), world, "xcp-par-1")).toBe(true);
  expect(isOnHost(toNode("n", { labels: LABELS }), world, "xcp-par-2")).toBe(false);
  expect(isOnHost(undefined, world, "xcp-par-1")).toBe(false);
  for (const key of Object.keys(LABELS).slice(0, 4)) {
    const labels = { ...LABELS, [key]: "other" };
    expect(isOnHost(toNode("n", { labels }), world, "xcp-par-1"), key).toBe(false);
  }
});

test("describe() and describePlace() tell the place of a Node", () => {
  const node = toNode("n", { labels: LABELS });
  expect(describeNode(node)).toBe("t on paris/xcp-par-1, named w");
  expect(describePlace(node)).toBe(`on paris/xcp-par-1, in zone ${hostId}`);
});
