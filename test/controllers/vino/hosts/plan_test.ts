/**
 * Plans for one host, also while people, metal3, Cluster API and the Vino change everything in any order.
 * @module
 */
import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import {
  isOn,
  toBareMetalHost,
  toHostPatchBody,
} from "../../../../lib/controllers/vino/hosts/publish/host_writer.ts";
import { type HostFacts, toHostFacts } from "../../../../lib/controllers/vino/hosts/host_facts.ts";
import {
  describeForeign,
  type HostPlan,
  planHost,
  planRemoval,
} from "../../../../lib/controllers/vino/hosts/plan.ts";
import type { WantedHost } from "../../../../lib/controllers/vino/hosts/types.ts";
import { BMC, OWNER, toWanted } from "../../../support/vino/wanted_hosts.ts";
import type { BareMetalHost } from "../../../../lib/kube/kinds/bare_metal_host.ts";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { applyMergePatch } from "../../../../lib/simulator/kubernetes/patches/merge_patches.ts";
import { tries } from "../../../support/extent.ts";

const OURS = { vinoUid: OWNER.uid };
const OFF = { poolId: "p1", firstHostId: "h1" };
const HOST = "vino.airshipit.org/host";

/** The facts of the host of a machine, as it is made, with changes since. */
function toFacts(changes: Partial<HostFacts> = {}, wanted: WantedHost = toWanted()): HostFacts {
  const { metadata, spec } = toBareMetalHost(OWNER, wanted);
  const host = { metadata: { ...metadata, uid: "u", resourceVersion: "1" }, spec };
  return { ...toHostFacts(host), bmcAddress: wanted.bmc?.address, ...changes };
}

