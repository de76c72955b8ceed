import { describe, expect, test } from "bun:test";
import {
  toHostLabels,
  toNetworkLabel,
  isReservedForLandfall,
} from "../../../../lib/controllers/vino/hosts/labels.ts";
import { isLabelKey, isLabelValue } from "../../../../lib/core/text/label.ts";
import { toInstance } from "../../../support/cloud/instances.ts";
import { BMC, OWNER, toSource, toWanted } from "../../../support/vino/wanted_hosts.ts";
import {
  isPaused,
  toHostFacts,
  toShownState,
} from "../../../../lib/controllers/vino/hosts/host_facts.ts";
import { type BareMetalHost, VINO_UID } from "../../../../lib/kube/kinds/bare_metal_host.ts";
import {
  formatHardwareDetails,
  listHostDifferences,
} from "../../../../lib/controllers/vino/hosts/plan.ts";
import type { WantedHost } from "../../../../lib/controllers/vino/hosts/types.ts";
import {
  mayBeHostOf,
  toCredentialsName,
  toHostName,
  toNetworkDataName,
} from "../../../../lib/controllers/vino/hosts/names.ts";
import { HOST_WORDS } from "../../../../lib/controllers/vino/hosts/word_table.ts";
import {
  judgeSecret,
  toSecretBody,
  toSecrets,
  type WantedSecret,
} from "../../../../lib/controllers/vino/hosts/publish/secret_writer.ts";
import type { Secret } from "../../../../lib/kube/kinds/secret.ts";

import * as words from "../../../../lib/controllers/vino/hosts/words.ts";

const RACK = "vino.airshipit.org/rack";
const HOST = "vino.airshipit.org/host";
const DOMAIN = "infrastructure.cluster.x-k8s.io/failure-domain";
const ZONE = "topology.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";
const TYPE = "node.kubernetes.io/instance-type";
const OFF = { poolId: "p1", firstHostId: "h1" };
const ON = { poolId: "p1", hostId: "h2", firstHostId: "h1" };

