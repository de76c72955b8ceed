import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { applyInstall } from "../../../../../lib/simulator/xenorchestra/writes/create/install.ts";
import { Rig } from "../rig.ts";

describe("applyInstall()", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  test("puts the network first, for good", async () => {
    const vm = await rig.make("vino-1");
    await applyInstall(rig.work(), vm, { method: "network", repository: "" });
    expect(vm["boot"]).toEqual({ order: "ncd", firmware: "bios" });
  });

  test("puts a CD first, and attaches it", async () => {
    const vm = await rig.make("vino-1");
    const iso = rig.list("vdis").find((one) => one["name_label"] === "debian.iso");
    await applyInstall(rig.work(), vm, { method: "cdrom", repository: iso?.id ?? "" });
    expect(vm["boot"]).toMatchObject({ order: "dc" });
    expect(rig.list("vbds").at(-1)).toMatchObject({ VDI: iso?.id, is_cd_drive: true });
  });
});
