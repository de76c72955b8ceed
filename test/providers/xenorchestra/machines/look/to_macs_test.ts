import { expect, test } from "bun:test";
import { toMacs } from "../../../../../lib/providers/xenorchestra/machines/look/to_macs.ts";
import { NAME, toCompleteVm, toVm } from "../scene.ts";

const toVif = (id: string, vmId: string | undefined, mac: string, device: string | number = 0) => ({
  id,
  MAC: mac,
  device,
  ...(vmId !== undefined && { $VM: vmId }),
});

test("toMacs() lists all addresses, and says which ones our machines have", () => {
  const vms = [
    toCompleteVm(),
    toVm({ id: "vm-2", description: "vino uid=x role=worker index=0" }),
    toVm({ id: "vm-3", description: "" }),
    toVm({ id: "vm-4", name: "copy" }),
  ];
  const vifs = [
    toVif("a", "vm-1", "02:00:00:00:00:0A", "1"),
    toVif("b", "vm-2", "02:00:00:00:00:02"),
    toVif("c", "vm-3", "02:00:00:00:00:03"),
    toVif("d", "vm-4", "02:00:00:00:00:04"),
    toVif("e", "other", "02:00:00:00:00:05"),
    toVif("f", undefined, "02:00:00:00:00:06"),
    toVif("g", "template-1", "02:00:00:00:00:07"),
  ];
  expect(toMacs({ vifs, vms, templates: [{ id: "template-1" }] })).toEqual([
    { mac: "02:00:00:00:00:0a", machine: { name: NAME, device: 1 } },
    { mac: "02:00:00:00:00:02" },
    { mac: "02:00:00:00:00:03" },
    { mac: "02:00:00:00:00:04" },
    { mac: "02:00:00:00:00:05" },
    { mac: "02:00:00:00:00:06" },
  ]);
});
