import { describe, expect, test } from "bun:test";
import {
  isOn,
  toBareMetalHost,
} from "../../../../lib/controllers/vino/hosts/bare_metal_host_object.ts";
import { type HostFacts, toHostFacts } from "../../../../lib/controllers/vino/hosts/host_facts.ts";
import {
  describeForeign,
  planHost,
  planRemoval,
} from "../../../../lib/controllers/vino/hosts/plan.ts";
import type { WantedHost } from "../../../../lib/controllers/vino/hosts/types.ts";
import { BMC, OWNER, toWanted } from "../../../support/vino/wanted_hosts.ts";

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

  test("waits for a host that was made a moment ago", () => {
    const plan = planHost(toWanted(), undefined, { ...OURS, isUnseen: true });
    expect([plan.state, plan.change]).toEqual(["Publishing", undefined]);
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
