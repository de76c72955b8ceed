import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Rig } from "../rig.ts";

describe("createVm()", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  test("makes a machine with what was asked for, after a task that names it", async () => {
    const { site } = rig;
    const asked = await rig.post(`/pools/${site.poolIds.paris}/actions/create_vm`, {
      template: site.templateIds.debian,
      name_label: "vino-1",
      name_description: "a machine",
      cpus: 4,
      memory: 8 * 1024 ** 3,
      vifs: [
        { device: "0", network: site.networkIds.oam, mac: "02:00:00:00:00:01" },
        { network: site.networkIds.provisioning, mac: "02:00:00:00:00:02" },
      ],
      vdis: [
        { name_label: "vino-1-data", size: 1024 ** 3, sr: site.srIds.fast },
        { userdevice: "0", size: 20 * 1024 ** 3, name_label: "vino-1-root" },
      ],
    });
    expect(asked.status).toBe(202);
    const taskId = String(Object(await asked.json()).taskId);
    const task = Object(await (await rig.get(`/tasks/${taskId}?wait=true`)).json());
    expect(task).toMatchObject({
      status: "success",
      properties: { args: { name_label: "vino-1" } },
    });
    await rig.clock.advance(250);
    const vm = Object(await (await rig.get(`/vms/${task.result.id}`)).json());
    expect(vm).toMatchObject({
      name_label: "vino-1",
      name_description: "a machine",
      power_state: "Halted",
      CPUs: { max: 4, number: 4 },
      creation: { template: site.templateIds.debian },
    });
    expect(rig.list("vifs").filter((vif) => vif["$VM"] === vm.id)).toMatchObject([
      { device: "0", MAC: "02:00:00:00:00:01", $network: site.networkIds.oam },
      { device: "1", MAC: "02:00:00:00:00:02", $network: site.networkIds.provisioning },
    ]);
    const vbds = rig.list("vbds").filter((vbd) => vbd["VM"] === vm.id);
    const disks = rig.list("vdis").filter(({ id }) => vbds.some((vbd) => vbd["VDI"] === id));
    expect(disks).toMatchObject([
      { name_label: "vino-1-root", size: 20 * 1024 ** 3, $SR: site.srIds.local },
      { name_label: "vino-1-data", size: 1024 ** 3, $SR: site.srIds.fast },
    ]);
  });
});