describe("planHost()", () => {
  type Case = readonly [
    what: string,
    live: HostFacts | undefined,
    state: string,
    change: string | undefined,
  ];
  const cases: readonly Case[] = [
    ["that does not exist", undefined, "Publishing", "create"],
    ["that is as wanted", toFacts(), "Published", undefined],
    ["of something else", toFacts({ vinoUid: undefined }), "NameTaken", undefined],
    ["of another Vino", toFacts({ vinoUid: "v2" }), "NameTaken", undefined],
    ["that is paused", toFacts({ isPaused: true, labels: {} }), "Paused", undefined],
    ["paused and deleted", toFacts({ isPaused: true, isDeleting: true }), "Paused", undefined],
    ["that is being deleted", toFacts({ isDeleting: true }), "Publishing", undefined],
    ["of another machine", toFacts({ machineId: "vm-old" }), "Publishing", "delete"],
    [
      "of another machine, in use",
      toFacts({ machineId: "vm-old", use: "is used" }),
      "InUse",
      undefined,
    ],
    ["in use", toFacts({ use: "is used" }), "Published", undefined],
    ["in use, with a wrong label", toFacts({ use: "x", labels: {} }), "Published", "patch"],
    ["that does not name its machine", toFacts({ machineId: undefined }), "Published", "patch"],
  ];
  test.each(cases)("of a host %s", (_what, live, state, change) => {
    const plan = planHost(toWanted(), live, OURS);
    expect<unknown>([plan.state, plan.change?.kind]).toEqual([state, change]);
    expect(plan.message === undefined).toBe(state === "Published");
    expect(plan.hasSecrets).toBe(state === "Published" || change === "create");
  });

  describe("of a machine that has changed", () => {
    const before = toFacts();
    const changed = (host: Partial<WantedHost> = {}, networks = ["oam", "pxe"]): WantedHost =>
      toWanted(0, { hardware: { ...toWanted().hardware, cpus: 8 }, ...host }, { networks });
    const describing = { labels: { "vino.airshipit.org/network.pxe": "" }, describesMachine: true };

    test.each<[string, HostFacts, WantedHost, object | undefined]>([
      ["labels and describes it", before, changed(), describing],
      [
        "leaves to metal3 what it has read",
        toFacts({ hardwareDetails: undefined }),
        changed(),
        { labels: describing.labels },
      ],
      [
        "waits until it has its interfaces and disks",
        before,
        changed({ isBuilt: false }),
        undefined,
      ],
      [
        "waits until its disks are known",
        before,
        changed({ hardware: { ...toWanted().hardware, cpus: 8, areDisksKnown: false } }, ["oam"]),
        undefined,
      ],
      [
        "takes the label of a network away with the interface",
        toFacts({}, changed()),
        changed({}, ["oam"]),
        { labels: { "vino.airshipit.org/network.pxe": null } },
      ],
      [
        "keeps it as long as the interface may be there",
        toFacts({}, changed()),
        changed({ isBuilt: false }, ["oam"]),
        undefined,
      ],
      [
        "describes none that metal3 inspects",
        before,
        changed({ bmc: BMC, isExternallyProvisioned: false }, ["oam"]),
        { bmc: "first" },
      ],
    ])("%s", (_what, live, wanted, patch) => {
      const { change } = planHost(wanted, live, OURS);
      expect<unknown>(change).toEqual(patch && { kind: "patch", patch });
    });
  });

  test("changes nothing of what metal3 does not let change, and says what differs", () => {
    const live = toFacts({ bootMac: "02:00:00:00:00:99", bmcAddress: "x", isBmcOpen: false });
    const { change, notices, differences } = planHost(toWanted(0, { bmc: BMC }), live, OURS);
    expect([change, notices]).toEqual([undefined, []]);
    expect(differences).toHaveLength(2);
  });

  test("does not make a host that was moved to another cluster", () => {
    const plan = planHost(toWanted(), undefined, { ...OURS, isMoved: true });
    expect([plan.state, plan.change, plan.hasSecrets]).toEqual(["Moved", undefined, false]);
  });

  test("keeps a label whose value is not known now", () => {
    const live = toFacts({ labels: { ...toFacts().labels, [HOST]: "h9" } });
    const off = toWanted(0, {}, { machine: OFF });
    expect(planHost(off, live, OURS).change).toBeUndefined();
    const { [HOST]: _none, ...labels } = live.labels;
    expect(planHost(off, { ...live, labels }, OURS).change).toEqual({
      kind: "patch",
      patch: { labels: { [HOST]: "h1" } },
    });
  });

  test("keeps a label from a tag as long as the host of the machine is not shown", () => {
    const nodeLabelKeysToCopy = ["vino.airshipit.org/rack"];
    const live = toFacts({}, toWanted(0, {}, { nodeLabelKeysToCopy }));
    const hidden = toWanted(0, {}, { nodeLabelKeysToCopy, hosts: [] });
    expect(planHost(hidden, live, OURS).change).toBeUndefined();
  });

  type LabelCase = readonly [
    what: string,
    live: { readonly labels: Record<string, string>; readonly record?: readonly string[] },
    bmhLabels: Record<string, string>,
    patch: object | undefined,
  ];
  const labelCases: readonly LabelCase[] = [
    ["a new one", { labels: {} }, { a: "1" }, { labels: { a: "1" }, record: new Set(["a"]) }],
    [
      "one of ours that was changed",
      { labels: { a: "2" }, record: ["a"] },
      { a: "1" },
      { labels: { a: "1" } },
    ],
    [
      "one of ours that was removed",
      { labels: {}, record: ["a"] },
      { a: "1" },
      { labels: { a: "1" } },
    ],
    [
      "one of ours that is not wanted",
      { labels: { a: "1" }, record: ["a"] },
      {},
      { labels: { a: null }, record: new Set() },
    ],
    [
      "one of ours that is not wanted and gone",
      { labels: {}, record: ["a"] },
      {},
      { record: new Set() },
    ],
    ["one of a person", { labels: { a: "2" } }, {}, undefined],
    ["one of a person that is wanted, too", { labels: { a: "1" } }, { a: "1" }, undefined],
    ["one of a person that is wanted otherwise", { labels: { a: "2" } }, { a: "1" }, undefined],
  ];
  test.each(labelCases)("of labels: %s", (_what, { labels, record = [] }, bmhLabels, patch) => {
    const before = toFacts();
    const live = { ...before, labels: { ...before.labels, ...labels }, record: new Set(record) };
    const plan = planHost(toWanted(0, {}, { bmhLabels }), live, OURS);
    const expected = patch && { kind: "patch", patch };
    expect<unknown>(plan.change).toEqual(expected);
    const isConflict = labels["a"] === "2" && bmhLabels["a"] === "1" && record.length === 0;
    expect(plan.notices).toEqual(
      isConflict ? ["edge-worker-0: label a was not set by Landfall, and stays"] : [],
    );
  });

  type BmcCase = readonly [
    what: string,
    live: Partial<HostFacts>,
    bmc: WantedHost["bmc"],
    patch: "first" | "other" | undefined,
    notice: string,
  ];
  const bmcCases: readonly BmcCase[] = [
    ["the first", { bmcAddress: undefined }, BMC, "first", ""],
    ["the same", { bmcAddress: BMC.address }, BMC, undefined, ""],
    ["another, not reached yet", { bmcAddress: "x", isBmcOpen: true }, BMC, "other", ""],
    ["another", { bmcAddress: "x", isBmcOpen: false }, BMC, undefined, ""],
    ["none any more", { bmcAddress: "x" }, undefined, undefined, "does not serve now"],
  ];
  test.each(bmcCases)("of a management controller: %s", (_what, live, bmc, patch, notice) => {
    const plan = planHost(toWanted(0, bmc ? { bmc } : {}), toFacts(live), OURS);
    const expected = patch && { kind: "patch", patch: { bmc: patch } };
    expect<unknown>(plan.change).toEqual(expected);
    expect(plan.notices.join()).toContain(notice);
    expect(plan.notices).toHaveLength(notice === "" ? 0 : 1);
  });

  test("of a management controller whose credentials cannot be used now", () => {
    const plan = planHost(
      toWanted(0, { bmcProblem: "no Secret" }),
      toFacts({ bmcAddress: "x" }),
      OURS,
    );
    expect([plan.change, plan.notices]).toEqual([undefined, []]);
  });
});

