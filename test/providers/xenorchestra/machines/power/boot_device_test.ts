/**
 * What a management controller sees and does of the boot device, with a VM that was made, over both APIs.
 * @module
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { PowerAction } from "../../../../../lib/cloud/capabilities/machine_power.ts";
import { Rig } from "../rig.ts";

let rig: Rig;
let id: string;
beforeEach(async () => {
  rig = await Rig.start();
  const spec = rig.spec({ boot: "disk", isStarted: false });
  await rig.make(spec);
  ({ id } = rig.vm(spec));
});
afterEach(() => rig.stop());

test("XenOrchestraPower.setBootOrder() sets the order of a VM, which read() shows", async () => {
  const { power } = rig.machines;
  expect(await power.read(id, rig.signal)).toMatchObject({ bootOrder: ["disk", "cd"] });
  await power.setBootOrder(id, ["network", "disk", "cd"], rig.fence, rig.signal);
  expect(await power.read(id, rig.signal)).toMatchObject({ bootOrder: ["network", "disk", "cd"] });
});

test("XenOrchestraPower.read() tells each start and restart from the one before", async () => {
  const { power } = rig.machines;
  const act = async (action: PowerAction): Promise<number | undefined> => {
    await power.act(id, action, rig.fence, rig.signal);
    await rig.clock.advance(250);
    return (await power.read(id, rig.signal))?.startedAtMs;
  };
  await act("on");
  rig.simulator.state.setVm(id, { startTime: 5 });
  expect(await act("pause")).toBe(5_000);
  expect(await act("resume")).toBe(5_000);
  expect(await act("restart")).toBeGreaterThan(5_000);
  expect(await act("off")).toBeUndefined();
});
