import { describe, expect, test } from "bun:test";
import { planLabels } from "../../../lib/controllers/node/plan.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { toNode } from "../../support/nodes/nodes.ts";

test("planLabels() replaces topology labels and sets only differences", () => {
  const node = toNode("n", {
    labels: { "topology.kubernetes.io/zone": "old", "failure-domain.beta.kubernetes.io/zone": "z" },
  });
  expect(planLabels(node, toInstance("i", { zone: "z" })).set).toEqual({
    "topology.kubernetes.io/zone": "z",
  });
});

describe("N-14 planLabels() refuses additional labels in namespaces of Kubernetes", () => {
  const reserved = [
    "topology.kubernetes.io/x",
    "topology.k8s.io/x",
    "kubernetes.io/x",
    "k8s.io/x",
    "foo.k8s.io/x",
  ];
  test.each(reserved)("%s", (key) => {
    const { set, refused } = planLabels(toNode("n"), toInstance("i", { labels: { [key]: "v" } }));
    expect(set).toEqual({});
    expect(refused[0]).toContain(key);
  });
  test.each(["app.k8snio/x", "k8snio/x", "vm.k8s.xenorchestra/name_label"])(
    "but takes %s",
    (key) => {
      expect(planLabels(toNode("n"), toInstance("i", { labels: { [key]: "v" } })).set).toEqual({
        [key]: "v",
      });
    },
  );
});

test("N-14 planLabels() never overwrites an additional label that is there", () => {
  const node = toNode("n", { labels: { "a.b/c": "mine" } });
  expect(planLabels(node, toInstance("i", { labels: { "a.b/c": "theirs" } })).set).toEqual({});
});

test("N-26 planLabels() leaves out illegal labels, says so, and sets the rest", () => {
  const instance = toInstance("i", { zone: "bad zone", region: "r", labels: { "a.b/c": "nœud" } });
  const { set, refused } = planLabels(toNode("n"), instance);
  expect(Object.values(set)).toEqual(["r", "r"]);
  expect(refused).toHaveLength(2);
  expect(refused.join()).toContain("bad zone");
  expect(refused.join()).toContain("nœud");
});