describe("toHostLabels()", () => {
  test("says whose a host is, what it is for and where it is, under names that never change", () => {
    const instance = toInstance("vm-0", {
      region: "p1",
      zone: "h2",
      instanceType: "4vCPU-8GB",
      labels: { "topology.k8s.xenorchestra/host_id": "h2" },
    });
    const { values, unknown } = toHostLabels(
      toSource({ networks: ["oam", "pxe"], machine: { ...ON, instance } }),
    );
    expect(values).toEqual({
      "landfall.dev/vino-uid": OWNER.uid,
      "vino.airshipit.org/vino": "edge",
      "vino.airshipit.org/role": "worker",
      "vino.airshipit.org/flavor": "worker",
      "vino.airshipit.org/host": "h2",
      "vino.airshipit.org/network.oam": "",
      "vino.airshipit.org/network.pxe": "",
      "topology.kubernetes.io/region": "p1",
      "topology.kubernetes.io/zone": "h2",
      "node.kubernetes.io/instance-type": "4vCPU-8GB",
      "topology.k8s.xenorchestra/host_id": "h2",
    });
    expect([...unknown]).toEqual([]);
  });

  test("of a machine that is off have the place where it starts, for a host that has none", () => {
    const additional = "topology.k8s.xenorchestra/host_id";
    const labels = { [additional]: "h1" };
    const instance = toInstance("vm-0", { region: "p1", zone: "h1", instanceType: "4", labels });
    const { values, unknown } = toHostLabels(toSource({ machine: { ...OFF, instance } }));
    expect(values).toMatchObject({ [ZONE]: "h1", [additional]: "h1", [HOST]: "h1" });
    expect([...unknown].toSorted()).toEqual([ZONE, HOST, additional].toSorted());
  });

  test("of a machine that is off has the host where it starts, for a host that has no such label", () => {
    const { values, unknown } = toHostLabels(
      toSource({
        machine: OFF,
        failureDomain: "Host",
        nodeLabelKeysToCopy: [RACK],
      }),
    );
    expect([values[HOST], values[DOMAIN], values[RACK]]).toEqual(["h1", "h1", "r1"]);
    expect([...unknown].toSorted()).toEqual([DOMAIN, TYPE, REGION, ZONE, HOST, RACK].toSorted());
  });

  const domains = [
    ["None", ON, undefined],
    ["Host", ON, "h2"],
    ["Pool", ON, "p1"],
    ["Pool", OFF, "p1"],
  ] as const;
  test.each(domains)("with failureDomain %s of %j is %p", (failureDomain, machine, domain) => {
    const { values, recorded, unknown } = toHostLabels(toSource({ failureDomain, machine }));
    expect(values[DOMAIN]).toBe(domain);
    expect(recorded.has(DOMAIN)).toBe(domain !== undefined);
    expect(unknown.has(DOMAIN)).toBe(false);
  });

  test("lets bmhLabels win over tags and over what it knows by itself", () => {
    const bmhLabels = { [RACK]: "mine", "vino.airshipit.org/flavor": "large", [HOST]: "x" };
    const { values, unknown, recorded } = toHostLabels(
      toSource({ machine: OFF, nodeLabelKeysToCopy: [RACK], bmhLabels }),
    );
    expect(values).toMatchObject(bmhLabels);
    for (const key of Object.keys(bmhLabels))
      expect([unknown.has(key), recorded.has(key)]).toEqual([false, true]);
  });

  const reserved = [
    "landfall.dev/vino-uid",
    "landfall.dev/anything",
    "vino.airshipit.org/vino",
    "sip.airshipit.org/cluster-name",
  ];
  test.each(reserved)("leaves %s to Landfall, and says so", (key) => {
    const source = toSource({ bmhLabels: { [key]: "x" }, nodeLabelKeysToCopy: [key] });
    const { values, recorded, notices } = toHostLabels(source);
    expect(values[key]).not.toBe("x");
    expect(recorded.has(key)).toBe(false);
    expect(notices).toEqual([
      `nodeLabelKeysToCopy has ${key}, which only Landfall sets`,
      `bmhLabels has ${key}, which only Landfall sets`,
    ]);
  });

  type TagCase = readonly [
    tags: readonly string[],
    value: string | undefined,
    isUnknown: boolean,
    notice: string | undefined,
  ];
  const tagCases: readonly TagCase[] = [
    [["a", `${RACK}=r7`], "r7", false, undefined],
    [[`${RACK}=r7`, `${RACK}=r7`], "r7", false, undefined],
    [[`${RACK}=`], "", false, undefined],
    [["rack=r7"], undefined, false, `host h2 has no tag ${RACK}=…`],
    [[`${RACK}=r7`, `${RACK}=r8`], undefined, true, `host h2 has several tags ${RACK}=…: keep one`],
    [[`${RACK}=a b`], undefined, false, `whose value "a b" is no label value`],
  ];
  test.each(tagCases)("copies a tag of %j", (tags, value, isUnknown, notice) => {
    const { values, unknown, notices } = toHostLabels(
      toSource({ machine: ON, hosts: [{ id: "h2", tags }], nodeLabelKeysToCopy: [RACK] }),
    );
    expect([values[RACK], unknown.has(RACK), notices.length]).toEqual([
      value,
      isUnknown,
      notice === undefined ? 0 : 1,
    ]);
    expect(notices[0] ?? "").toContain(notice ?? "");
  });

  test("of a host that is not shown knows none of its tags", () => {
    const source = toSource({ machine: ON, hosts: [], nodeLabelKeysToCopy: [RACK] });
    const { values, unknown, notices } = toHostLabels(source);
    expect([values[RACK], unknown.has(RACK), notices]).toEqual([undefined, true, []]);
  });

  test("has only keys and values that Kubernetes takes, also for long names", () => {
    const owner = { ...OWNER, name: "v".repeat(200) };
    const networks = ["n".repeat(63), `${"n".repeat(62)}m`];
    const { values } = toHostLabels(
      toSource({ owner, networks, machine: { poolId: "p1", hostId: "no label" } }),
    );
    for (const [key, value] of Object.entries(values))
      expect([key, isLabelKey(key), isLabelValue(value)]).toEqual([key, true, true]);
    expect(new Set(networks.map(toNetworkLabel)).size).toBe(2);
  });
});

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

