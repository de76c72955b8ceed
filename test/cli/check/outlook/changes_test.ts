import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../../../lib/cloud/deletion/guard.ts";
import { DEFAULT_OUT_OF_SERVICE } from "../../../../lib/cloud/deletion/streak.ts";
import type { Presence } from "../../../../lib/cloud/provider.ts";
import type { Acting } from "../../../../lib/cli/check/outlook/acting.ts";
import { formatChange, toOutlook } from "../../../../lib/cli/check/outlook/changes.ts";
import type { ProvenOff } from "../../../../lib/cloud/capabilities/proven_off.ts";
import { MachineClaims } from "../../../../lib/controllers/node/plan.ts";
import { FakeProvider, toInstance, toInventory } from "../../../support/cloud/instances.ts";
import { type NodeOptions, toNode } from "../../../support/nodes/nodes.ts";

const provider = new FakeProvider();
const instance = toInstance("i", {
  zone: "z",
  addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
});
const PRESENT: Presence = { kind: "present", instance, matchedBy: "systemUuid" };
const STOPPED: Presence = { ...PRESENT, instance: { ...instance, state: "stopped" } };
const ABSENT: Presence = { kind: "absent", evidence: "404" };
const OURS = { providerId: "test://i", uninitialized: false } as const;
const DONE: NodeOptions = {
  ...OURS,
  labels: { "topology.kubernetes.io/zone": "z", "failure-domain.beta.kubernetes.io/zone": "z" },
  addresses: [
    ["InternalIP", "10.0.0.1"],
    ["Hostname", "n"],
  ],
};

const ACTING: Acting = { hasLifecycle: true, deletion: DEFAULT_DELETION };
const COMMON = { provider, inventory: toInventory([instance]), acting: ACTING };

function listChanges(
  options: NodeOptions,
  presence: Presence,
  acting: Acting = ACTING,
  from: FakeProvider = provider,
): string[] {
  const node = toNode("n", options);
  return toOutlook(node, presence, {
    ...COMMON,
    provider: from,
    acting,
    claims: MachineClaims.of([node], {}, () => undefined),
  }).changes.flatMap(formatChange);
}

test("toOutlook() names what a person should know of a machine as a problem", () => {
  const node = toNode("n", DONE);
  const presence: Presence = { ...PRESENT, caution: "it is in a pool of others" };
  const { changes, problems } = toOutlook(node, presence, {
    ...COMMON,
    claims: MachineClaims.of([node], {}, () => undefined),
  });
  expect([changes, problems]).toEqual([[], ["it is in a pool of others"]]);
});

