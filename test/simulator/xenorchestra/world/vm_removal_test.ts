import { expect, test } from "bun:test";
import type { XoRecord } from "../../../../lib/simulator/xenorchestra/records.ts";
import {
  type PartsStore,
  removeParts,
} from "../../../../lib/simulator/xenorchestra/world/vm_removal.ts";

const toMap = (...records: XoRecord[]): Map<string, XoRecord> =>
  new Map(records.map((one) => [one.id, one]));

test.each([
  [false, ["disk", "foreign"]],
  [true, ["foreign"]],
])("removeParts() takes interfaces and links, and with %p the disks", (withDisks, left) => {
  const vifs = toMap({ id: "vif", $VM: "vm" }, { id: "vif-2", $VM: "vm-2" });
  const vbds = toMap(
    { id: "link", VM: "vm", VDI: "disk" },
    { id: "drive", VM: "vm" },
    { id: "other", VM: "vm-2", VDI: "foreign" },
  );
  const vdis = toMap({ id: "disk", $VBDs: ["link"] }, { id: "foreign", $VBDs: ["other"] });
  const records = { vifs, vbds, vdis };
  const store: PartsStore = {
    all: (name) => records[name],
    remove: (name, id) => void records[name].delete(id),
  };
  removeParts(store, "vm", withDisks);
  expect([...vifs.keys()]).toEqual(["vif-2"]);
  expect([...vbds.keys()]).toEqual(["other"]);
  expect([...vdis.keys()]).toEqual(left);
  expect(vdis.get("disk")?.["$VBDs"]).toEqual(withDisks ? undefined : []);
  expect(vdis.get("foreign")?.["$VBDs"]).toEqual(["other"]);
});
