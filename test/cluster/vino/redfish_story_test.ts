/**
 * Real processes serve Redfish for the machine of a Vino: one leads, one stands by, and the leader is killed after it
 * said that the boot device is set.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { IRONIC, lacks } from "../../judges/install.ts";
import { until } from "../../support/nodes/rig.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { ROLE, USER } from "../../providers/xenorchestra/machines/rig.ts";
import { askRedfish, type RedfishChange } from "../../support/redfish/ask.ts";
import { type RedfishProcess, RedfishRig } from "../../support/redfish/processes.ts";
import { runSushy } from "../../support/redfish/python.ts";

const TAKEOVER_MS = 40_000;
const TIMEOUT_MS = 120_000;

async function untilLeader(
  rig: RedfishRig,
  fits: (one: RedfishProcess) => boolean = () => true,
): Promise<RedfishProcess> {
  let leader: RedfishProcess | undefined;
  const find = (): boolean => {
    leader = rig.findLeader();
    return leader !== undefined && fits(leader);
  };
  await until("a process leads", find, TAKEOVER_MS);
  if (leader === undefined) throw new Error("no process leads");
  return leader;
}

describe.skipIf(lacks(IRONIC))(`Redfish of processes (${PROGRAM.name})`, () => {
  test(
    "a new leader finishes what the old one was asked for once, and the Service follows it",
    async () => {
      await using rig = await RedfishRig.start(PROGRAM, 2);
      const first = await untilLeader(rig);
      const second = rig.processes.find((one) => one !== first);
      if (second === undefined) throw new Error("there is no standby");
      const ask = async (one: RedfishProcess, path: string): Promise<number> =>
        (await askRedfish(one, path)).status;
      expect([await ask(first, "/readyz"), await ask(second, "/readyz")]).toEqual([200, 503]);
      expect(await ask(second, "/redfish/v1/")).toBe(200);
      expect(await ask(second, "/redfish/v1/Systems")).toBe(503);
      const system = `system = root.get_system("/redfish/v1/Systems/${rig.machineId}")\n`;
      const before = rig.readOrder();
      expect(before).toBe("ncd");
      const told = await runSushy(
        rig.login(first),
        `${system}
tell([system.power_state.value, [one.identity for one in root.get_system_collection().get_members()]])
system.set_system_boot_options(sushy.BOOT_SOURCE_TARGET_HDD, enabled=sushy.BOOT_SOURCE_ENABLED_ONCE)
tell("set")`,
      );
      expect(told).toEqual([["Off", [rig.machineId]], "set"]);
      first.landfall.signal("SIGKILL");
      expect([rig.readOrder(), rig.hasOverride]).toEqual(["cnd", true]);
      await untilLeader(rig, (one) => one === second);
      const started = `${system}
tell([system.boot.enabled.value, system.boot.target.value])
system.reset_system(sushy.RESET_ON)
system.refresh()
tell(system.power_state.value)`;
      expect(await runSushy(rig.login(second), started)).toEqual([["Once", "Hdd"], "On"]);
      await until("the old order is back", () => !rig.hasOverride, TAKEOVER_MS);
      expect(rig.readOrder()).toBe(before);
      expect(rig.listEndpoints()).toEqual([second.ip]);
    },
    TIMEOUT_MS,
  );

  test(
    "a user who may not set the boot order is told so, and goes on to switch the machine",
    async () => {
      await using rig = await RedfishRig.start(PROGRAM, 1, [{ ...USER, privileges: ROLE }]);
      const leader = await untilLeader(rig);
      const system = `/redfish/v1/Systems/${rig.machineId}`;
      const before = rig.readOrder();
      const boot = (target: string, enabled: string): RedfishChange => {
        const Boot = { BootSourceOverrideTarget: target, BootSourceOverrideEnabled: enabled };
        return { method: "PATCH", json: { Boot } };
      };
      const reset = (ResetType: string): RedfishChange => ({
        method: "POST",
        json: { ResetType },
      });
      const statuses: number[] = [];
      for (const change of [boot("Hdd", "Once"), reset("On"), reset("ForceOff"), reset("On")]) {
        const action = change.method === "POST" ? "/Actions/ComputerSystem.Reset" : "";
        const answer = await askRedfish(leader, `${system}${action}`, rig.login(leader), change);
        statuses.push(answer.status);
        if (answer.status === 409) expect(await answer.text()).toContain("the old ACL");
      }
      expect(statuses).toEqual([409, 204, 204, 204]);
      expect([rig.readOrder(), rig.hasOverride]).toEqual([before, false]);
    },
    TIMEOUT_MS,
  );
});
