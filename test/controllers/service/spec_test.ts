import { describe, expect, test } from "bun:test";
import {
  findNeed,
  isWanted,
  mayHold,
  needsCleanup,
  readSourceRanges,
  type ServiceNeed,
  toClaim,
  toLiveServices,
  toSpec,
} from "../../../lib/controllers/service/spec.ts";
import type { Service } from "../../../lib/kube/kinds/service.ts";
import { FINALIZER, toService } from "../../support/services/service.ts";
import {
  isBackendNode,
  type NodeSet,
  selectNodes,
  toCandidates,
} from "../../../lib/controllers/service/node_set.ts";
import type { Presence } from "../../../lib/cloud/provider.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toInstance } from "../../support/cloud/instances.ts";

const RECORD = "landfall.dev/load-balancer";

describe("toClaim()", () => {
  test("takes the record out of the annotations, and everything else as it is", () => {
    const service = toService({
      metadata: { labels: { tier: "front" }, annotations: { mine: "1", [RECORD]: "text" } },
      spec: { loadBalancerIP: " 192.0.2.7 " },
      status: {
        loadBalancer: { ingress: [{ ip: "192.0.2.7", ipMode: "VIP" }, { hostname: "a.example" }] },
      },
    });
    expect(toClaim(service)).toEqual({
      owner: { namespace: "web", name: "shop", uid: "uid-1" },
      annotations: { mine: "1" },
      labels: { tier: "front" },
      address: "192.0.2.7",
      ports: [{ port: 80, protocol: "TCP" }],
      ingress: [{ ip: "192.0.2.7", ipMode: "VIP" }, { hostname: "a.example" }],
      record: "text",
    });
  });

  test("fails on nothing", () => {
    const ports = [
      { port: 80, protocol: "TCP" },
      { port: 1, protocol: "QUIC" },
    ];
    const ingress = [{}, { ip: "x", ipMode: "Strange" }];
    const claim = toClaim(
      toService({ spec: { ports, ipFamilies: ["IPv7"] }, status: { loadBalancer: { ingress } } }),
    );
    expect(claim).toMatchObject({ ports: [{ port: 80 }], ingress: [{ ip: "x" }] });
    expect(toClaim({ metadata: { name: "shop" } }).owner).toEqual({
      namespace: "",
      name: "shop",
      uid: "",
    });
  });
});

const NO_NODES = { backends: [], excludedIds: new Set<string>() };

describe("toSpec()", () => {
  function read(spec: Service["spec"]): unknown {
    const reading = toSpec(toService({ spec }), NO_NODES);
    return "spec" in reading ? reading.spec : reading.problem;
  }

  test("has the defaults of the API server", () => {
    expect(read({ ports: [{ port: 80 }] })).toEqual({
      owner: { namespace: "web", name: "shop", uid: "uid-1" },
      annotations: {},
      labels: {},
      ingress: [],
      ports: [{ protocol: "TCP", port: 80 }],
      trafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      backends: [],
      excludedInstanceIds: new Set(),
    });
  });

  test.each<[string, Service["spec"], object]>([
    [
      "ports",
      { ports: [{ name: "dns", port: 53, protocol: "UDP", nodePort: 30_053, appProtocol: "dns" }] },
      { ports: [{ name: "dns", protocol: "UDP", port: 53, nodePort: 30_053, appProtocol: "dns" }] },
    ],
    [
      "ports without node ports",
      { ports: [{ port: 53, nodePort: 0 }] },
      { ports: [{ protocol: "TCP", port: 53 }] },
    ],
    ["affinity", { sessionAffinity: "ClientIP" }, { hasClientIpAffinity: true }],
    ["the policy Local", { externalTrafficPolicy: "Local" }, { trafficPolicy: "Local" }],
    [
      "dual-stack",
      { ipFamilies: ["IPv6", "IPv4"], ipFamilyPolicy: "PreferDualStack" },
      { ipFamilies: ["IPv6", "IPv4"], ipFamilyPolicy: "PreferDualStack" },
    ],
    [
      "source ranges",
      { loadBalancerSourceRanges: ["10.0.0.0/8"] },
      { sourceRanges: ["10.0.0.0/8"] },
    ],
  ])("reads %s", (_what, spec, expected) => {
    expect(read(spec)).toMatchObject(expected);
  });

  test.each<[string, Service["spec"]]>([
    ["spec.ports: there is none", { ports: [] }],
    ['spec.ports[0].protocol: "QUIC" is not known', { ports: [{ port: 80, protocol: "QUIC" }] }],
    ["spec.ports[0].port: 65536 is not a port", { ports: [{ port: 65_536 }] }],
    ["spec.ports[0].nodePort: -1 is not a port", { ports: [{ port: 80, nodePort: -1 }] }],
    ["spec.ports[1]: TCP 80 is there twice", { ports: [{ port: 80 }, { port: 80 }] }],
    ['spec.ipFamilies: "IPv7" is not known', { ipFamilies: ["IPv7"] }],
  ])("says %s", (problem, spec) => {
    expect(read(spec)).toBe(problem);
  });
});

