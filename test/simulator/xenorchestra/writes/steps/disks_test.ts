import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  attachDisk,
  createDisk,
  destroyDisk,
  dropAttachment,
  dropDisk,
  findFree,
  growDisk,
  listAttachments,
  listDisks,
  toHandleInvalid,
} from "../../../../../lib/simulator/xenorchestra/writes/steps/disks.ts";
import { Rig } from "../rig.ts";

const GIB = 1024 ** 3;

describe("disks", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  const create = (sizeBytes = GIB, sr = rig.site.srIds.tiny) =>
    createDisk(rig.work(), { name: "data", sizeBytes, sr: rig.record("srs", sr) });

  test("createDisk() makes a disk that nothing has, and refuses what does not fit", async () => {
    const disk = await create(4 * GIB);
    expect(disk).toMatchObject({ name_label: "data", size: 4 * GIB, $VBDs: [] });
    expect(listDisks(rig.cloud.state, rig.site.srIds.tiny)).toEqual([disk]);
    await expect(create(2 * GIB)).rejects.toThrow(
      "SR_BACKEND_FAILURE_44(, There is insufficient space, )",
    );
  });

  test("attachDisk() takes the next free position, and refuses one that is taken", async () => {
    const vm = await rig.make("vino-1");
    const disk = await create();
    const vbd = await attachDisk(rig.work(), vm, disk, { isReadOnly: true });
    expect(vbd).toMatchObject({ position: "1", read_only: true, attached: false });
    expect([vm["$VBDs"], disk["$VBDs"]]).toEqual([
      listAttachments(rig.cloud.state, vm.id).map(({ id }) => id),
      [vbd.id],
    ]);
    await expect(attachDisk(rig.work(), vm, disk, { position: "1" })).rejects.toThrow(
      "DEVICE_ALREADY_EXISTS(1)",
    );
    dropAttachment(rig.cloud.state, vbd);
    expect(disk["$VBDs"]).toEqual([]);
  });

  test("growDisk() never shrinks one, nor grows one that is in use", async () => {
    const vm = await rig.make("vino-1");
    const [vbd] = listAttachments(rig.cloud.state, vm.id);
    const disk = rig.record("vdis", String(vbd?.["VDI"]));
    await growDisk(rig.work(), disk, 12 * GIB);
    expect(disk["size"]).toBe(12 * GIB);
    await expect(growDisk(rig.work(), disk, GIB)).rejects.toThrow("INVALID_VALUE");
    rig.cloud.state.setPower(vm.id, "Running");
    await expect(growDisk(rig.work(), disk, 13 * GIB)).rejects.toThrow("VDI_IN_USE");
  });

  test("destroyDisk() removes one with its attachments, but none that is in use", async () => {
    const vm = await rig.make("vino-1");
    const disk = await create();
    await attachDisk(rig.work(), vm, disk);
    rig.cloud.state.setPower(vm.id, "Running");
    await expect(destroyDisk(rig.work(), disk)).rejects.toThrow("VDI_IN_USE");
    rig.cloud.state.setPower(vm.id, "Halted");
    await destroyDisk(rig.work(), disk);
    expect(listAttachments(rig.cloud.state, vm.id)).toHaveLength(1);
    expect(rig.record("srs", rig.site.srIds.tiny)["VDIs"]).toEqual([]);
  });

  test("dropDisk() forgets it where it is", async () => {
    dropDisk(rig.cloud.state, await create());
    expect(listDisks(rig.cloud.state, rig.site.srIds.tiny)).toEqual([]);
  });

  test("findFree() and toHandleInvalid() say what is free, and what is unknown", () => {
    expect([findFree(new Set()), findFree(new Set(["0", "1", "3"]))]).toEqual(["0", "2"]);
    expect(toHandleInvalid("VM", { id: "a", _xapiRef: "r" }).message).toBe("HANDLE_INVALID(VM, r)");
  });
});
