import { describe, expect, test } from "bun:test";
import {
  isPaused,
  toHostFacts,
  toShownState,
} from "../../../../lib/controllers/vino/hosts/host_facts.ts";
import type { BareMetalHost } from "../../../../lib/kube/kinds/bare_metal_host.ts";

function toHost(
  { annotations = {}, labels = {} }: BareMetalHost["metadata"] | Record<string, never> = {},
  rest: Omit<BareMetalHost, "metadata"> = {},
): BareMetalHost {
  return { metadata: { name: "h", uid: "u", resourceVersion: "1", annotations, labels }, ...rest };
}

const inState = (state: string): BareMetalHost =>
  toHost({}, { status: { provisioning: { state } } });

describe("toHostFacts()", () => {
  test("reads whose a host is, and for which machine", () => {
    const host = toHost({
      name: "h",
      labels: { "landfall.dev/vino-uid": "v" },
      annotations: {
        "landfall.dev/machine": "vino-1b4e28ba-a-0",
        "landfall.dev/machine-id": "vm",
        "landfall.dev/labels-from-vino": "a,b/c",
      },
    });
    expect(toHostFacts(host)).toMatchObject({
      vinoUid: "v",
      machineName: "vino-1b4e28ba-a-0",
      machineId: "vm",
      record: new Set(["a", "b/c"]),
      isPaused: false,
      use: undefined,
    });
  });

  type Use = readonly [what: string, host: BareMetalHost, said: readonly string[]];
  const uses: readonly Use[] = [
    [
      "a consumer",
      toHost({}, { spec: { consumerRef: { kind: "M", name: "m" } } }),
      ['is used by M "m"', "delete that object"],
    ],
    [
      "a consumer of Cluster API",
      toHost({}, { spec: { consumerRef: { kind: "Metal3Machine", name: "m" } } }),
      ['is used by Metal3Machine "m"', "delete its Machine in Cluster API"],
    ],
    [
      "a consumer without a name",
      toHost({}, { spec: { consumerRef: {} } }),
      ['is used by an object ""', "delete that object"],
    ],
    [
      "a SIPCluster",
      toHost({ name: "h", labels: { "sip.airshipit.org/cluster-name": "c" } }),
      ['belongs to SIPCluster "c"', "shrink or delete that SIPCluster"],
    ],
    [
      "state provisioned",
      inState("provisioned"),
      ["is provisioned by metal3", "remove its spec.image"],
    ],
    [
      "state provisioning",
      inState("provisioning"),
      ["is provisioning by metal3", "remove its spec.image"],
    ],
    [
      "state deprovisioning",
      inState("deprovisioning"),
      ["is deprovisioning by metal3", "wait until metal3 is done"],
    ],
    ["state externally provisioned", inState("externally provisioned"), []],
    ["state available", inState("available"), []],
    ["state unmanaged", inState("unmanaged"), []],
    ["no state", toHost(), []],
  ];
  test.each(uses)("knows what uses a host with %s, and how that ends", (_what, host, said) => {
    const facts = toHostFacts(host);
    expect([facts.use, facts.wayOut].filter((one) => one !== undefined)).toEqual([...said]);
  });

  test.each([
    ["", true],
    ["unmanaged", true],
    ["registering", true],
    ["available", false],
    ["externally provisioned", false],
  ])("knows that a management controller may change in state %p: %p", (state, isOpen) => {
    expect(toHostFacts(inState(state)).isBmcOpen).toBe(isOpen);
  });
});

test.each([
  ["baremetalhost.metal3.io/paused", true],
  ["cluster.x-k8s.io/paused", true],
  ["clusterctl.cluster.x-k8s.io/delete-for-move", true],
  ["example.org/paused", false],
])("isPaused() of a host with the annotation %s is %p", (key, expected) => {
  expect(isPaused(toHost({ name: "h", annotations: { [key]: "" } }))).toBe(expected);
});

test.each([
  ["that goes", { isDeleting: true, isPaused: true }, true, "Removing"],
  ["that is paused", { isPaused: true, use: "is used" }, false, "Paused"],
  ["that is in use and should go", { use: "is used" }, false, "InUse"],
  ["that is in use", { use: "is used" }, true, "Published"],
  ["that waits for its removal", {}, false, "Published"],
] as const)("toShownState() of a host %s", (_title, change, isWanted, expected) => {
  const host = { name: "h", isDeleting: false, isPaused: false, use: undefined, ...change };
  expect(toShownState(host, isWanted)).toBe(expected);
});
