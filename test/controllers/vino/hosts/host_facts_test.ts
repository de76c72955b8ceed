import { describe, expect, test } from "bun:test";
import { isPaused, toHostFacts } from "../../../../lib/controllers/vino/hosts/host_facts.ts";
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

  type Use = readonly [what: string, host: BareMetalHost, use: string | undefined];
  const uses: readonly Use[] = [
    [
      "a consumer",
      toHost({}, { spec: { consumerRef: { kind: "M", name: "m" } } }),
      'is used by M "m"',
    ],
    [
      "a consumer without a name",
      toHost({}, { spec: { consumerRef: {} } }),
      'is used by an object ""',
    ],
    [
      "a SIPCluster",
      toHost({ name: "h", labels: { "sip.airshipit.org/cluster-name": "c" } }),
      'belongs to SIPCluster "c"',
    ],
    ["state provisioned", inState("provisioned"), "is provisioned by metal3"],
    ["state provisioning", inState("provisioning"), "is provisioning by metal3"],
    ["state deprovisioning", inState("deprovisioning"), "is deprovisioning by metal3"],
    ["state externally provisioned", inState("externally provisioned"), undefined],
    ["state available", inState("available"), undefined],
    ["state unmanaged", inState("unmanaged"), undefined],
    ["no state", toHost(), undefined],
  ];
  test.each(uses)("knows what uses a host with %s", (_what, host, use) => {
    expect(toHostFacts(host).use).toBe(use);
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
