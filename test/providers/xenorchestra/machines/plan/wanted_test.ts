import { describe, expect, test } from "bun:test";
import type { MachineSpec } from "../../../../../lib/cloud/capabilities/machines.ts";
import { toWanted } from "../../../../../lib/providers/xenorchestra/machines/plan/wanted/resolve.ts";
import {
  GIB,
  HOST,
  NAME,
  POOL,
  type SceneOptions,
  toDisk,
  toLink,
  toSpec,
  toTemplate,
  toView,
  toVm,
} from "../scene.ts";
import { toCreateBody } from "../../../../../lib/providers/xenorchestra/machines/plan/wanted/body.ts";
import {
  formatDiskMark,
  formatMark,
  toSpecHash,
} from "../../../../../lib/providers/xenorchestra/machines/words.ts";
import { checkFit } from "../../../../../lib/providers/xenorchestra/machines/plan/wanted/checks.ts";

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
      { templates: [toTemplate({ id: "x", uuid: "x", name: "t" })], stock: { pools: new Map() } },
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
    const [problem] = toWanted(toView({ view: { pools } }), toSpec(net("far"))).problems;
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
  stock: { macs: new Map([[MAC, [{ vmId, poolId }]]]) },
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