describe("planRemoval()", () => {
  type Case = readonly [
    what: string,
    live: HostFacts | undefined,
    state: string,
    isDeleted: boolean,
  ];
  const cases: readonly Case[] = [
    ["that does not exist", undefined, "Gone", false],
    ["of ours", toFacts(), "Removing", true],
    ["of something else", toFacts({ vinoUid: undefined, machineName: undefined }), "Gone", false],
    ["that lost its label by hand", toFacts({ vinoUid: undefined }), "NameTaken", false],
    [
      "of a machine of an older Vino",
      toFacts({ vinoUid: undefined, machineName: "vino-00000000-worker-0" }),
      "Gone",
      false,
    ],
    ["whose label was changed by hand", toFacts({ vinoUid: "v2" }), "NameTaken", false],
    [
      "of another Vino",
      toFacts({ vinoUid: "v2", machineName: "vino-00000000-worker-0" }),
      "Gone",
      false,
    ],
    ["that is paused", toFacts({ isPaused: true }), "Paused", false],
    ["that is being deleted", toFacts({ isDeleting: true }), "Removing", false],
    ["that is used", toFacts({ use: 'is used by M "m"' }), "InUse", false],
  ];
  test.each(cases)("of a host %s", (_what, live, state, isDeleted) => {
    const plan = planRemoval("edge-worker-0", live, OURS);
    expect<unknown>([plan.state, plan.change?.kind]).toEqual([
      state,
      isDeleted ? "delete" : undefined,
    ]);
    expect(plan.hasSecrets).toBe(false);
  });
});

test.each([
  [
    { use: 'is used by M "m"', wayOut: "delete that object" },
    'is used by M "m": delete that object',
  ],
  [
    { isPaused: true },
    "is paused, and is not deleted: end the move, or remove the annotation that pauses it",
  ],
])("planRemoval() says what to do about %j", (change, text) => {
  const { message } = planRemoval("edge-worker-0", toFacts(change), OURS);
  expect(message).toBe(`BareMetalHost edge-worker-0 ${text}`);
});

