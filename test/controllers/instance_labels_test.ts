import { expect, test } from "bun:test";
import { toInstanceLabels } from "../../lib/controllers/instance_labels.ts";
import { toInstance } from "../support/cloud/instances.ts";

const TOPOLOGY = { instanceType: "4vCPU-8GB", zone: "z", region: "r" };

test("toInstanceLabels() writes each label with its beta twin", () => {
  expect(toInstanceLabels(toInstance("i", TOPOLOGY)).topology).toEqual({
    "node.kubernetes.io/instance-type": "4vCPU-8GB",
    "beta.kubernetes.io/instance-type": "4vCPU-8GB",
    "topology.kubernetes.io/zone": "z",
    "failure-domain.beta.kubernetes.io/zone": "z",
    "topology.kubernetes.io/region": "r",
    "failure-domain.beta.kubernetes.io/region": "r",
  });
});

test("toInstanceLabels() leaves out what the cloud does not know", () => {
  expect(toInstanceLabels(toInstance("i", { region: "r", zone: "" })).topology).toEqual({
    "topology.kubernetes.io/region": "r",
    "failure-domain.beta.kubernetes.io/region": "r",
  });
});

test("toInstanceLabels() keeps what is legal and names what is not", () => {
  const labels = { "a.b/c": "v", "a.b/d": "not legal", "k8s.io/x": "v" };
  const { topology, additional, refused } = toInstanceLabels(
    toInstance("i", { zone: "not legal", labels }),
  );
  expect(topology).toEqual({});
  expect(additional).toEqual({ "a.b/c": "v" });
  expect(refused).toEqual([
    'topology.kubernetes.io/zone="not legal" is not a valid label',
    'a.b/d="not legal" is not a valid label',
    "k8s.io/x is reserved for Kubernetes",
  ]);
});

test("toInstanceLabels() gives the region its own label where there is one, and none while it is not known", () => {
  const region = "381c8869-4bae-437c-a265-780be87906ba";
  const key = "topology.kubernetes.io/region";
  const label = (regionLabel?: string): string | undefined =>
    toInstanceLabels(toInstance("i", { region, ...(regionLabel !== undefined && { regionLabel }) }))
      .topology[key];
  expect([label(), label("eu"), label("")]).toEqual([region, "eu", undefined]);
});
