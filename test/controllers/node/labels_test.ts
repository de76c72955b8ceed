import { describe, expect, test } from "bun:test";
import {
  planLabels,
  planTwinLabels,
  toTopologyLabels,
} from "../../../lib/controllers/node/labels.ts";
import { toInstance } from "../../support/instances.ts";
import { toNode } from "../../support/nodes.ts";

const TOPOLOGY = { instanceType: "4vCPU-8GB", zone: "z", region: "r" };

test("toTopologyLabels() writes each label with its beta twin", () => {
  expect(toTopologyLabels(toInstance("i", TOPOLOGY))).toEqual({
    "node.kubernetes.io/instance-type": "4vCPU-8GB",
    "beta.kubernetes.io/instance-type": "4vCPU-8GB",
    "topology.kubernetes.io/zone": "z",
    "failure-domain.beta.kubernetes.io/zone": "z",
    "topology.kubernetes.io/region": "r",
    "failure-domain.beta.kubernetes.io/region": "r",
  });
});

test("toTopologyLabels() leaves out what the cloud does not know", () => {
  expect(toTopologyLabels(toInstance("i", { region: "r", zone: "" }))).toEqual({
    "topology.kubernetes.io/region": "r",
    "failure-domain.beta.kubernetes.io/region": "r",
  });
});

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

describe("N-15 planTwinLabels()", () => {
  const beta = "failure-domain.beta.kubernetes.io/zone";
  const stable = "topology.kubernetes.io/zone";
  const cases: readonly (readonly [string, Record<string, string>, Record<string, string>])[] = [
    ["copies a missing stable label", { [beta]: "z" }, { [stable]: "z" }],
    ["leaves equal labels alone", { [beta]: "z", [stable]: "z" }, {}],
    ["lets the beta label win", { [beta]: "new", [stable]: "old" }, { [stable]: "new" }],
    ["ignores a missing beta label", { [stable]: "z" }, {}],
  ];
  test.each(cases)("%s", (_title, labels, wanted) => {
    expect(planTwinLabels(labels)).toEqual(wanted);
  });
});