describe("toOutlook()", () => {
  const zone = [
    "+ topology.kubernetes.io/zone=z",
    "+ failure-domain.beta.kubernetes.io/zone=z",
  ] as const;
  const address = "+ address InternalIP 10.0.0.1";
  const shutdown = { key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" };
  const cases: readonly (readonly [string, NodeOptions, Presence, readonly string[]])[] = [
    ["nothing for a Node that is as it should be", DONE, PRESENT, []],
    [
      "the initialisation of a new Node",
      {},
      PRESENT,
      [
        "- taint node.cloudprovider.kubernetes.io/uninitialized",
        "+ provider ID test://i",
        ...zone,
        address,
      ],
    ],
    ["labels that are missing", { ...DONE, labels: {} }, PRESENT, zone],
    [
      "a label that differs",
      { ...DONE, labels: { ...DONE.labels, "topology.kubernetes.io/zone": "y" } },
      PRESENT,
      ["~ topology.kubernetes.io/zone=y -> z"],
    ],
    ["an address that is missing", { ...DONE, addresses: [["Hostname", "n"]] }, PRESENT, [address]],
    [
      "an address of another type",
      {
        ...DONE,
        addresses: [
          ["ExternalIP", "10.0.0.1"],
          ["Hostname", "n"],
        ],
      },
      PRESENT,
      ["- address ExternalIP 10.0.0.1", address],
    ],
    [
      "addresses in another order",
      { ...DONE, addresses: DONE.addresses?.toReversed() ?? [] },
      PRESENT,
      ["~ order of addresses: InternalIP 10.0.0.1, Hostname n"],
    ],
    [
      "the shutdown taint",
      DONE,
      STOPPED,
      ["+ taint node.cloudprovider.kubernetes.io/shutdown: its machine does not run"],
    ],
    ["no second shutdown taint", { ...DONE, taints: [shutdown] }, STOPPED, []],
    [
      "a deletion",
      DONE,
      ABSENT,
      ["- the Node itself, after deletion.holdOff and within the fleet limit"],
    ],
    ["no deletion of an uninitialised Node", { ...DONE, uninitialized: true }, ABSENT, []],
    ["no deletion of a Node without a provider ID", { uninitialized: false }, ABSENT, []],
    [
      "nothing while the cloud does not tell",
      DONE,
      { kind: "unknown", reason: "notCovered", message: "" },
      [],
    ],
  ];
  test.each(cases)("lists %s", (_title, options, presence, changes) => {
    expect(listChanges(options, presence)).toEqual([...changes]);
  });

  test("lists no deletion of a Ready Node", () => {
    const node = toNode("n", DONE);
    const conditions = [{ type: "Ready", status: "True" }];
    const ready = { ...node, status: { ...node.status, conditions } };
    expect(
      toOutlook(ready, ABSENT, {
        ...COMMON,
        claims: MachineClaims.of([ready], {}, () => undefined),
      }).changes,
    ).toEqual([]);
  });

  test("says why a Node could not be initialised, and that another claims its machine", () => {
    const wrong = toNode("n", { nodeIp: "10.9.9.9" });
    const options = { ...COMMON, claims: MachineClaims.of([wrong], {}, () => undefined) };
    expect(toOutlook(wrong, PRESENT, options).problems.join()).toContain("10.9.9.9");
    const twins = [toNode("n"), toNode("m", { providerId: "test://i" })] as const;
    const { changes, problems } = toOutlook(twins[0], PRESENT, {
      ...COMMON,
      claims: MachineClaims.of(twins, {}, () => undefined),
    });
    expect(changes).toEqual([]);
    expect(problems.join()).toContain('claimed by Node "m"');
  });
});

test("toOutlook() lists for machines that are off or gone only what controllers do that run", () => {
  const without: Acting = { ...ACTING, hasLifecycle: false };
  const kept: Acting = { ...ACTING, deletion: { ...DEFAULT_DELETION, enabled: false } };
  expect(listChanges(DONE, STOPPED, without)).toEqual([]);
  expect(listChanges(DONE, ABSENT, without)).toEqual([]);
  expect(listChanges(DONE, ABSENT, kept)).toEqual([]);
  expect(listChanges(DONE, STOPPED, kept)).toHaveLength(1);
});

test("toOutlook() lists both taints of a machine that is off, where both controllers run", () => {
  const acting: Acting = { ...ACTING, outOfService: DEFAULT_OUT_OF_SERVICE };
  const provenOff: ProvenOff = {
    isShownOff: () => true,
    readPower: async () => ({ kind: "on" }),
  };
  const able = Object.assign(new FakeProvider(), { provenOff });
  expect(listChanges(DONE, STOPPED, acting, able)).toEqual([
    "+ taint node.cloudprovider.kubernetes.io/shutdown: its machine does not run",
    "+ taint node.kubernetes.io/out-of-service: would be set after 2 more observations over 30s and proof that the " +
      "machine is off, within the fleet limit",
  ]);
  expect(listChanges(DONE, STOPPED, ACTING, able)).toHaveLength(1);
  expect(listChanges(DONE, STOPPED, acting)).toHaveLength(1);
});

test("toOutlook() lists labels that come and go with their tags, and names tags that cannot be followed", () => {
  const labels = { ...DONE.labels, "a.b/row": "1", "a.b/gone": "2", "a.b/mine": "3" };
  const record = JSON.stringify({ "a.b/row": "1", "a.b/gone": "2" });
  const node = toNode("n", {
    ...DONE,
    labels,
    annotations: { "landfall.dev/labels-from-tags": record },
  });
  const tagLabels = { labels: { "a.b/row": "9", "a.b/mine": "8" }, unclear: [], refused: ["no"] };
  const presence: Presence = { ...PRESENT, instance: { ...instance, tagLabels } };
  const claims = MachineClaims.of([node], {}, () => undefined);
  const { changes, problems } = toOutlook(node, presence, { ...COMMON, claims });
  expect(changes.flatMap(formatChange)).toEqual(["~ a.b/row=1 -> 9", "- a.b/gone=2"]);
  expect(problems).toEqual([expect.stringContaining('label a.b/mine is "3"'), expect.any(String)]);
});

test("toOutlook() plans no addresses where the settings leave them alone", () => {
  const node = toNode("n", { ...DONE, addresses: [["InternalIP", "100.64.0.1"]] });
  const left = { ...provider, unmanaged: new Set(["addresses"] as const) };
  const sources = {
    ...COMMON,
    provider: Object.assign(new FakeProvider(), left),
    claims: MachineClaims.of([node], {}, () => undefined),
  };
  expect(toOutlook(node, PRESENT, sources).changes).toEqual([]);
  expect(toOutlook(node, PRESENT, { ...sources, provider }).changes).toHaveLength(1);
});