test("planRemoval() does not call a host gone that was moved: another cluster may use its machine", () => {
  for (const live of [undefined, toFacts({ vinoUid: undefined, machineName: undefined })]) {
    const plan = planRemoval("edge-worker-0", live, { ...OURS, isMoved: true });
    expect([plan.state, plan.change]).toEqual(["Moved", undefined]);
    expect(plan.message).toContain("landfall.dev/publish-moved-hosts=true");
  }
});

test("describeForeign() says what has the name", () => {
  const texts = [{ vinoUid: undefined }, { vinoUid: "v2" }].map((one) =>
    describeForeign(toFacts(one)),
  );
  texts.push(describeForeign(toFacts({ vinoUid: "v2", labels: {} })));
  expect(texts).toEqual([
    "BareMetalHost edge-worker-0 exists, and was not made for this Vino",
    'BareMetalHost edge-worker-0 was made for another Vino, "edge", for machine vino-1b4e28ba-worker-0',
    "BareMetalHost edge-worker-0 was made for another Vino, for machine vino-1b4e28ba-worker-0",
  ]);
});

const DETAILS = "inspect.metal3.io/hardwaredetails";

function toParts(host: Partial<WantedHost>): {
  readonly spec: object;
  readonly annotations: Readonly<Record<string, string>>;
} {
  const { spec, metadata } = toBareMetalHost(OWNER, toWanted(0, host));
  return { spec, annotations: metadata.annotations ?? {} };
}

describe("toBareMetalHost()", () => {
  test("of a machine from a template without a management controller (level A and B)", () => {
    const { metadata, ...rest } = toBareMetalHost(OWNER, toWanted());
    expect(rest).toEqual({
      apiVersion: "metal3.io/v1alpha1",
      kind: "BareMetalHost",
      spec: {
        online: false,
        networkData: { name: "edge-worker-0-network-data", namespace: "metal" },
        bootMACAddress: "02:00:00:00:00:00",
        bootMode: "UEFI",
        rootDeviceHints: { deviceName: "/dev/xvda" },
        externallyProvisioned: true,
      },
    });
    expect(Object.keys(metadata).toSorted()).toEqual([
      "annotations",
      "labels",
      "name",
      "namespace",
    ]);
    expect(metadata.annotations).toMatchObject({
      "landfall.dev/machine": "vino-1b4e28ba-worker-0",
      "landfall.dev/machine-id": "vm-0",
      "inspect.metal3.io": "disabled",
    });
  });

  type Case = readonly [
    what: string,
    host: Partial<WantedHost>,
    online: boolean,
    isInspected: boolean,
  ];
  const cases: readonly Case[] = [
    ["runs, without a controller", { power: "running" }, false, false],
    ["runs, with one", { bmc: BMC, power: "running" }, true, false],
    ["is off, with one", { bmc: BMC, power: "stopped" }, false, false],
    [
      "is blank and off, with one",
      { bmc: BMC, power: "stopped", isExternallyProvisioned: false },
      false,
      true,
    ],
    ["is blank, without one", { isExternallyProvisioned: false }, false, false],
  ];
  test.each(cases)("of a machine that %s", (_what, host, online, isInspected) => {
    const { spec, annotations } = toParts(host);
    expect(spec).toHaveProperty("online", online);
    expect([DETAILS in annotations, "inspect.metal3.io" in annotations]).toEqual([
      !isInspected,
      !isInspected,
    ]);
    expect("externallyProvisioned" in spec).toBe(host.isExternallyProvisioned ?? true);
  });

  test("names the Secret of a management controller, and checks its certificate unless told", () => {
    const { spec } = toParts({ bmc: BMC });
    expect(spec).toHaveProperty("bmc", {
      address: BMC.address,
      credentialsName: "edge-worker-0-bmc-credentials",
    });
    const loose = toParts({ bmc: { ...BMC, skipsCertificateCheck: true } });
    expect(loose.spec).toHaveProperty("bmc.disableCertificateVerification", true);
    expect(JSON.stringify([spec, loose])).not.toContain(BMC.password);
  });

  test("says which firmware the machine has: metal3 takes UEFI otherwise, for good", () => {
    const { spec } = toBareMetalHost(OWNER, toWanted(0, { firmware: "bios" }));
    expect(spec).toHaveProperty("bootMode", "legacy");
  });

  test("leaves out what the machine does not have", () => {
    const { bootMac: _mac, ...bare } = toWanted(0, { interfaces: [], firmware: "unknown" });
    const { spec } = toBareMetalHost(OWNER, bare);
    expect(spec).not.toHaveProperty("bootMACAddress");
    expect(spec).not.toHaveProperty("bootMode");
  });
});

