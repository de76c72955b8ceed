import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cloneTemplate } from "../../../../../lib/simulator/xenorchestra/writes/create/clone.ts";
import { Rig } from "../rig.ts";

describe("cloneTemplate()", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  const clone = (name: string) => {
    const template = rig.record("vm-templates", rig.site.templateIds.debian);
    return cloneTemplate(rig.work(), template, name, false);
  };

  test("makes a template of that name with disks and interfaces of its own", async () => {
    const template = rig.record("vm-templates", rig.site.templateIds.debian);
    Object.assign(template, { tags: ["private"], blockedOperations: { destroy: "no" } });
    Object.assign(template, { creation: { user: "other" } });
    const made = await clone("vino-1");
    expect(made).toMatchObject({ type: "VM-template", name_label: "vino-1", tags: ["private"] });
    expect(made["blockedOperations"]).toEqual({});
    expect(made).not.toHaveProperty("creation");
    expect(made["$VBDs"]).toHaveLength(1);
    expect(made["VIFs"]).not.toEqual(template["VIFs"]);
    const macs = rig.list("vifs").map(({ MAC }) => MAC);
    expect(new Set(macs).size).toBe(macs.length);
  });

  test("goes on in the hypervisor when xo-server dies, disks first", async () => {
    rig.cloud.hypervisor.operationMs = 1_000;
    const disks = rig.list("vdis").length;
    const asked = clone("vino-1").catch(() => "never heard");
    rig.cloud.kill();
    await rig.clock.advance(500);
    expect(rig.list("vdis")).toHaveLength(disks + 1);
    expect(rig.list("vm-templates").map((one) => one["name_label"])).not.toContain("vino-1");
    await rig.clock.advance(500);
    expect(rig.list("vm-templates").map((one) => one["name_label"])).toContain("vino-1");
    expect(await asked).toBe("never heard");
  });

  test("leaves nothing when the template is deleted meanwhile", async () => {
    rig.cloud.hypervisor.operationMs = 1_000;
    const disks = rig.list("vdis").length;
    const asked = clone("vino-1").catch((error: unknown) => String(error));
    await rig.clock.advance(600);
    rig.cloud.state.remove("vm-templates", rig.site.templateIds.debian);
    await rig.clock.advance(600);
    expect(await asked).toContain("HANDLE_INVALID");
    expect(rig.list("vdis")).toHaveLength(disks);
  });
});
