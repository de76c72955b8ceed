import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { PowerState } from "../../../../../lib/simulator/xenorchestra/mod.ts";
import {
  changePower,
  refuseGone,
  startVm,
} from "../../../../../lib/simulator/xenorchestra/writes/steps/power.ts";
import { Rig } from "../rig.ts";

describe("changePower()", () => {
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.stop());

  const cases: [PowerState, string, PowerState | string][] = [
    ["Halted", "start", "Running"],
    ["Running", "start", "VM_BAD_POWER_STATE(REF, halted, running)"],
    ["Halted", "hard_shutdown", "VM_BAD_POWER_STATE(REF, running, halted)"],
    ["Paused", "hard_shutdown", "Halted"],
    ["Suspended", "hard_shutdown", "Halted"],
    ["Running", "clean_shutdown", "Halted"],
    ["Halted", "clean_reboot", "VM_BAD_POWER_STATE(REF, running, halted)"],
    ["Suspended", "hard_reboot", "VM_BAD_POWER_STATE(REF, running, suspended)"],
    ["Running", "pause", "Paused"],
    ["Paused", "unpause", "Running"],
  ];
  test.each(cases)("%s, %s: %s", async (from, action, wanted) => {
    const vm = await rig.make("vino-1");
    if (from !== "Halted") rig.cloud.state.setPower(vm.id, from);
    const error = await changePower(rig.work(), vm, action).catch((one: unknown) => one);
    const message = error instanceof Error ? error.message : vm["power_state"];
    expect(String(message).replace(String(vm["_xapiRef"]), "REF")).toBe(wanted);
  });

  test("refuseGone() refuses what was deleted while it was asked for", async () => {
    const vm = await rig.make("vino-1");
    const started = startVm(rig.work(), vm);
    rig.cloud.state.removeVm(vm.id);
    await expect(started).rejects.toThrow("HANDLE_INVALID(VM");
    expect(() => refuseGone(rig.work(), vm)).toThrow("HANDLE_INVALID(VM");
  });

  test("asks no guest without tools", async () => {
    const vm = await rig.make("vino-1", rig.site.templateIds.debian);
    rig.cloud.state.toolless.add(vm.id);
    await startVm(rig.work(), vm);
    await expect(changePower(rig.work(), vm, "clean_shutdown")).rejects.toThrow("VM_LACKS_FEATURE");
  });

  test("starts where it is told to, unless that host is disabled", async () => {
    const vm = await rig.make("vino-1");
    const hostId = rig.site.hostIds["xcp-par-3"];
    rig.record("hosts", hostId)["enabled"] = false;
    await expect(startVm(rig.work(), vm, hostId)).rejects.toThrow("HOST_DISABLED");
    await expect(startVm(rig.work(), vm, "nope")).rejects.toThrow("no such host nope");
    rig.record("hosts", hostId)["enabled"] = true;
    await startVm(rig.work(), vm, hostId);
    expect(vm).toMatchObject({ power_state: "Running", $container: hostId });
  });

  test("does not start what a person blocked", async () => {
    const vm = await rig.make("vino-1");
    vm["blockedOperations"] = { start: "no" };
    await expect(startVm(rig.work(), vm)).rejects.toMatchObject({
      status: 403,
      message: "forbidden operation: Start",
      data: { operation: "Start", reason: "no" },
    });
  });
});
