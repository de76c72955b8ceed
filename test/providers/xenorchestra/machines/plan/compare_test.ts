/**
 * What a spec wants of a VM, its disks and its interfaces, and where these differ.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type {
  Attached,
  Template,
  Vif,
  Vm,
} from "../../../../../lib/providers/xenorchestra/machines/observe/observation.ts";
import {
  type DisksQuestion,
  type InterfacesQuestion,
  compareDisks,
  compareInterfaces,
  compareMarks,
  compareVm,
} from "../../../../../lib/providers/xenorchestra/machines/plan/compare.ts";
import {
  checkFit,
  toCreateBody,
  toWanted,
} from "../../../../../lib/providers/xenorchestra/machines/plan/wanted.ts";
import {
  GIB,
  HOST,
  NAME,
  NOW,
  OWN_VIF,
  POOL,
  type SceneOptions,
  toCompleteVm,
  toDisk,
  toLink,
  toOwnDisk,
  toSpec,
  toTemplate,
  toView,
  toVm,
} from "../scene.ts";
import {
  formatDiskMark,
  formatMark,
  SEED_DISK,
  toSpecHash,
} from "../../../../../lib/providers/xenorchestra/machines/words.ts";
import type { MachineSpec } from "../../../../../lib/cloud/capabilities/machines.ts";

function compareFields(vm: Vm): string[] {
  const cloud = toView({ vms: [vm] });
  const wanted = toWanted(cloud, toSpec());
  const { differences } = compareVm(cloud, toSpec(), { vm, wanted, record: {} });
  return differences.map(({ fix, problem }) => fix?.summary ?? problem?.reason ?? "");
}

describe("compareVm()", () => {
  test.each<[string, Vm, readonly string[]]>([
    ["nothing of one that is as it should be", toCompleteVm(), []],
    ["CPUs", toCompleteVm({ cpus: 1 }), [`set the CPUs of ${NAME} to 2`]],
    ["memory", toCompleteVm({ memoryBytes: 1 }), [`set the memory of ${NAME} to 4Gi`]],
    [
      "missing tags",
      toCompleteVm({ tags: ["vino:ready=x", "vino"] }),
      [`tag ${NAME} with vino:uid=${toSpec().owner.uid}`],
    ],
    [
      "a lost mark",
      toCompleteVm({ description: "" }),
      [`put the mark back into the description of ${NAME}`],
    ],
    [
      "a lost protection",
      {
        ...toVm(),
        tags: toCompleteVm().tags,
        description: toCompleteVm().description,
        ...(toCompleteVm().mark && { mark: toCompleteVm().mark }),
      } as Vm,
      [`protect ${NAME} from deletion`],
    ],
    ["no marks before it is complete", toVm(), []],
  ])("finds %s", (_what, vm, found) => {
    expect(compareFields(vm)).toEqual([...found]);
  });
});

test.each([
  ["disk", "cd", 0],
  ["network", "ncd", 0],
  ["network", "cd", 1],
] as const)(
  "compareVm() of one for %s that starts in the order %s finds %i differences without a remedy",
  (boot, order, count) => {
    const vm = toVm({ bootOrder: order });
    const spec = toSpec({ boot });
    const cloud = toView({ vms: [vm] });
    const { differences } = compareVm(cloud, spec, {
      vm,
      wanted: toWanted(cloud, spec),
      record: {},
    });
    expect(differences.map(({ part, fix }) => [part.name, fix])).toEqual(
      Array.from({ length: count }, () => ["boot", undefined]),
    );
  },
);

test("compareMarks() keeps what the mark says of the first host", () => {
  const vm = toCompleteVm({ description: "vino uid=x role=worker index=0 host=h9 hash=old ready" });
  const fixes = compareMarks(toSpec(), vm).differences.map(({ fix }) => fix?.change);
  expect(fixes).toEqual([
    {
      kind: "patchVm",
      vmId: "vm-1",
      fields: {
        nameDescription: `vino uid=${toSpec().owner.uid} role=worker index=0 host=h9 hash=old ready`,
      },
    },
  ]);
});

type Disks = DisksQuestion["wanted"]["disks"];

const WANTED_DISKS = [
  { name: "root", sizeBytes: 20 * GIB, storageId: "sr-1", position: "0" },
  { name: "data", sizeBytes: 5 * GIB, storageId: "sr-1" },
];

function toDisksQuestion(links: readonly Attached[], isDone: boolean): DisksQuestion {
  const { resources } = toView({ links: { "vm-1": links } });
  const wanted = { disks: WANTED_DISKS };
  return { spec: toSpec(), vm: toVm(), wanted, resources, record: {}, atMs: NOW, isDone };
}

function compareLinks(links: readonly Attached[], isDone = true): string[] {
  return compareDisks(toDisksQuestion(links, isDone)).differences.map(
    ({ fix, needsStop, problem }) =>
      fix ? `${fix.summary}${needsStop === true ? " when off" : ""}` : (problem?.reason ?? ""),
  );
}

const root = (over: object = {}): Attached => toLink("vm-1", 0, toOwnDisk("root", 20 * GIB, over));
const data = (over: object = {}): Attached => toLink("vm-1", 1, toOwnDisk("data", 5 * GIB, over));
const inherited = toLink("vm-1", 0, toDisk({ sizeBytes: 20 * GIB }));

describe("compareDisks()", () => {
  test.each<[string, readonly Attached[], boolean, readonly string[]]>([
    ["nothing if all is there", [root(), data()], true, []],
    ["nothing if a person moved a disk", [root({ storageId: "sr-2" }), data()], true, []],
    [
      "a wrong storage before it is complete",
      [root({ storageId: "sr-2" }), data()],
      false,
      ["StorageDiffers"],
    ],
    [
      "a disk that must grow",
      [root({ sizeBytes: GIB }), data()],
      true,
      [`grow disk root of ${NAME} to 20Gi when off`],
    ],
    [
      "a disk that must shrink",
      [root({ sizeBytes: 99 * GIB }), data()],
      true,
      ["DiskCannotShrink"],
    ],
    ["a missing disk", [root()], true, ["DiskMissing"]],
    ["a renamed disk", [root(), data({ name: "x" })], true, [`name disk data of ${NAME}`]],
    [
      "the template's disk before it is complete",
      [inherited, data()],
      false,
      [`name disk root of ${NAME}`],
    ],
    [
      "a disk without a mark before it is complete",
      [root({ description: "" }), data()],
      false,
      [`name disk root of ${NAME}`],
    ],
    ["nothing for one without a mark after that", [root({ description: "" }), data()], true, []],
    [
      "a missing disk although a foreign one has its place",
      [inherited, data()],
      true,
      ["DiskMissing"],
    ],
    [
      "nothing for a drive and the seed",
      [
        root(),
        data(),
        { ...toLink("vm-1", 3, undefined), isCd: true },
        toLink("vm-1", 2, toOwnDisk(SEED_DISK, GIB)),
      ],
      true,
      [],
    ],
    [
      "nothing for a disk that a person attached",
      [root(), data(), toLink("vm-1", 2, toDisk())],
      true,
      [],
    ],
  ])("finds %s", (_what, links, isDone, found) => {
    expect(compareLinks(links, isDone)).toEqual([...found]);
  });

  test("says in the units of the spec that a disk cannot shrink, and lets a person decide", () => {
    const links = [root({ sizeBytes: 99 * GIB }), data()];
    const [difference] = compareDisks(toDisksQuestion(links, true)).differences;
    expect(difference?.problem).toEqual({
      kind: "decision",
      reason: "DiskCannotShrink",
      message: "disk root has 99Gi, and a disk cannot shrink to 20Gi. Ask for 99Gi in the spec",
    });
  });

  describe("of a complete machine without disks in the spec", () => {
    const template = toTemplate();
    const other = toTemplate({ id: "template-2", uuid: "template-2" });
    const own = toLink("vm-1", 0, toOwnDisk("disk0", 10 * GIB));
    const find = (links: readonly Attached[], from: Template, disks: Disks): string[] => {
      const wanted = { template: from, disks };
      const question = { ...toDisksQuestion(links, true), spec: toSpec({ disks: [] }), wanted };
      return compareDisks(question).differences.map(({ problem }) => problem?.message ?? "a fix");
    };
    const disk = (at: number, size: number): Disks[number] => ({
      name: `disk${at}`,
      sizeBytes: size * GIB,
      position: `${at}`,
    });

    test.each<[string, Template, Disks]>([
      ["with a smaller disk", other, [disk(0, 8)]],
      ["with a larger disk", other, [disk(0, 12)]],
      ["with one more disk", other, [disk(0, 10), disk(1, 5)]],
      ["whose disk was made smaller since then", template, [disk(0, 8)]],
    ])("finds nothing for a template %s", (_what, from, disks) => {
      expect(find([own], from, disks)).toEqual([]);
    });

    test("misses a disk of the template that it was made from", () => {
      const [message, ...more] = find([], template, [disk(0, 10)]);
      expect(message).toEndWith(`may hold data: attach a disk under the name ${NAME}.disk0`);
      expect(more).toEqual([]);
    });

    test("misses none in whose place it has another one, which the spec asked for once", () => {
      const root = toLink("vm-1", 0, toOwnDisk("root", 20 * GIB));
      expect(find([root], template, [disk(0, 10)])).toEqual([]);
    });
  });

  describe("of a disk that a complete machine lacks", () => {
    const find = (links: readonly Attached[], spec = toSpec()): string | undefined => {
      const question = { ...toDisksQuestion([...links, data()], true), spec };
      const [difference] = compareDisks(question).differences;
      return difference?.problem?.message;
    };
    const ask = `attach a disk under the name ${NAME}.root, or remove disk root from the spec`;
    const old = (name: string, over: object = {}): Attached =>
      toLink("vm-1", 3, toOwnDisk(name, 20 * GIB, over));

    test("says that Landfall makes no empty one in its place, and how to have one", () => {
      const message =
        `disk root of ${NAME} does not exist, and Landfall makes no empty one in place of a disk that may hold data: ` +
        `${ask}. To have a new one without data, remove disk root from the spec, and add it again later`;
      expect(find([])).toBe(message);
      // Neither the disk of another program nor the seed is what the spec lost.
      const others = [toLink("vm-1", 4, toDisk()), toLink("vm-1", 2, toOwnDisk(SEED_DISK, GIB))];
      expect(find(others)).toBe(message);
    });

    test.each<[string, object]>([
      ["by its name", { description: "" }],
      ["by its mark", { name: "renamed" }],
    ])("names the disk of the machine that the spec does not name, known %s", (_how, over) => {
      expect(find([old("os", over)])).toBe(
        `disk root of ${NAME} does not exist, but the machine has disk os, which the spec does not name. ` +
          "If root is a new name for such a disk, give it the old name in the spec again: os. " +
          `Otherwise ${ask}`,
      );
    });

    test("names all of them", () => {
      const message = find([old("os"), old("swap")]);
      expect(message).toContain("the machine has disks os and swap, which the spec does not name");
      expect(message).toContain("in the spec again: os or swap. Otherwise");
    });
  });

  test("names both storages of a disk that is on a wrong one", () => {
    const links = [root({ storageId: "sr-2" }), data()];
    const [difference] = compareDisks(toDisksQuestion(links, false)).differences;
    expect(difference?.problem?.message).toContain(
      'is on storage repository "fast" (sr-2) instead of storage repository "local" (sr-1)',
    );
  });

  test("shows every disk with what it is and should be", () => {
    const links = [root(), toLink("vm-1", 2, toDisk({ sizeBytes: 7 }))];
    expect(compareDisks(toDisksQuestion(links, true)).parts).toEqual([
      { name: "disk root", wanted: "20Gi", actual: "20Gi" },
      { name: "disk data", wanted: "5Gi" },
      { name: "disk debian-root", actual: "7 bytes" },
    ]);
  });
});

const WANTED_INTERFACES = [
  { name: "oam", device: "0", networkId: "net-1", mac: OWN_VIF.mac, mtu: 9000 },
];

function toInterfacesQuestion(
  vifs: readonly Vif[],
  interfaces: InterfacesQuestion["wanted"]["interfaces"] = WANTED_INTERFACES,
): InterfacesQuestion {
  const { resources } = toView({ vifs: { "vm-1": vifs } });
  return { spec: toSpec(), vm: toVm(), wanted: { interfaces }, resources };
}

const BOTH = ["InterfaceDiffers", "InterfaceNotWanted"];

test.each<[string, readonly Vif[], readonly string[]]>([
  ["nothing", [OWN_VIF], []],
  ["a missing one", [], [`add interface oam to ${NAME}`]],
  ["another address", [{ ...OWN_VIF, mac: "02:00:00:00:00:09" }], ["InterfaceDiffers"]],
  ["another network", [{ ...OWN_VIF, networkId: "net-2" }], ["InterfaceDiffers"]],
  ["the right MTU", [{ ...OWN_VIF, mtu: 9000 }], []],
  ["another MTU", [{ ...OWN_VIF, mtu: 1500 }], ["InterfaceDiffers"]],
  ["its address on another device", [{ ...OWN_VIF, device: "3" }], BOTH],
  ["one too many", [OWN_VIF, { ...OWN_VIF, device: "1" }], ["InterfaceNotWanted"]],
])("compareInterfaces() finds %s", (_what, vifs, found) => {
  const { differences } = compareInterfaces(toInterfacesQuestion(vifs));
  expect(differences.map(({ fix, problem }) => fix?.summary ?? problem?.reason ?? "")).toEqual([
    ...found,
  ]);
});

test("compareInterfaces() adds an interface with its device, address and network", () => {
  const [difference] = compareInterfaces(toInterfacesQuestion([])).differences;
  expect(difference?.fix?.change).toEqual({
    kind: "addInterface",
    vmId: "vm-1",
    device: "0",
    networkId: "net-1",
    mac: OWN_VIF.mac,
    mtu: 9000,
  });
});

test("compareInterfaces() does not compare one whose network is not known", () => {
  const { differences, parts } = compareInterfaces(toInterfacesQuestion([OWN_VIF], []));
  expect(differences).toEqual([]);
  const wanted = `${OWN_VIF.mac} in network "oam", which was not found`;
  expect(parts).toEqual([{ name: "interface oam", wanted }]);
});

test("compareInterfaces() calls no interface one too many while a network is not known", () => {
  const vifs = [OWN_VIF, { device: "1", mac: "02:00:00:00:00:07", networkId: "net-2" }];
  expect(compareInterfaces(toInterfacesQuestion(vifs, [])).differences).toEqual([]);
});

test("compareInterfaces() names networks, and first asks whether the spec is wrong", () => {
  const vifs = [
    { ...OWN_VIF, networkId: "net-4" },
    { ...OWN_VIF, device: "1", mac: "02:07" },
  ];
  const messages = compareInterfaces(toInterfacesQuestion(vifs)).differences.map(
    ({ problem }) => problem?.message ?? "",
  );
  expect(messages[0]).toContain(
    `interface oam of ${NAME} is ${OWN_VIF.mac} in network "far" (net-4) instead of ${OWN_VIF.mac} in ` +
      'network "oam" (net-1). Correct the spec if the machine is right. Otherwise remove',
  );
  expect(messages[1]).toContain(
    'device 1, 02:07 in network "oam" (net-1). Landfall removes none. Add it to the spec, or remove it',
  );
});

test("compareInterfaces() says which MTU an interface has, and which the spec asks for", () => {
  const { differences, parts } = compareInterfaces(
    toInterfacesQuestion([{ ...OWN_VIF, mtu: 1500 }]),
  );
  const place = `${OWN_VIF.mac} in network "oam" (net-1)`;
  expect(differences[0]?.problem?.message).toStartWith(
    `interface oam of ${NAME} is ${place} with MTU 1500 instead of ${place} with MTU 9000. Correct the spec`,
  );
  expect(parts).toEqual([
    { name: "interface oam", wanted: `${place} with MTU 9000`, actual: `${place} with MTU 1500` },
  ]);
});

test("compareInterfaces() compares no MTU if the spec has none", () => {
  const wanted = WANTED_INTERFACES.map(({ mtu: _any, ...one }) => one);
  const { differences, parts } = compareInterfaces(
    toInterfacesQuestion([{ ...OWN_VIF, mtu: 9000 }], wanted),
  );
  expect(differences).toEqual([]);
  expect(JSON.stringify(parts)).not.toContain("MTU");
});

test("compareInterfaces() says which VM has the address of a missing one", () => {
  const taken = WANTED_INTERFACES.map((one) => ({ ...one, takenBy: "vm-9" }));
  const question = toInterfacesQuestion([], taken);
  const [difference] = compareInterfaces(question).differences;
  expect(difference?.fix).toBeUndefined();
  expect(difference?.problem?.message).toContain("VM vm-9 has its MAC address");
});

const net = (network: string): Partial<MachineSpec> => ({
  interfaces: [{ name: "oam", network, mac: "02:00:00:00:00:01" }],
});
const disk = (storage: string): Partial<MachineSpec> => ({
  disks: [{ name: "root", sizeBytes: 20 * GIB, storage }],
});
const other = toTemplate({ id: "template-2", uuid: "uuid-2" });

describe("toWanted()", () => {
  test.each<[string, Partial<MachineSpec>, SceneOptions, readonly string[]]>([
    ["nothing wrong", {}, {}, []],
    ["nothing wrong by IDs", { template: "template-1", ...net("net-1"), ...disk("sr-1") }, {}, []],
    ["a default template by its UUID", { template: "uuid-2" }, { templates: [other] }, []],
    ["no template", { template: "fedora" }, {}, ["TemplateNotFound"]],
    ["two templates", {}, { templates: [other] }, ["TemplateAmbiguous"]],
    [
      "no template that is half-made",
      { template: NAME },
      { templates: [toTemplate({ name: NAME })] },
      ["TemplateNotFound"],
    ],
    [
      "a template with a tag of ours",
      { template: "t" },
      { templates: [toTemplate({ id: "x", uuid: "x", name: "t", tags: ["vino:ready=a"] })] },
      ["TemplateMarked"],
    ],
    ["no network", net("lan"), {}, ["NetworkNotFound"]],
    ["no network of another pool", net("far"), {}, ["NetworkNotFound"]],
    ["two networks", net("twice"), {}, ["NetworkAmbiguous"]],
    ["no storage", disk("nfs"), {}, ["StorageNotFound"]],
    ["a storage for images", disk("isos"), {}, ["StorageNotUsable"]],
    ["a storage of another host", disk("near"), {}, ["StorageNotUsable"]],
    [
      "no default storage",
      {
        disks: [
          { name: "a", sizeBytes: GIB },
          { name: "b", sizeBytes: GIB },
        ],
        template: "t",
      },
      {
        templates: [toTemplate({ id: "x", uuid: "x", name: "t" })],
        resources: { pools: new Map() },
      },
      ["StorageNotNamed", "StorageNotNamed"],
    ],
  ])("finds %s", (_what, over, options, found) => {
    const { problems } = toWanted(toView(options), toSpec(over));
    expect(problems.map(({ reason }) => reason)).toEqual([...found]);
  });

  test("names the pool, the other pool that has it, and what asks for it", () => {
    const pools = [
      { id: "pool-1", name: "paris", isComplete: true },
      { id: "pool-2", name: "lyon", isComplete: true },
    ];
    const [problem] = toWanted(toView({ cloud: { pools } }), toSpec(net("far"))).problems;
    expect(problem?.message).toBe(
      'interface oam: pool "paris" (pool-1) has no network "far". pool "lyon" (pool-2) has one. ' +
        "Correct the name in the spec, or let the user of Landfall see that network",
    );
  });

  test("names storages and hosts beside their IDs", () => {
    const [problem] = toWanted(toView(), toSpec(disk("near"))).problems;
    expect(problem?.message).toBe(
      `disk root: storage repository "near" (sr-4) is only for host host-2, but ${NAME} starts on ` +
        'host "xcp-1" (host-1): name a shared one',
    );
  });

  test("takes the storage of the template's disk, and otherwise the default one", () => {
    const links = {
      "template-1": [toLink("template-1", 0, toDisk({ storageId: "sr-2", sizeBytes: 1 }))],
    };
    expect(toWanted(toView({ links }), toSpec()).disks).toEqual([
      { name: "root", sizeBytes: 20 * GIB, storageId: "sr-2", position: "0" },
      { name: "data", sizeBytes: 5 * GIB, storageId: "sr-1" },
    ]);
  });

  test("keeps disks of the template that the specification does not name", () => {
    expect(toWanted(toView(), toSpec({ disks: [] })).disks).toEqual([
      { name: "disk0", sizeBytes: 10 * GIB, storageId: "sr-1", position: "0" },
    ]);
  });

  test("names objects of several in the message about an ambiguous name", () => {
    const [problem] = toWanted(toView(), toSpec(net("twice"))).problems;
    expect(problem?.message).toContain("net-2, net-3");
  });
});

const SECRET = "p4ssw0rd";

test("toCreateBody() names every device and storage, and starts nothing", () => {
  const spec = toSpec({ seed: { label: "cidata", files: { "user-data": SECRET } } });
  const vifs = {
    "template-1": [0, 1].map((one) => ({ device: String(one), mac: "x", networkId: "net-1" })),
  };
  const body = toCreateBody(spec, toTemplate({ uuid: "uuid-1" }), toWanted(toView({ vifs }), spec));
  expect(body).toEqual({
    template: "uuid-1",
    name_label: NAME,
    name_description: formatMark(spec, { hostId: HOST, hash: toSpecHash(spec) }, false),
    cpus: 2,
    memory: 4 * GIB,
    affinity: HOST,
    boot: false,
    clone: true,
    vifs: [
      { device: "0", network: "net-1", mac: "02:00:00:00:00:01" },
      { device: "1", destroy: true },
    ],
    vdis: [
      {
        userdevice: "0",
        name_label: `${NAME}.root`,
        name_description: formatDiskMark(spec, "root"),
        size: 20 * GIB,
        sr: "sr-1",
      },
      {
        name_label: `${NAME}.data`,
        name_description: formatDiskMark(spec, "data"),
        size: 5 * GIB,
        sr: "sr-1",
      },
    ],
  });
  expect(JSON.stringify(body)).not.toContain(SECRET);
});

test("toCreateBody() asks for a start from the network, and for an MTU", () => {
  const spec = toSpec({
    boot: "network",
    interfaces: [{ name: "oam", network: "oam", mac: "02:00:00:00:00:01", mtu: 9000 }],
  });
  expect(toCreateBody(spec, toTemplate(), toWanted(toView(), spec))).toMatchObject({
    install: { method: "network", repository: "" },
    vifs: [{ mtu: 9000 }],
  });
});

const DISKS = [{ name: "root", sizeBytes: 20 * GIB, storageId: "sr-1", position: "0" }];
const MAC = "02:00:00:00:00:01";
const user = (vmId: string, poolId = POOL): SceneOptions => ({
  resources: { macs: new Map([[MAC, [{ vmId, poolId }]]]) },
});

test.each<[string, object, readonly object[], SceneOptions, readonly string[]]>([
  ["nothing that fits", {}, DISKS, {}, []],
  ["a host of another pool", { hostId: "host-9" }, DISKS, {}, ["HostNotFound"]],
  ["too little memory", { memoryBytes: 1 }, DISKS, {}, ["MemoryTooSmall"]],
  ["a disk that would shrink", {}, [{ ...DISKS[0], sizeBytes: GIB }], {}, ["DiskTooSmall"]],
  ["a full storage", {}, [{ ...DISKS[0], storageId: "sr-2" }], {}, ["StorageFull"]],
  ["an address of another VM", {}, DISKS, user("other"), ["MacTaken"]],
  ["no address of another pool", {}, DISKS, user("other", "pool-2"), []],
  ["no address of itself", {}, DISKS, { ...user("vm-1"), vms: [toVm()] }, []],
  ["no address of a template", {}, DISKS, user("template-1"), []],
])("checkFit() finds %s", (_what, over, disks, options, found) => {
  const wanted = { template: toTemplate(), disks: disks as typeof DISKS };
  const problems = checkFit(toView(options), toSpec(over), wanted);
  expect(problems.map(({ reason }) => reason)).toEqual([...found]);
});
