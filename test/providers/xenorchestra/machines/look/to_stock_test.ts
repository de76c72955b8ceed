import { describe, expect, test } from "bun:test";
import {
  type StockLists,
  toDisk,
  toStock,
  toTasks,
} from "../../../../../lib/providers/xenorchestra/machines/look/to_stock.ts";

const NONE: StockLists = {
  userId: undefined,
  pools: [],
  templates: [],
  tasks: undefined,
  storages: [],
  networks: [],
  vifs: [],
  links: [],
  disks: [],
};
const raw = { id: "d", name_label: "vino-1b4e28ba-a-0.root", size: 5, $SR: "s", $pool: "p" };

describe("toStock()", () => {
  test("sorts interfaces by device, and finds addresses in any case", () => {
    const vifs = ["10", "2"].map((device) => ({
      id: device,
      $VM: "v",
      $network: "n",
      $pool: "p",
      device,
      MAC: "02:00:00:00:00:AB",
    }));
    const stock = toStock({ ...NONE, vifs });
    expect(stock.vifs.get("v")?.map(({ device }) => device)).toEqual(["2", "10"]);
    expect(stock.macs.get("02:00:00:00:00:ab")).toHaveLength(2);
  });

  test("finds disks of links, and those of our names without links", () => {
    const disks = [
      { ...raw, $VBDs: ["l"] },
      { ...raw, id: "loose" },
      { ...raw, id: "foreign", name_label: "backup" },
    ];
    const links = [
      { id: "l", VM: "v", VDI: "d", position: "1" },
      { id: "m", VM: "v", VDI: "hidden", position: "0" },
      { id: "n", VM: "v", position: "3", is_cd_drive: true },
    ];
    const stock = toStock({ ...NONE, disks, links });
    expect(stock.attached.get("v")).toEqual([
      { linkId: "m", position: "0", isCd: false, diskId: "hidden" },
      {
        linkId: "l",
        position: "1",
        isCd: false,
        diskId: "d",
        disk: toDisk({ ...raw, $VBDs: ["l"] }),
      },
      { linkId: "n", position: "3", isCd: true },
    ]);
    expect(stock.orphans.map(({ id }) => id)).toEqual(["loose"]);
  });

  test.each([
    ["a shared one", { shared: true, $container: "p" }, { isUsable: true }],
    ["a local one", { shared: false, $container: "h" }, { hostId: "h", isUsable: true }],
    ["one for images", { content_type: "iso" }, { isUsable: false }],
    ["a drive", { SR_type: "udev" }, { isUsable: false }],
    ["one in maintenance", { inMaintenanceMode: true }, { isUsable: false }],
    ["a thick one", { allocationStrategy: "thick" }, { isThick: true }],
    ["a full one", { size: 5, physical_usage: 9 }, { freeBytes: 0 }],
    ["one without sizes", { size: null }, { isThick: false }],
  ])("describes %s", (_what, over, wanted) => {
    const { storages } = toStock({ ...NONE, storages: [{ id: "s", $pool: "p", ...over }] });
    expect(storages).toMatchObject([wanted]);
    expect(storages[0]).not.toHaveProperty("freeBytes", -4);
  });

  test("says nothing about tasks and the user that it does not know", () => {
    expect(toStock(NONE)).not.toHaveProperty("tasks");
    expect(toStock(NONE)).not.toHaveProperty("userId");
    expect(toStock({ ...NONE, tasks: [], userId: "u" })).toMatchObject({ userId: "u" });
  });

  test("keeps names and default storages of pools", () => {
    const pools = [{ id: "p", name_label: "paris", default_SR: "s" }, { id: "q" }];
    expect([...toStock({ ...NONE, pools }).pools.values()]).toEqual([
      { id: "p", name: "paris", defaultStorageId: "s" },
      { id: "q", name: "q" },
    ]);
  });
});

test("toTasks() sorts tasks by name, the newest first", () => {
  const named = (id: string, name_label: unknown, rest: object = {}) => ({
    id,
    status: "success",
    properties: { args: { name_label, template: "t" } },
    ...rest,
  });
  const tasks = toTasks([
    named("0a", "x", { status: "failure", end: 5, result: { code: "C", message: "M" } }),
    named("0b", "x", { result: { id: "vm" } }),
    named("0c", "y", { status: "odd" }),
    named("0d", 7),
    { id: "0e", status: "pending" },
  ]);
  expect(tasks.get("x")).toEqual([
    { id: "0b", status: "success", template: "t", vmId: "vm" },
    { id: "0a", status: "failure", template: "t", endMs: 5, error: "M" },
  ]);
  // What is not known may run.
  expect(tasks.get("y")).toEqual([{ id: "0c", status: "pending", template: "t" }]);
  expect(tasks.size).toBe(2);
});
