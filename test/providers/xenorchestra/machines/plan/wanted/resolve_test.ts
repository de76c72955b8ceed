import { describe, expect, test } from "bun:test";
import type { MachineSpec } from "../../../../../../lib/cloud/capabilities/machines.ts";
import { toWanted } from "../../../../../../lib/providers/xenorchestra/machines/plan/wanted/resolve.ts";
import {
  GIB,
  NAME,
  type SceneOptions,
  toDisk,
  toLink,
  toSpec,
  toTemplate,
  toView,
} from "../../scene.ts";

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
