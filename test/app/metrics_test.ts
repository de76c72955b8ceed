import { expect, test } from "bun:test";
import { createRunningMetric, exportInstances } from "../../lib/app/metrics.ts";
import type { Presence } from "../../lib/cloud/provider.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { NODES } from "../../lib/kube/kinds/node.ts";
import { Store } from "../../lib/kube/cache/store.ts";
import { toNode } from "../support/nodes/nodes.ts";

test("createRunningMetric() has the upstream name", () => {
  const metrics = new MetricsRegistry();
  createRunningMetric(metrics).set(1, { name: "cloud-node" });
  expect(metrics.render()).toContain('running_managed_controllers{name="cloud-node"} 1');
});

test("exportInstances() counts Nodes by presence when it is read", () => {
  const metrics = new MetricsRegistry();
  const nodes = new Store({ resource: NODES, log: silentLogger });
  const foreign: Presence = { kind: "foreign", providerId: "aws:///i" };
  exportInstances(metrics, nodes, () => foreign);
  nodes.replace([toNode("a"), toNode("b")], "1");
  const text = metrics.render();
  expect(text).toContain('landfall_instances{presence="foreign"} 2');
  expect(text).toContain('landfall_instances{presence="present"} 0');
});