test.each([
  ["running", true],
  ["paused", true],
  ["unknown", true],
  ["stopped", false],
  ["suspended", false],
] as const)("isOn() of a machine that is %s is %p", (power, expected) => {
  expect(isOn(power)).toBe(expected);
});

const UID_LABEL = "landfall.dev/vino-uid";
const RECORD = "landfall.dev/labels-from-vino";
/** Labels that only people set. */
const THEIRS = ["their", "their.example.org/a"];
/** Labels that the Vino may want, and that people may set, too. */
const SHARED = [
  "tier",
  "vino.airshipit.org/rack",
  "infrastructure.cluster.x-k8s.io/failure-domain",
];

const patch = (body: object): fc.Arbitrary<object> => fc.constant(body);
const label = (keys: readonly string[]): fc.Arbitrary<object> =>
  fc
    .tuple(fc.constantFrom(...keys), fc.constantFrom("x", "y", null))
    .map(([key, value]) => ({ metadata: { labels: { [key]: value } } }));
const annotation = (key: string, value: string | null): object => ({
  metadata: { annotations: { [key]: value } },
});

const edits = fc.oneof(
  label([...THEIRS, ...SHARED, "vino.airshipit.org/host", "topology.kubernetes.io/zone"]),
  patch(annotation("baremetalhost.metal3.io/paused", "")),
  patch(annotation("baremetalhost.metal3.io/paused", null)),
  patch(annotation("cluster.x-k8s.io/paused", "")),
  patch(annotation("cluster.x-k8s.io/paused", null)),
  patch(annotation(RECORD, null)),
  patch(annotation("landfall.dev/machine-id", null)),
  patch(annotation(DETAILS, null)),
  patch(annotation(DETAILS, "{}")),
  label(["vino.airshipit.org/network.oam", "vino.airshipit.org/network.pxe"]),
  patch({ metadata: { labels: { [UID_LABEL]: "another" } } }),
  patch({ metadata: { labels: { [UID_LABEL]: OWNER.uid } } }),
  patch({ metadata: { labels: { "sip.airshipit.org/cluster-name": "c" } } }),
  patch({ metadata: { labels: { "sip.airshipit.org/cluster-name": null } } }),
  patch({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
  patch({ spec: { consumerRef: { kind: "Metal3Machine", name: "m" } } }),
  patch({ spec: { consumerRef: null } }),
  fc
    .constantFrom("", "registering", "available", "provisioned", "externally provisioned")
    .map((state) => ({ status: { provisioning: { state } } })),
);

const wishes = fc
  .record({
    machineId: fc.constantFrom("vm-0", "vm-0", "vm-1"),
    hostId: fc.constantFrom("h1", "h2", undefined),
    bmhLabels: fc.dictionary(fc.constantFrom(...SHARED), fc.constantFrom("x", "y")),
    nodeLabelKeysToCopy: fc.subarray(["vino.airshipit.org/rack"]),
    failureDomain: fc.constantFrom("None", "Host", "Pool"),
    hasBmc: fc.boolean(),
    networks: fc.subarray(["oam", "pxe"]),
    isBuilt: fc.boolean(),
    cpus: fc.constantFrom(2, 4),
  })
  .map(({ machineId, hostId, hasBmc, isBuilt, cpus, ...source }): WantedHost => {
    const hardware = { ...toWanted().hardware, cpus };
    const machine = { poolId: "p1", firstHostId: "h1", ...(hostId !== undefined && { hostId }) };
    const bmc = hasBmc ? { bmc: BMC } : {};
    return toWanted(0, { machineId, isBuilt, hardware, ...bmc }, {
      ...source,
      machine,
    } as object);
  });

type Step =
  | { readonly do: "edit"; readonly body: object }
  | { readonly do: "publish"; readonly wanted: WantedHost }
  | { readonly do: "remove" | "lose" };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: edits.map((body): Step => ({ do: "edit", body })) },
    { weight: 4, arbitrary: wishes.map((wanted): Step => ({ do: "publish", wanted })) },
    { weight: 1, arbitrary: fc.constantFrom<Step>({ do: "remove" }, { do: "lose" }) },
  ),
  { minLength: 1, maxLength: 25 },
);

