import { expect, test } from "bun:test";
import { describeNode } from "../../lib/controllers/node_view.ts";
import { toInstance } from "../support/cloud/instances.ts";
import { toNode } from "../support/nodes/nodes.ts";

const TRUSTED = { providedNodeIps: "trusted" } as const;

test("describeNode() shows what an instance asks for beside what the Node has", () => {
  const instance = toInstance("i", {
    zone: "z",
    addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
    labels: { "a.b/c": "d" },
    details: { powerState: "Running" },
  });
  const node = toNode("n", { providerId: "test://i", labels: { "a.b/c": "old", mine: "x" } });
  const presence = { kind: "present", instance, matchedBy: "providerId" } as const;
  expect(describeNode(node, presence, TRUSTED)).toEqual({
    name: "n",
    providerId: "test://i",
    wantedProviderId: "test://i",
    isUninitialized: true,
    matchedBy: "providerId",
    places: [{ kind: "zone", id: "z" }],
    presence: { kind: "present" },
    instance: { id: "i", name: "i", state: "running", details: { powerState: "Running" } },
    labels: {
      wanted: {
        "a.b/c": "d",
        "topology.kubernetes.io/zone": "z",
        "failure-domain.beta.kubernetes.io/zone": "z",
      },
      actual: { "a.b/c": "old" },
    },
    addresses: {
      wanted: [
        { type: "InternalIP", address: "10.0.0.1" },
        { type: "Hostname", address: "n" },
      ],
      actual: [{ type: "Hostname", address: "n" }],
    },
  });
});

test("describeNode() shows the labels of ours that a Node has, whatever is known of its instance", () => {
  const labels = {
    "topology.kubernetes.io/zone": "z",
    "failure-domain.beta.kubernetes.io/zone": "z",
    "cloud/host": "h",
    "kubernetes.io/hostname": "n",
  };
  const node = toNode("n", { providerId: "test://i", labels });
  const provider = { ...TRUSTED, labelKeys: new Set(["cloud/host", "cloud/pool"]) };
  const { "kubernetes.io/hostname": _theirs, ...ours } = labels;
  const unknown = { kind: "unknown", reason: "notCovered", message: "a pool is lost" } as const;
  const halted = { kind: "present", instance: toInstance("i"), matchedBy: "providerId" } as const;
  const gone = { kind: "absent", evidence: "404" } as const;
  for (const presence of [unknown, halted, gone]) {
    expect(describeNode(node, presence, provider).labels.actual).toEqual(ours);
  }
  const foreign = { kind: "foreign", providerId: "x://i" } as const;
  expect(describeNode(node, foreign, provider).labels).toEqual({ actual: {} });
});

test("describeNode() lets the provider say where a machine is, and reads the labels of others", () => {
  const asked: unknown[] = [];
  const provider = {
    ...TRUSTED,
    toPlaces: (...question: unknown[]) => {
      asked.push(question);
      return [{ kind: "pool", id: "p", name: "Pool" }];
    },
  };
  const labels = { "topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "z" };
  const node = toNode("n", { providerId: "x://i", labels });
  const unknown = { kind: "unknown", reason: "denied", message: "check the token" } as const;
  const foreign = { kind: "foreign", providerId: "x://i" } as const;
  expect(describeNode(node, unknown, provider).places).toEqual([
    { kind: "pool", id: "p", name: "Pool" },
  ]);
  expect(asked).toEqual([[undefined, labels]]);
  expect(describeNode(node, foreign, provider).places).toEqual([
    { kind: "region", id: "r" },
    { kind: "zone", id: "z" },
  ]);
});

test("describeNode() shows what tags ask for beside what the Node has", () => {
  const tagLabels = { labels: { "a.b/rack": "7" }, unclear: [], refused: [] };
  const instance = toInstance("i", { tagLabels });
  const node = toNode("n", { providerId: "test://i", labels: { "a.b/rack": "1", mine: "x" } });
  const presence = { kind: "present", instance, matchedBy: "providerId" } as const;
  expect(describeNode(node, presence, TRUSTED).labels).toEqual({
    wanted: { "a.b/rack": "7" },
    actual: { "a.b/rack": "1" },
  });
});

test("describeNode() wants no addresses that are left alone", () => {
  const addresses = [{ type: "InternalIP", address: "10.0.0.1" }] as const;
  const instance = toInstance("i", { addresses });
  const presence = { kind: "present", instance, matchedBy: "providerId" } as const;
  const provider = { ...TRUSTED, unmanaged: new Set(["addresses"] as const) };
  expect(describeNode(toNode("n"), presence, provider).addresses).not.toHaveProperty("wanted");
});
