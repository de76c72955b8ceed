/**
 * A kubelet registers its Node while the pool of its VM is lost, and a halted copy of the VM shows in another: the Node
 * waits for its own.
 */
import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { toRegistration } from "../support/nodes/nodes.ts";
import { OutageRig, REFRESH_MS } from "../support/outages/rig.ts";

const MINUTE_MS = 60_000;
const NAME = "alpha-1";

/** Loses the first pool, shows a halted copy of a VM in the second, and registers its Node anew. */
async function showCopy(rig: OutageRig, isNewProcess: boolean): Promise<void> {
  const { state } = rig.servers.cloud;
  const { alpha, beta } = rig.pools;
  if (isNewProcess) await rig.stopApp();
  const id = rig.toVmId(NAME);
  state.migratePool(id, beta.id);
  state.setPower(id, "Halted");
  state.dropPool(alpha.id);
  // Else the Node is matched to what was shown until now: its own VM.
  if (!isNewProcess) await rig.clock.advance(2 * REFRESH_MS);
  rig.servers.kubernetes.objects.deleteNode(NAME);
  if (!isNewProcess) await rig.clock.advance(5_000);
  const registration = toRegistration(NAME, { systemUuid: id, labels: {} });
  rig.servers.kubernetes.objects.createNode(registration);
  rig.setReady(NAME, true);
  if (isNewProcess) await rig.startApp();
  await rig.clock.advance(3 * MINUTE_MS);
}

describe.each([true, false])(
  "a halted copy while a kubelet registers; new process: %p",
  (isNew) => {
    test("initialises no Node, and takes none with it when it goes", async () => {
      await using rig = await OutageRig.start(DEFAULT_DELETION, true);
      // What nobody may read is no reason to keep a Node whose VM was seen.
      const { cloud } = rig.servers;
      cloud.faults.set({ kind: "status", status: 403 }, { route: "/servers" });
      await showCopy(rig, isNew);
      expect(rig.readNode(NAME)?.spec?.providerID).toBeUndefined();
      expect(rig.readNode(NAME)?.metadata.labels ?? {}).not.toHaveProperty([
        "topology.kubernetes.io/region",
      ]);
      cloud.state.removeVm(rig.toVmId(NAME));
      rig.setReady(NAME, false);
      await rig.clock.advance(10 * MINUTE_MS);
      expect(rig.readNode(NAME)).toBeDefined();
    });

    test.each([true, false])(
      "that is started initialises it by the next look; events: %p",
      async (hasEvents) => {
        await using rig = await OutageRig.start(DEFAULT_DELETION, hasEvents);
        await showCopy(rig, isNew);
        expect(rig.readNode(NAME)?.spec?.providerID).toBeUndefined();
        const { beta } = rig.pools;
        rig.servers.cloud.state.setPower(rig.toVmId(NAME), "Running", beta.hostIds[0]);
        await rig.clock.advance(hasEvents ? REFRESH_MS / 2 : REFRESH_MS + 1_000);
        expect(rig.readNode(NAME)?.spec?.providerID).toContain(beta.id);
      },
    );
  },
);