function toDetails(host: Partial<WantedHost> = {}): unknown {
  return JSON.parse(formatHardwareDetails(toWanted(0, host)) ?? "null");
}

test("formatHardwareDetails() tells metal3 about the hardware in metal3's form", () => {
  expect(toDetails()).toEqual({
    systemVendor: { manufacturer: "Xen", productName: "HVM domU", serialNumber: "vm-0" },
    ramMebibytes: 8192,
    nics: [{ name: "eth0", mac: "02:00:00:00:00:00", ip: "192.0.2.10", pxe: true }],
    storage: [
      { name: "/dev/xvda", rotational: false, sizeBytes: 40 * 1024 ** 3 },
      { name: "/dev/xvdb", rotational: false, sizeBytes: 1024 ** 3 },
    ],
    cpu: { arch: "x86_64", count: 4 },
    hostname: "edge-worker-0",
  });
});

test("formatHardwareDetails() tells metal3 every address of an interface, and that some have none", () => {
  const [first] = toWanted().interfaces;
  if (first === undefined) throw new Error("no interface");
  const six = { ip: "2001:db8::1", prefixLength: 64 };
  const interfaces = [
    { ...first, addresses: [...first.addresses, six] },
    { ...first, name: "eth1", mac: "02:00:00:00:00:01", addresses: [] },
  ];
  expect(toDetails({ interfaces })).toHaveProperty("nics", [
    { name: "eth0", mac: "02:00:00:00:00:00", pxe: true, ip: "192.0.2.10" },
    { name: "eth0", mac: "02:00:00:00:00:00", pxe: true, ip: "2001:db8::1" },
    { name: "eth1", mac: "02:00:00:00:00:01", pxe: false },
  ]);
});

test("formatHardwareDetails() always has the field of the disks", () => {
  const { hardware } = toWanted();
  const tell = (change: Partial<WantedHost["hardware"]>): unknown =>
    toDetails({ hardware: { ...hardware, ...change } });
  expect(tell({ disks: [], areDisksKnown: false })).toHaveProperty("storage", []);
  expect(tell({ disks: [], areDisksKnown: true })).toHaveProperty("storage", []);
  expect(tell({ areDisksKnown: false })).toHaveProperty("storage.1.name", "/dev/xvdb");
});

test("formatHardwareDetails() leaves a host to metal3 that metal3 can start and installs", () => {
  expect(toDetails({ bmc: BMC, isExternallyProvisioned: false })).toBeNull();
  expect(toDetails({ bmc: BMC })).not.toBeNull();
});

const LONG = "v".repeat(60);

test("toHostName() never changes: hosts in clusters have these names", () => {
  const names = [
    { vino: "edge", role: "worker", index: 3 },
    { vino: "edge.site-1", role: "cp", index: 12 },
    { vino: LONG, role: "worker", index: 0 },
  ].map(toHostName);
  expect(names).toEqual([
    "edge-worker-3",
    "edge.site-1-cp-12",
    "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv-d79e648f",
  ]);
});

