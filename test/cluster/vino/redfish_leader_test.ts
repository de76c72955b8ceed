/**
 * Real processes with Redfish on a real API server: the Service without a selector follows the leader, a standby says
 * that it is one, and what a killed leader was asked for once is finished by the next.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { until } from "../../support/nodes/rig.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { askRedfish } from "../../support/redfish/ask.ts";
import { RedfishClusterRig, SERVICE } from "../../support/redfish/cluster_rig.ts";

const WAIT_MS = 40_000;
const TIMEOUT_MS = 180_000;

describe.skipIf(skipsCluster())(`Redfish on a real API server (${PROGRAM.name})`, () => {
  test(
    "the Service follows the leader, and the next one finishes what a killed one was asked for once",
    async () => {
      await using rig = await RedfishClusterRig.start(PROGRAM);
      const first = await rig.startProcess();
      await rig.untilLeads(first);
      await rig.untilPublished();
      const systems = `/redfish/v1/Systems/${rig.machineId}`;
      const login = await rig.login(first);

      const second = await rig.startProcess();
      const isStandby = async (): Promise<boolean> =>
        (await askRedfish(second, "/readyz")).status === 503;
      await until("the second process stands by", () => isStandby().catch(() => false), WAIT_MS);
      const refused = await askRedfish(second, systems, login);
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
      const both = [first, second].map(
        async (one) => (await askRedfish(one, systems, login)).status,
      );
      expect(await Promise.all(both)).toEqual([200, 503]);
      expect(await rig.findEndpoints()).toEqual([first.ip]);

      // An orderly end: the endpoint moves to the other process.
      expect((await first.landfall.stop()).code).toBe(0);
      await rig.untilLeads(second);
      expect((await askRedfish(second, systems, login)).status).toBe(200);

      // Killed right after it set the boot device and started the machine.
      const third = await rig.startProcess();
      const before = rig.readOrder();
      expect(before).toBe("ncd");
      const Boot = { BootSourceOverrideTarget: "Hdd", BootSourceOverrideEnabled: "Once" };
      const set = { method: "PATCH", json: { Boot } } as const;
      expect((await askRedfish(second, systems, login, set)).status).toBe(204);
      const reset = { method: "POST", json: { ResetType: "On" } } as const;
      const path = `${systems}/Actions/ComputerSystem.Reset`;
      expect((await askRedfish(second, path, login, reset)).status).toBe(204);
      second.landfall.signal("SIGKILL");
      expect([rig.readOrder(), await rig.hasOverride()]).toEqual(["cnd", true]);
      await rig.untilLeads(third);
      const isDone = async (): Promise<boolean> => !(await rig.hasOverride());
      await until("the old order is back", isDone, WAIT_MS);
      expect(rig.readOrder()).toBe(before);
      expect(await (await askRedfish(third, systems, login)).json()).toMatchObject({
        PowerState: "On",
        Boot: { BootSourceOverrideEnabled: "Disabled", BootSourceOverrideTarget: "None" },
      });

      // The rights of the manifests are enough, and the only writes are to the endpoints of this Service.
      expect(await rig.listRefusedWrites()).toEqual([]);
      const writes = await rig.listSliceRequests();
      expect(new Set(writes.map(({ verb, name }) => `${verb} ${name}`))).toEqual(
        new Set([`patch ${SERVICE}-ipv4`]),
      );
      const lastIp = JSON.stringify(writes.at(-1)?.body);
      expect(lastIp).toContain(`"addresses":["${third.ip}"]`);
    },
    TIMEOUT_MS,
  );
});
