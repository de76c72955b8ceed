import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  deleteTemplate,
  deleteVm,
  destroyMachine,
  findMachine,
} from "../../../../../lib/simulator/xenorchestra/writes/steps/deletion.ts";
import { attachDisk } from "../../../../../lib/simulator/xenorchestra/writes/steps/disks.ts";
import { Rig } from "../rig.ts";

describe("deletion", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  test("deleteVm() stops a running machine, and takes its disks and interfaces along", async () => {
    const before = ["vms", "vdis", "vbds", "vifs"].map((one) => rig.list(one as "vms"));
    const vm = await rig.make("vino-1");
    rig.cloud.state.setPower(vm.id, "Running");
    await deleteVm(rig.work(), vm);
    expect(["vms", "vdis", "vbds", "vifs"].map((one) => rig.list(one as "vms"))).toEqual(before);
  });

  test("deleteVm() spares a disk that another machine has, too", async () => {
    const { vmId, looseVdiId } = rig.site.foreign;
    const vm = await rig.make("vino-1");
    const shared = rig.record("vdis", looseVdiId);
    await attachDisk(rig.work(), vm, shared);
    await attachDisk(rig.work(), rig.record("vms", vmId), shared);
    await deleteVm(rig.work(), vm);
    expect(rig.record("vdis", looseVdiId)["$VBDs"]).toHaveLength(1);
  });

  test("deleteVm() takes any other disk along, whatever it is", async () => {
    const vm = await rig.make("vino-1");
    await attachDisk(rig.work(), vm, rig.record("vdis", rig.site.foreign.looseVdiId));
    await deleteVm(rig.work(), vm);
    expect(rig.cloud.state.all("vdis").has(rig.site.foreign.looseVdiId)).toBe(false);
  });

  test("deleteVm() finds a machine gone that somebody else deletes meanwhile", async () => {
    const vm = await rig.make("vino-1");
    rig.cloud.state.setPower(vm.id, "Running");
    const deleted = deleteVm(rig.work(), vm);
    rig.cloud.state.removeVm(vm.id);
    await expect(deleted).rejects.toThrow("HANDLE_INVALID(VM");
  });

  test("deleteVm() refuses what is blocked", async () => {
    const vm = await rig.make("vino-1");
    vm["blockedOperations"] = { destroy: "mine" };
    await expect(deleteVm(rig.work(), vm)).rejects.toThrow(
      "forbidden operation: destroy is blocked: mine",
    );
  });

  test("deleteTemplate() keeps default templates", async () => {
    const { poolIds, templateIds } = rig.site;
    const id = `${poolIds.paris}-${templateIds.default}`;
    const standard = findMachine(rig.work(), "vm-templates", id);
    await expect(deleteTemplate(rig.work(), standard)).rejects.toMatchObject({ status: 409 });
    await deleteTemplate(rig.work(), findMachine(rig.work(), "vm-templates", templateIds.blank));
    expect(rig.list("vm-templates").map(({ uuid }) => uuid)).not.toContain(templateIds.blank);
  });

  test("destroyMachine() leaves disks when their deletion fails, without an error", async () => {
    const vm = await rig.make("vino-1");
    const count = rig.list("vdis").length;
    rig.cloud.hypervisor.faults.set({ kind: "fail", code: "BUSY" }, { method: "VDI.destroy" });
    await destroyMachine(rig.work(), vm);
    expect(rig.cloud.state.all("vms").has(vm.id)).toBe(false);
    expect(rig.list("vdis")).toHaveLength(count);
  });

  test("findMachine() names the type that does not exist", () => {
    expect(() => findMachine(rig.work(), "vms", "nope")).toThrow("no such VM nope");
  });
});
