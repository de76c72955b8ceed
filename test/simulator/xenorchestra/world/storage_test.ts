import { expect, test } from "bun:test";
import { toVm } from "../../../../lib/simulator/xenorchestra/records.ts";
import {
  toSr,
  toTemplate,
  toVbd,
  toVdi,
} from "../../../../lib/simulator/xenorchestra/world/storage.ts";

test("toVbd() attaches a disk of a repository to a machine, which knows it by a device while it runs", () => {
  const sr = toSr({ name: "local", poolId: "p" });
  const vdi = toVdi({ id: "d", name: "data", sr, sizeBytes: 5 });
  expect(vdi).toMatchObject({ $SR: sr.id, $pool: "p", size: 5, $VBDs: [] });
  const link = { id: "b", vdi, position: "1" };
  const running = toVbd({ ...link, vm: toVm({ name: "a", poolId: "p" }) });
  expect(running).toMatchObject({ attached: true, device: "xvdb", VDI: "d" });
  const halted = toVbd({ ...link, vm: toVm({ name: "a", poolId: "p", power: "Halted" }) });
  expect(halted).toMatchObject({ attached: false, read_only: false });
  expect(halted).not.toHaveProperty("device");
});

test("toTemplate() is halted", () => {
  expect(toTemplate({ name: "t", poolId: "p" })).toMatchObject({
    type: "VM-template",
    power_state: "Halted",
    isDefaultTemplate: false,
  });
});
