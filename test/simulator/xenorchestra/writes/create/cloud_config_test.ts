import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { addCloudConfig } from "../../../../../lib/simulator/xenorchestra/writes/create/cloud_config.ts";
import { Rig } from "../rig.ts";

const BODY = { name_label: "vino-1", cloud_config: "#cloud-config" };

describe("addCloudConfig()", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  const drive = () => rig.list("vdis").find((one) => one["name_label"] === "XO CloudConfigDrive");

  test("attaches a filled disk", async () => {
    const vm = await rig.make("vino-1");
    await addCloudConfig(rig.work(), vm, BODY);
    const disk = drive();
    expect(vm["$VBDs"]).toContain(Object(disk?.["$VBDs"])[0]);
    expect(rig.cloud.contents.has(disk?.id ?? "")).toBe(true);
  });

  test("attaches an empty one when the upload fails, without an error", async () => {
    rig.cloud.hypervisor.faults.set({ kind: "fail", code: "X" }, { method: "VDI.import" });
    await addCloudConfig(rig.work(), await rig.make("vino-1"), BODY);
    expect(rig.cloud.contents.has(drive()?.id ?? "")).toBe(false);
    expect(drive()?.["$VBDs"]).toHaveLength(1);
  });

  test("needs a disk beside it", async () => {
    const vm = await rig.make("vino-1", rig.site.templateIds.diskless);
    await expect(addCloudConfig(rig.work(), vm, BODY)).rejects.toThrow("VM without disks");
  });
});