test("toHostName() gives long Vinos different names of at most 63 characters for each machine", () => {
  const names = Array.from({ length: 50 }, (_, index) =>
    toHostName({ vino: LONG, role: "worker", index }),
  );
  expect(new Set(names).size).toBe(names.length);
  for (const name of names) expect(name).toMatch(/^(?=.{1,63}$)[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/);
});

test("mayBeHostOf() knows the names of all hosts of a Vino, also of a long one", () => {
  for (const vino of ["edge", "edge.site-1", "v".repeat(47), "v".repeat(53), LONG]) {
    expect(mayBeHostOf(vino, toHostName({ vino, role: "worker", index: 3 }))).toBe(true);
  }
  expect(
    ["edge-worker-3", "edgeworker-3", "core-worker-3"].map((one) => mayBeHostOf("edge", one)),
  ).toEqual([true, false, false]);
});

test("the names of Secrets never change", () => {
  expect([toNetworkDataName("edge-worker-3"), toCredentialsName("edge-worker-3")]).toEqual([
    "edge-worker-3-network-data",
    "edge-worker-3-bmc-credentials",
  ]);
});

const WRONG = "02:00:00:00:00:99";
const RIGHT = "02:00:00:00:00:00";
const LIVE = { bootMac: RIGHT, bmcAddress: BMC.address, isBmcOpen: false, use: undefined };
const WAY = "delete the BareMetalHost, then Landfall makes it again";
const MAC = `BareMetalHost edge-worker-0 has the bootMACAddress ${WRONG}, and no interface of its machine has it`;
const ADDRESS =
  "BareMetalHost edge-worker-0 has the bmc.address x, and metal3 does not let it change";

type Wanted = Parameters<typeof listHostDifferences>[0];
type Live = Parameters<typeof listHostDifferences>[1];

test.each<[string, Partial<Wanted>, Partial<Live>, readonly string[]]>([
  ["that is as wanted", {}, {}, []],
  ["without a MAC address", {}, { bootMac: undefined }, []],
  ["with a wrong MAC address", {}, { bootMac: WRONG }, [`${MAC}: ${WAY} with ${RIGHT}`]],
  [
    "with a wrong MAC address, in use",
    {},
    { bootMac: WRONG, use: 'is used by M "m"' },
    [`${MAC}: it is used by M "m": take it from there first, then ${WAY} with ${RIGHT}`],
  ],
  ["whose machine may get that interface still", { isBuilt: false }, { bootMac: WRONG }, []],
  ["with a wrong address", {}, { bmcAddress: "x" }, [`${ADDRESS}: ${WAY} with ${BMC.address}`]],
  ["whose address Landfall may change", {}, { bmcAddress: "x", isBmcOpen: true }, []],
  ["without a management controller", {}, { bmcAddress: undefined }, []],
])("listHostDifferences() of a host %s", (_what, wanted, live, found) => {
  const host = toWanted(0, { bmc: BMC, ...wanted });
  expect(listHostDifferences(host, { ...LIVE, ...live })).toEqual([...found]);
});

test("listHostDifferences() of the host of a machine without interfaces", () => {
  const { bootMac: _mac, ...wanted } = toWanted(0, { interfaces: [] });
  const [found] = listHostDifferences(wanted, { ...LIVE, bootMac: WRONG });
  expect(found).toEndWith(`${WAY} without one`);
});

test("the reference page has every word on hosts, and the words never change", () => {
  const all = [VINO_UID, ...Object.values(words)];
  expect(HOST_WORDS.map(({ word }) => word.replace("<name>", "")).toSorted()).toEqual(
    all.toSorted(),
  );
  expect(HOST_WORDS.map(({ word }) => word)).toEqual([
    "landfall.dev/vino-uid",
    "vino.airshipit.org/vino",
    "vino.airshipit.org/role",
    "vino.airshipit.org/flavor",
    "vino.airshipit.org/host",
    "vino.airshipit.org/network.<name>",
    "infrastructure.cluster.x-k8s.io/failure-domain",
    "landfall.dev/machine",
    "landfall.dev/machine-id",
    "landfall.dev/labels-from-vino",
    "landfall.dev/publish-moved-hosts",
  ]);
});

const input = { owner: OWNER, host: toWanted(0, { bmc: BMC }), networkData: "{}" };

function toWantedSecret(hostUid?: string): WantedSecret {
  const [secret] = toSecrets({ ...input, hostUid });
  if (secret === undefined) throw new Error("no Secret");
  return secret;
}

/** The Secret as it was made for a host, with changes since. */
function toLive(metadata: Partial<Secret["metadata"]> = {}, data?: Secret["data"]): Secret {
  const made = toSecretBody(toWantedSecret("u1")) as Secret;
  return {
    ...made,
    metadata: { ...made.metadata, resourceVersion: "7", ...metadata },
    ...(data && { data }),
  };
}

const OF_HOST = { apiVersion: "metal3.io/v1alpha1", kind: "BareMetalHost", name: "edge-worker-0" };
const OF_VINO = {
  apiVersion: "airship.airshipit.org/v1",
  kind: "Vino",
  name: "edge",
  uid: OWNER.uid,
};
const OTHER = { apiVersion: "v1", kind: "ConfigMap", name: "c", uid: "c" };

describe("toSecrets()", () => {
  test("belong to the Vino, and to the host as soon as there is one", () => {
    const owners = [undefined, "u1"].map((uid) => toWantedSecret(uid).owner);
    expect(owners).toEqual([OF_VINO, { ...OF_HOST, uid: "u1" }]);
  });

  test("have the keys that metal3 reads", () => {
    const secrets = toSecrets({ ...input, hostUid: "u1" });
    const texts = secrets.map(({ name, data }) => [
      name,
      Object.fromEntries(Object.entries(data).map(([key, text]) => [key, atob(text)])),
    ]);
    expect(texts).toEqual([
      ["edge-worker-0-network-data", { networkData: "{}" }],
      ["edge-worker-0-bmc-credentials", { username: "admin", password: BMC.password }],
    ]);
    const { bmc: _none, ...host } = input.host;
    expect(toSecrets({ ...input, host, hostUid: "u1" })).toHaveLength(1);
  });
});

describe("judgeSecret()", () => {
  type Case = readonly [what: string, live: Secret | undefined, kind: string];
  const cases: readonly Case[] = [
    ["that does not exist", undefined, "create"],
    ["as it was made", toLive(), "asWanted"],
    ["with another label", toLive({ labels: { ...toLive().metadata.labels, a: "b" } }), "asWanted"],
    [
      "with another owner, too",
      toLive({ ownerReferences: [{ ...OF_HOST, uid: "u1" }, OTHER] }),
      "asWanted",
    ],
    [
      "whose owner metal3 wrote",
      toLive({ ownerReferences: [{ ...OF_HOST, uid: "u1", controller: false }] }),
      "asWanted",
    ],
    ["with other data", toLive({}, { networkData: "eA==" }), "patch"],
    ["with another key, too", toLive({}, { ...toLive().data, more: "eA==" }), "asWanted"],
    ["of the Vino", toLive({ ownerReferences: [OF_VINO] }), "patch"],
    ["of an earlier host", toLive({ ownerReferences: [{ ...OF_HOST, uid: "u0" }] }), "patch"],
    ["of nothing", toLive({ ownerReferences: [] }), "patch"],
    ["of something else", toLive({ labels: {} }), "taken"],
    ["of another Vino", toLive({ labels: { "landfall.dev/vino-uid": "v2" } }), "taken"],
    ["that is being deleted", toLive({ deletionTimestamp: "2026-01-01T00:00:00Z" }), "deleting"],
  ];
  test.each(cases)("of a Secret %s", (_what, live, kind) => {
    expect<string>(judgeSecret(live, toWantedSecret("u1")).kind).toBe(kind);
  });

  test("replaces its own owners and keeps the others, for the version that was read", () => {
    const live = toLive({ ownerReferences: [OTHER, OF_VINO, { ...OF_HOST, uid: "u0" }] });
    const verdict = judgeSecret(live, toWantedSecret("u1"));
    expect(verdict).toMatchObject({
      body: {
        metadata: { resourceVersion: "7", ownerReferences: [OTHER, { ...OF_HOST, uid: "u1" }] },
      },
    });
  });
});

test.each<[string, boolean]>([
  ["vino.airshipit.org/vino", true],
  ["landfall.dev/vino-uid", true],
  ["sip.airshipit.org/cluster", true],
  ["claims.sip.airshipit.org/cluster", true],
  ["vino.airshipit.org/role", false],
  ["vino.airshipit.org/host", false],
  ["example.com/rack", false],
  ["rack", false],
])("isReservedForLandfall() of %s is %p", (key, expected) => {
  expect(isReservedForLandfall(key)).toBe(expected);
});