/** What the API server would have after a change. A merge patch needs plain JSON. */
function apply(host: BareMetalHost | undefined, change: object): BareMetalHost {
  const base = structuredClone(host ?? {}) as JsonObject;
  return applyMergePatch(base, structuredClone(change) as JsonObject) as unknown as BareMetalHost;
}

function carryOut(
  host: BareMetalHost | undefined,
  { change }: HostPlan,
  wanted: WantedHost | undefined,
): BareMetalHost | undefined {
  if (change === undefined || change.kind === "delete") return change ? undefined : host;
  if (wanted === undefined) throw new Error("a host that is not wanted is only deleted");
  if (change.kind === "patch") return apply(host, toHostPatchBody("1", wanted, change.patch));
  const { metadata, ...rest } = toBareMetalHost(OWNER, wanted);
  return { ...rest, metadata: { ...metadata, uid: "u", resourceVersion: "1" } };
}

function check(before: BareMetalHost | undefined, { change, state }: HostPlan): void {
  if (before === undefined || change === undefined) return;
  const { metadata, spec } = before;
  const { annotations = {}, labels = {} } = metadata;
  expect(change.kind).not.toBe("create");
  expect(labels[UID_LABEL]).toBe(OWNER.uid);
  expect(Object.keys(annotations).filter((key) => key.endsWith("/paused"))).toEqual([]);
  expect(metadata.deletionTimestamp).toBeUndefined();
  if (change.kind !== "delete") return;
  expect(spec?.consumerRef).toBeUndefined();
  expect(before.status?.provisioning?.state).not.toBe("provisioned");
  expect(labels).not.toHaveProperty(["sip.airshipit.org/cluster-name"]);
  expect(["Removing", "Publishing"]).toContain(state);
}

/** The labels of people: those that only they set, and those of the others that no record has. */
function pickTheirs(host: BareMetalHost | undefined): Readonly<Record<string, string>> {
  const { labels = {}, annotations = {} } = host?.metadata ?? {};
  const record = (annotations[RECORD] ?? "").split(",");
  const isTheirs = (key: string): boolean =>
    THEIRS.includes(key) || (SHARED.includes(key) && !record.includes(key));
  return Object.fromEntries(Object.entries(labels).filter(([key]) => isTheirs(key)));
}

test("a plan never touches what is not ours, and after it there is nothing to do", () => {
  fc.assert(
    fc.property(steps, (all) => {
      let host: BareMetalHost | undefined;
      for (const step of all) {
        if (step.do === "edit") host = host && apply(host, step.body);
        else if (step.do === "lose") host = undefined;
        else {
          const wanted = step.do === "publish" ? step.wanted : undefined;
          const plan = (live: BareMetalHost | undefined): HostPlan => {
            const facts = live && toHostFacts(live);
            const surroundings = { vinoUid: OWNER.uid };
            return wanted === undefined
              ? planRemoval("edge-worker-0", facts, surroundings)
              : planHost(wanted, facts, surroundings);
          };
          const first = plan(host);
          check(host, first);
          const after = carryOut(host, first, wanted);
          if (host !== undefined && after !== undefined) {
            expect(after.metadata.labels).toMatchObject(pickTheirs(host));
            // What metal3 has read never comes back.
            const hadDetails = DETAILS in (host.metadata.annotations ?? {});
            if (!hadDetails) expect(after.metadata.annotations ?? {}).not.toContainKey(DETAILS);
          }
          // A host that is made again is made at the next look.
          const rest = carryOut(after, plan(after), wanted);
          expect(plan(rest).change).toBeUndefined();
          if (after !== undefined) expect(plan(after).change).toBeUndefined();
          host = rest;
        }
      }
    }),
    tries(500),
  );
});
