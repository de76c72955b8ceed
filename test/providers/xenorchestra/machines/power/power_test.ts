/**
 * What a management controller may do with a machine.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { PowerAction } from "../../../../../lib/cloud/capabilities/machine_power.ts";
import { Rig } from "../rig.ts";

let rig: Rig;
let id: string;

beforeEach(async () => {
  rig = await Rig.start();
  const spec = rig.spec({ isStarted: false });
  await rig.make(spec);
  id = rig.vm(spec).id;
});
afterEach(() => rig.stop());

const act = (action: PowerAction): Promise<void> =>
  rig.machines.power.act(id, action, rig.fence, rig.signal);
const state = (): unknown => rig.simulator.state.read("vms", id)?.["power_state"];

describe("XenOrchestraPower", () => {
  test("reads a machine", async () => {
    expect(await rig.machines.power.read(id, rig.signal)).toEqual({
      id,
      name: "vino-1b4e28ba-worker-0",
      power: "stopped",
      isGraceful: false,
      bootOrder: ["disk", "cd"],
      firmware: "bios",
      cpus: 4,
      memoryBytes: 4 * 1024 ** 3,
    });
  });

  test("reads the interfaces of a machine, whether the last inventory has it or not", async () => {
    const { networkIds } = rig.site;
    const wanted = {
      name: "vino-1b4e28ba-worker-0",
      interfaces: [
        { mac: "02:00:00:00:00:01", network: networkIds.oam },
        { mac: "02:00:00:00:00:02", network: networkIds.provisioning },
      ],
    };
    expect(await rig.machines.power.readInterfaces(id, rig.signal)).toEqual(wanted);
    await rig.refresh();
    expect(await rig.machines.power.readInterfaces(id, rig.signal)).toEqual(wanted);
  });

  test.each<[PowerAction, string, string]>([
    ["on", "Halted", "Running"],
    ["on", "Running", "Running"],
    ["on", "Suspended", "Running"],
    ["on", "Paused", "Running"],
    ["off", "Running", "Halted"],
    ["off", "Halted", "Halted"],
    ["off", "Paused", "Halted"],
    ["off", "Suspended", "Halted"],
    ["restart", "Running", "Running"],
    ["restart", "Halted", "Running"],
    ["gracefulOff", "Running", "Halted"],
    ["gracefulOff", "Halted", "Halted"],
    ["gracefulRestart", "Running", "Running"],
    ["cycle", "Running", "Running"],
    ["cycle", "Halted", "Running"],
    ["pause", "Running", "Paused"],
    ["resume", "Paused", "Running"],
    ["resume", "Running", "Running"],
  ])("%s of a VM that is %s leaves it %s", async (action, before, after) => {
    rig.simulator.state.setPower(id, before as "Halted", rig.site.hostIds["xcp-par-1"]);
    await act(action);
    await rig.clock.advance(0);
    expect(state()).toBe(after);
  });

  test.each<[PowerAction, string, string]>([
    ["pause", "Halted", "state"],
    ["gracefulRestart", "Halted", "state"],
    ["gracefulOff", "Paused", "state"],
  ])("%s of a VM that is %s is refused: %s", async (action, before, refusal) => {
    rig.simulator.state.setPower(id, before as "Halted", rig.site.hostIds["xcp-par-1"]);
    await expect(act(action)).rejects.toMatchObject({ refusal });
    expect(state()).toBe(before);
  });

  test("asks no guest without tools", async () => {
    rig.simulator.state.toolless.add(id);
    rig.simulator.state.setPower(id, "Running", rig.site.hostIds["xcp-par-1"]);
    const vm = rig.simulator.state.read("vms", id);
    rig.simulator.state.setVm(id, { ...vm, xenTools: false, pvDriversDetected: false });
    await expect(act("gracefulOff")).rejects.toMatchObject({ refusal: "notGraceful" });
    expect(state()).toBe("Running");
  });

  test("touches no VM of others, and none that is not complete", async () => {
    const { vmId } = rig.site.foreign;
    const { power } = rig.machines;
    expect(await power.read(vmId, rig.signal)).toBeUndefined();
    await rig.refresh();
    expect(await power.readInterfaces(vmId, rig.signal)).toBeUndefined();
    const off = power.act(vmId, "off", rig.fence, rig.signal);
    await expect(off).rejects.toMatchObject({ refusal: "notOurs" });
    rig.simulator.state.setVm(id, { tags: ["vino"] });
    expect(await power.read(id, rig.signal)).toBeUndefined();
    await rig.refresh();
    expect(await power.readInterfaces(id, rig.signal)).toBeUndefined();
    await expect(act("on")).rejects.toMatchObject({ refusal: "notOurs" });
  });
});