const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";
const AUTOSCALER = { key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" };

function toNode(change: Partial<Node["metadata"]> = {}, rest: Omit<Node, "metadata"> = {}): Node {
  return { metadata: { name: "n1", ...change }, ...rest };
}

test.each<[string, Node, boolean]>([
  ["a plain Node", toNode(), true],
  [
    "one that is not Ready",
    toNode({}, { status: { conditions: [{ type: "Ready", status: "False" }] } }),
    true,
  ],
  ["one that is being deleted", toNode({ deletionTimestamp: "2026-01-01T00:00:00Z" }), false],
  ["one that the autoscaler removes", toNode({}, { spec: { taints: [AUTOSCALER] } }), false],
  [
    "one with another taint",
    toNode({}, { spec: { taints: [{ key: "a", effect: "NoSchedule" }] } }),
    true,
  ],
  ["a control plane", toNode({ labels: { "node-role.kubernetes.io/control-plane": "" } }), true],
])("S-10 isBackendNode() of %s", (_what, node, expected) => {
  expect(isBackendNode(node)).toBe(expected);
});

test.each<[string, boolean]>([
  ...["", "true", "1", "t", "T", "TRUE", "True", "foo", "no", "0 "].map(
    (one) => [one, true] as [string, boolean],
  ),
  ...["false", "0", "f", "F", "FALSE", "False"].map((one) => [one, false] as [string, boolean]),
])("S-10 a Node with the label for exclusion %p is excluded: %p", (label, expected) => {
  expect(isBackendNode(toNode({ labels: { [EXCLUDE]: label } }))).toBe(!expected);
});

describe("selectNodes()", () => {
  const unknown: Presence = { kind: "unknown", reason: "noInventory", message: "" };
  const present: Presence = { kind: "present", instance: toInstance("vm-1"), matchedBy: "name" };
  const toInstanceId = (id: string): string | undefined =>
    id.startsWith("test://") ? id.slice(7) : undefined;
  const select = (presence: Presence, ...nodes: readonly Node[]): NodeSet =>
    selectNodes(toCandidates(nodes, { toInstanceId, findPresence: () => presence }), []);

  test("takes the instance from the provider ID, else from the inventory, else it is not known", () => {
    const named = toNode({}, { spec: { providerID: "test://vm-7" } });
    expect(select(present, named).backends).toMatchObject([{ instanceId: "vm-7" }]);
    expect(select(present, toNode()).backends).toMatchObject([{ instanceId: "vm-1" }]);
    expect(select(unknown, toNode()).backends).toEqual([{ nodeName: "n1", internalIps: [] }]);
  });

  test("leaves out Nodes of another cloud, and excludes those that must get no traffic", () => {
    const foreign = toNode({}, { spec: { providerID: "other://1" } });
    expect(select({ kind: "foreign" }, foreign).backends).toEqual([]);
    const excluded = toNode({ labels: { [EXCLUDE]: "" } }, { spec: { providerID: "test://vm-7" } });
    const { backends, excludedIds } = select(present, excluded);
    expect([backends, [...excludedIds]]).toEqual([[], ["vm-7"]]);
  });

  test("has the InternalIPs, by the name of the Node", () => {
    const addresses = [
      { type: "InternalIP", address: "10.0.0.1" },
      { type: "ExternalIP", address: "192.0.2.1" },
      { type: "InternalIP", address: "fd00::1" },
    ];
    const nodes = [toNode({ name: "b" }), toNode({ name: "a" }, { status: { addresses } })];
    expect(select(unknown, ...nodes).backends).toEqual([
      { nodeName: "a", internalIps: ["10.0.0.1", "fd00::1"] },
      { nodeName: "b", internalIps: [] },
    ]);
  });
});

const finalizers = [FINALIZER];
const deletionTimestamp = "2026-01-01T00:00:00Z";
const annotations = { "landfall.dev/load-balancer": "{}" };
const loadBalancerClass = "example.com/other";
const ClusterIP = { type: "ClusterIP" };

describe("S-01 isWanted()", () => {
  test.each<[string, Service["spec"], boolean]>([
    ["LoadBalancer without a class", {}, true],
    ["LoadBalancer with our class", { loadBalancerClass: "example.com/ours" }, true],
    ["LoadBalancer with another class", { loadBalancerClass }, false],
    ["ClusterIP", ClusterIP, false],
    ["NodePort", { type: "NodePort" }, false],
    ["ExternalName", { type: "ExternalName" }, false],
  ])("of %s", (_what, spec, wanted) => {
    expect(
      isWanted(toService({ spec }), { ownClass: "example.com/ours", servesClassless: true }),
    ).toBe(wanted);
  });

  test("takes no class without the flag", () => {
    expect(isWanted(toService({ spec: { loadBalancerClass } }), { servesClassless: true })).toBe(
      false,
    );
  });
});

test.each<[string, Parameters<typeof toService>[0], boolean]>([
  ["without the finalizer", { metadata: { deletionTimestamp } }, false],
  ["that stays", { metadata: { finalizers } }, false],
  ["that is deleted", { metadata: { finalizers, deletionTimestamp } }, true],
  ["of another type", { metadata: { finalizers }, spec: ClusterIP }, true],
  ["of another class", { metadata: { finalizers }, spec: { loadBalancerClass } }, false],
])("S-01 needsCleanup() of a Service %s", (_what, input, needed) => {
  expect(needsCleanup(toService(input))).toBe(needed);
});

test.each<[string, Parameters<typeof toService>[0], boolean]>([
  ["with the finalizer", { metadata: { finalizers }, spec: { loadBalancerClass } }, true],
  ["of another class", { spec: { loadBalancerClass } }, true],
  ["of another class that is deleted", { metadata: { deletionTimestamp } }, false],
  ["of another type", { spec: ClusterIP }, false],
])("mayHold() of a Service %s", (_what, input, may) => {
  expect(mayHold(toService(input))).toBe(may);
});

describe("findNeed()", () => {
  const OTHER = { spec: { loadBalancerClass } };
  const NONE = { spec: ClusterIP };
  const finished = { metadata: { finalizers } };
  const deleted = { metadata: { deletionTimestamp } };
  const released = { metadata: { finalizers, deletionTimestamp } };
  const recorded = { metadata: { annotations } };
  const ours = { metadata: { finalizers, annotations } };
  const decide = (
    input: Parameters<typeof toService>[0],
    isManaged: boolean,
    leavesNothingBehind: boolean,
  ): ServiceNeed =>
    findNeed(toService(input), {
      classes: { servesClassless: true },
      isManaged,
      leavesNothingBehind,
    });

  test.each<[string, Parameters<typeof toService>[0], boolean, ServiceNeed]>([
    ["wanted", {}, false, "ensure"],
    ["wanted and known", finished, true, "ensure"],
    ["deleted", released, false, "release"],
    ["deleted, without the finalizer", deleted, false, "nothing"],
    ["deleted, finalizer removed by hand", deleted, true, "release"],
    ["of another type", { ...finished, ...NONE }, false, "release"],
    ["of another type, never a load balancer", NONE, false, "nothing"],
    ["of another type, finalizer removed by hand", NONE, true, "release"],
    ["of another class", OTHER, false, "nothing"],
    ["of another class, and its finalizer", { ...finished, ...OTHER }, false, "nothing"],
    ["of another class, and our record", { ...ours, ...OTHER }, false, "conflict"],
    ["of another class since we made one", { ...finished, ...OTHER }, true, "release"],
  ])("of a Service that is %s", (_what, input, isManaged, need) => {
    expect(decide(input, isManaged, false)).toBe(need);
  });

  test.each<[string, Parameters<typeof toService>[0], boolean, ServiceNeed]>([
    ["deleted: it keeps its address until it is gone", deleted, true, "ensure"],
    ["of another type, with our record", { ...recorded, ...NONE }, false, "release"],
    ["of another type, without it", NONE, false, "nothing"],
    ["of another class, with our record", { ...recorded, ...OTHER }, false, "conflict"],
    ["deleted, with a finalizer from before", released, false, "release"],
  ])("where nothing is left behind, of a Service that is %s", (_what, input, isManaged, need) => {
    expect(decide(input, isManaged, true)).toBe(need);
  });
});

const KEY = "service.beta.kubernetes.io/load-balancer-source-ranges";

function read(
  loadBalancerSourceRanges: readonly string[] | undefined,
  annotation?: string,
  families: readonly ("IPv4" | "IPv6")[] = ["IPv4"],
): unknown {
  const metadata = annotation === undefined ? {} : { annotations: { [KEY]: annotation } };
  const spec = loadBalancerSourceRanges ? { loadBalancerSourceRanges } : {};
  return readSourceRanges(toService({ metadata, spec }), families);
}

test.each<[string, readonly string[] | undefined, string | undefined, unknown]>([
  ["nothing", undefined, undefined, {}],
  ["an empty list and an empty annotation", [], " ", {}],
  ["everything", ["0.0.0.0/0"], undefined, {}],
  ["everything and more", ["10.0.0.0/8", "0.0.0.0/0"], undefined, {}],
  ["the spec before the annotation", ["10.0.0.0/8"], "192.0.2.0/24", { ranges: ["10.0.0.0/8"] }],
  [
    "the annotation",
    undefined,
    " 192.0.2.0/24 , 10.0.0.0/8",
    { ranges: ["10.0.0.0/8", "192.0.2.0/24"] },
  ],
  [
    "each once, without host bits",
    ["10.1.2.3/8", "10.0.0.0/8"],
    undefined,
    { ranges: ["10.0.0.0/8"] },
  ],
  [
    "IPv6 after IPv4",
    ["2001:DB8:0::/32", "10.0.0.0/8"],
    undefined,
    { ranges: ["10.0.0.0/8", "2001:db8::/32"] },
  ],
])("S-17 readSourceRanges() takes %s", (_what, spec, annotation, expected) => {
  expect(read(spec, annotation)).toEqual(expected);
});

test("S-17 readSourceRanges() takes no list that is so long that other Services would wait", () => {
  const long = Array.from({ length: 1_001 }, (_, at) => `10.${at >> 8}.${at & 255}.0/24`);
  const problem = expect.stringContaining("has more than 1000 CIDRs; use fewer, larger ones");
  expect(read(long)).toEqual({ problem });
  expect(read(undefined, long.join())).toEqual({ problem });
  expect(read(undefined, "10.0.0.0/8,".repeat(22_727))).toEqual({ problem });
  expect(read(long.slice(1))).toMatchObject({ ranges: { length: 1_000 } });
});

test.each<[string, readonly string[] | undefined, string | undefined, string]>([
  [
    "a word",
    ["10.0.0.0/8", "all"],
    undefined,
    'spec.loadBalancerSourceRanges: "all" is not a CIDR',
  ],
  [
    "an address",
    ["10.0.0.1"],
    undefined,
    'spec.loadBalancerSourceRanges: "10.0.0.1" is not a CIDR',
  ],
  ["too long a prefix", ["10.0.0.0/33"], undefined, '"10.0.0.0/33" is not a CIDR'],
  ["an empty item", undefined, "10.0.0.0/8,", `annotation ${KEY}: "" is not a CIDR`],
])("S-17 readSourceRanges() refuses %s, and names the field", (_what, spec, annotation, text) => {
  expect(read(spec, annotation)).toEqual({ problem: expect.stringContaining(text) });
});

test("readSourceRanges() opens no family that the ranges do not open", () => {
  expect(read(["0.0.0.0/0"], undefined, ["IPv6"])).toEqual({ ranges: ["0.0.0.0/0"] });
  expect(read(["0.0.0.0/0"], undefined, ["IPv4", "IPv6"])).toEqual({ ranges: ["0.0.0.0/0"] });
  expect(read(["0.0.0.0/0", "::/0"], undefined, ["IPv4", "IPv6"])).toEqual({});
});

function toLive(uid: string, over: Partial<Service> = {}): Service {
  return { metadata: { name: uid, namespace: "web", uid }, ...over };
}

test("toLiveServices() knows every Service, and the addresses of those of type LoadBalancer", () => {
  const shown = {
    loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { hostname: "web.example.com" }] },
  };
  const live = toLiveServices([
    toLive("a", { spec: { type: "LoadBalancer" }, status: shown }),
    toLive("b", { spec: { type: "LoadBalancer", loadBalancerIP: " 192.0.2.2" } }),
    toLive("c", {
      spec: { type: "LoadBalancer", loadBalancerIP: "typo", loadBalancerClass: "x" },
    }),
    toLive("d", { spec: { type: "ClusterIP", loadBalancerIP: "192.0.2.3" } }),
    toLive("e"),
  ]);
  expect([...live.uids]).toEqual(["a", "b", "c", "d", "e"]);
  expect([...live.addresses]).toEqual(["192.0.2.1", "192.0.2.2"]);
});
