import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { applyInterfaces } from "../../../../../lib/simulator/xenorchestra/writes/create/interface_steps.ts";
import { Rig } from "../rig.ts";

describe("applyInterfaces()", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  const apply = async (wishes: Parameters<typeof applyInterfaces>[2]) => {
    const vm = await rig.make("vino-1");
    await applyInterfaces(rig.work(), vm, wishes);
    const own = rig.list("vifs").filter((vif) => vif["$VM"] === vm.id);
    return own.map((vif) => [vif["device"], vif["$network"]]);
  };

  test("keeps those of the template whose device is not named", async () => {
    const { oam, provisioning } = rig.site.networkIds;
    expect(await apply([{ network: provisioning }])).toEqual([
      ["0", oam],
      ["1", provisioning],
    ]);
  });

  test("replaces or removes those whose device is named, and writes devices into the wishes", async () => {
    const { provisioning: network } = rig.site.networkIds;
    const wishes = [{ device: "0", network }, { network }];
    expect(await apply(wishes)).toEqual([
      ["0", network],
      ["1", network],
    ]);
    expect(wishes[1]).toEqual({ network, device: "1" });
    expect(await apply([{ device: "0", destroy: true }])).toEqual([]);
  });

  test("fails for a network that is unknown, or of another pool", async () => {
    await expect(apply([{ network: "nope" }])).rejects.toThrow("no such object nope");
    const other = rig.list("networks").find((one) => one["$pool"] === rig.site.poolIds.lyon);
    await expect(apply([{ network: other?.id ?? "" }])).rejects.toThrow("no such object");
  });
});
