import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  createInterface,
  destroyInterface,
  listInterfaces,
} from "../../../../../lib/simulator/xenorchestra/writes/steps/interfaces.ts";
import { Rig } from "../rig.ts";

describe("interfaces", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  test("createInterface() takes a MAC address that another machine has, and locks by addresses", async () => {
    const { work, site } = { work: rig.work(), site: rig.site };
    const [one, two] = [await rig.make("vino-1"), await rig.make("vino-2")];
    const network = rig.record("networks", site.networkIds.oam);
    const mac = "02:00:00:00:00:01";
    await createInterface(work, one, { network, mac });
    const vif = await createInterface(work, two, { network, mac, ipv4: ["10.0.0.9"], mtu: 1400 });
    expect(vif).toMatchObject({ device: "1", MAC: mac, lockingMode: "locked", MTU: 1400 });
    await expect(createInterface(work, two, { network, device: "1" })).rejects.toThrow(
      "DEVICE_ALREADY_EXISTS(1)",
    );
    await expect(createInterface(work, two, { network, mac: "02:zz" })).rejects.toThrow(
      "MAC_INVALID(02:zz)",
    );
  });

  test("createInterface() finds a machine gone that somebody deletes meanwhile", async () => {
    const vm = await rig.make("vino-1");
    const network = rig.record("networks", rig.site.networkIds.oam);
    const made = createInterface(rig.work(), vm, { network });
    rig.cloud.state.removeVm(vm.id);
    await expect(made).rejects.toThrow("HANDLE_INVALID(VM");
  });

  test("destroyInterface() forgets it at both ends", async () => {
    const vm = await rig.make("vino-1");
    const [vif] = listInterfaces(rig.cloud.state, vm.id);
    expect(vm["VIFs"]).toEqual([vif?.id]);
    if (vif) await destroyInterface(rig.work(), vif, vm);
    expect(vm["VIFs"]).toEqual([]);
    expect(rig.record("networks", rig.site.networkIds.oam)["VIFs"]).not.toContain(vif?.id);
  });
});
