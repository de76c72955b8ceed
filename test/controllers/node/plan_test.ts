import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Instance } from "../../../lib/cloud/instance.ts";
import type { Presence } from "../../../lib/cloud/provider.ts";
import { type NodePlan, planNode } from "../../../lib/controllers/node/plan.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { type NodeOptions, toNode } from "../../support/nodes/nodes.ts";

const INSTANCE = toInstance("i", {
  region: "r",
  zone: "z",
  instanceType: "4vCPU-8GB",
  addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
  labels: { "a.b/c": "d" },
});

function toPresent(instance: Instance = INSTANCE): Presence {
  return { kind: "present", instance, matchedBy: "systemUuid" };
}

/** The Node as a server would leave it: a merge patch of labels, taints and provider ID, and whole new addresses. */
function apply(node: Node, plan: NodePlan): Node {
  const patch = plan.patch as
    | {
        metadata?: { labels?: Record<string, string> };
        spec?: { taints?: []; providerID?: string };
      }
    | undefined;
  return {
    ...node,
    metadata: {
      ...node.metadata,
      labels: { ...node.metadata.labels, ...patch?.metadata?.labels },
    },
    spec: {
      ...node.spec,
      ...patch?.spec,
      taints: patch?.spec ? (patch.spec.taints ?? []) : (node.spec?.taints ?? []),
    },
    status: { ...node.status, ...(plan.addresses ? { addresses: plan.addresses } : {}) },
  };
}

test("planNode() removes the whole list of taints when none is left", () => {
  expect(planNode(toNode("n"), toPresent(), "trusted").patch?.spec).toMatchObject({ taints: null });
});

test("N-09 N-10 planNode() never changes a provider ID that is set", () => {
  const plan = planNode(toNode("n", { providerId: "test://other" }), toPresent(), "trusted");
  expect(plan.initialises).toBe(true);
  expect(plan.patch?.spec).not.toHaveProperty("providerID");
});

describe("N-12 N-13 planNode() leaves a tainted Node alone while its instance is not there", () => {
  const cases: readonly (readonly [string, Presence, string | undefined])[] = [
    ["foreign", { kind: "foreign", providerId: "aws:///i" }, undefined],
    [
      "denied",
      { kind: "unknown", reason: "denied", message: "401: check the token" },
      "401: check the token",
    ],
    ["ambiguous", { kind: "unknown", reason: "ambiguous", message: "two fit" }, "two fit"],
    ["absent", { kind: "absent", evidence: "404" }, "gone (404)"],
  ];
  test.each(cases)("%s", (_name, presence, said) => {
    const plan = planNode(toNode("n", { providerId: "test://i" }), presence, "trusted");
    expect(plan.initialises).toBe(false);
    expect(plan.patch).toBeUndefined();
    expect(plan.addresses).toBeUndefined();
    if (said === undefined) expect(plan.warnings).toEqual([]);
    else {
      expect(plan.blocked).toContain(said);
      expect(plan.warnings[0]).toMatchObject({
        type: "Warning",
        reason: "NodeInitializationFailed",
      });
      expect(plan.warnings[0]?.message).toContain(said);
    }
  });
});

test("planNode() warns about a malformed provider ID, tainted or not, and changes nothing", () => {
  const presence: Presence = { kind: "unknown", reason: "malformedProviderId", message: 'bad "x"' };
  for (const uninitialized of [true, false]) {
    const plan = planNode(
      toNode("n", { providerId: "test:x", uninitialized }),
      presence,
      "trusted",
    );
    expect(plan.patch).toBeUndefined();
    expect(plan.warnings).toEqual([
      { type: "Warning", reason: "MalformedProviderID", message: 'bad "x"' },
    ]);
  }
});

test.each([
  ["N-07", "is no IP", "10.9.9", '"10.9.9" is not an IP'],
  ["N-08", "is unknown to the cloud", "10.9.9.9", "10.9.9.9"],
])("%s N-25 planNode() keeps taint and addresses and warns when the node IP %s", (...row) => {
  const [, , nodeIp, said] = row;
  const plan = planNode(toNode("n", { nodeIp }), toPresent(), "verified");
  expect(plan.initialises).toBe(false);
  expect(plan.patch).toBeUndefined();
  expect(plan.addresses).toBeUndefined();
  expect(plan.warnings[0]).toMatchObject({ type: "Warning", reason: "InvalidProvidedNodeIP" });
  expect(plan.blocked).toContain(said);
});

test("N-26 planNode() initialises a Node in spite of an illegal label, and warns", () => {
  const plan = planNode(toNode("n"), toPresent({ ...INSTANCE, zone: "bad zone" }), "trusted");
  expect(plan.initialises).toBe(true);
  expect(plan.warnings[0]).toMatchObject({ type: "Warning", reason: "InvalidCloudLabel" });
});

test("N-14 planNode() sets the labels that differ, and no additional label that is there or reserved", () => {
  const labels = { "a.b/c": "mine", "topology.kubernetes.io/zone": "old", role: "web" };
  const there = { ...labels, "failure-domain.beta.kubernetes.io/zone": "z" };
  const told = { "a.b/c": "theirs", "foo.k8s.io/x": "v", "my-k8s.io/x": "v" };
  const instance = toInstance("i", { zone: "z", labels: told });
  const { patch, warnings } = planNode(
    toNode("n", { labels: there }),
    toPresent(instance),
    "trusted",
  );
  const set = { "topology.kubernetes.io/zone": "z", "my-k8s.io/x": "v" };
  expect(patch?.metadata).toEqual({ labels: set });
  expect(warnings.map(({ message }) => message)).toEqual([
    'Cannot set a label of instance "i": foo.k8s.io/x is reserved for Kubernetes',
  ]);
});

test("N-16 planNode() plans nothing more once its plan was applied", () => {
  const ip = fc.constantFrom("10.0.0.1", "10.0.0.2", "fd00::1");
  const address = fc.record({
    type: fc.constantFrom("InternalIP", "ExternalIP", "Hostname"),
    address: ip,
  });
  const text = fc.constantFrom("z", "bad value", "", "Z-1");
  const instance = fc.record({
    region: text,
    zone: text,
    instanceType: text,
    addresses: fc.array(address, { maxLength: 4 }),
    labels: fc.dictionary(fc.constantFrom("a.b/c", "k8s.io/x", "bad key"), text, { maxKeys: 3 }),
    addressesWithNodeIp: fc.option(
      fc.record({ externalIps: fc.array(ip, { maxLength: 3 }), repeatsNodeIps: fc.boolean() }),
      { nil: undefined },
    ),
  });
  const options = fc.record(
    {
      nodeIp: fc.constantFrom("10.0.0.1", "10.0.0.2,fd00::1", "bad"),
      uninitialized: fc.boolean(),
      providerId: fc.constantFrom("test://i"),
      labels: fc.dictionary(
        fc.constantFrom("a.b/c", "failure-domain.beta.kubernetes.io/zone"),
        text,
      ),
    },
    { requiredKeys: [] },
  );
  const policy = fc.constantFrom("trusted" as const, "verified" as const);
  fc.assert(
    fc.property(options, instance, policy, (nodeOptions, over, providedNodeIps) => {
      const presence = toPresent({ ...INSTANCE, ...(over as Partial<Instance>) });
      const node = toNode("n", nodeOptions as NodeOptions);
      const first = planNode(node, presence, providedNodeIps);
      const second = planNode(apply(node, first), presence, providedNodeIps);
      expect(second.patch).toBeUndefined();
      expect(second.addresses).toBeUndefined();
      expect(second.news).toEqual([]);
    }),
  );
});
