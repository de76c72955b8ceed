/**
 * While a pool is lost, a Node of another pool is deleted only if the settings say so, and only if its machine stayed
 * in its own pool after that.
 */
import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import type { KubeEvent } from "../../lib/kube/kinds/event.ts";
import { OutageRig, REFRESH_MS } from "../support/outages/rig.ts";

const MINUTE_MS = 60_000;
/** The stay, the question after a minute, and the hold-off. */
const STAY_MS = 3 * MINUTE_MS;
const HOLD_OFF_MS = 10 * MINUTE_MS;
const GONE = "beta-gone";
const TOLERANT = { ...DEFAULT_DELETION, whileOtherPartsAreLost: true };

/** A pool is lost, for good as far as the test goes. */
async function start(deletion = TOLERANT): Promise<OutageRig> {
  const rig = await OutageRig.start(deletion, true);
  rig.servers.cloud.state.dropPool(rig.pools.alpha.id);
  rig.setReady("alpha-3", false);
  return rig;
}

/** Deletes the VM of a Node, which falls silent. */
function remove(rig: OutageRig): void {
  rig.servers.cloud.state.removeVm(rig.toVmId(GONE));
  rig.setReady(GONE, false);
}

function findMessage(rig: OutageRig): string {
  const events = rig.servers.kubernetes.objects.list("events", "default");
  const blocked = (events as unknown as KubeEvent[]).filter(
    ({ involvedObject, reason }) =>
      involvedObject.name === GONE && reason === "NodeDeletionBlocked",
  );
  return blocked.map(({ message }) => message ?? "").join("\n");
}

describe("while another pool is lost", () => {
  test("no Node is deleted by default, and its Event names the setting and the way by hand", async () => {
    await using rig = await start(DEFAULT_DELETION);
    await rig.clock.advance(STAY_MS);
    remove(rig);
    await rig.clock.advance(3 * HOLD_OFF_MS);
    expect(rig.readNode(GONE)).toBeDefined();
    expect(findMessage(rig)).toContain("deletion.whileOtherPoolsAreLost");
    expect(findMessage(rig)).toContain("delete the Node by hand");
  });

  test("a Node goes whose machine stayed in its own pool, ten minutes later, if the settings say so", async () => {
    await using rig = await start();
    await rig.clock.advance(STAY_MS);
    remove(rig);
    await rig.clock.advance(HOLD_OFF_MS - REFRESH_MS);
    expect(rig.readNode(GONE)).toBeDefined();
    expect(findMessage(rig)).toContain("missing for 10m");
    await rig.clock.advance(2 * MINUTE_MS);
    expect(rig.readNode(GONE)).toBeUndefined();
    expect(rig.readNode("alpha-3")).toBeDefined();
  });

  test("also by a process that started meanwhile", async () => {
    await using rig = await start();
    await rig.stopApp();
    await rig.startApp();
    await rig.clock.advance(STAY_MS + REFRESH_MS);
    remove(rig);
    await rig.clock.advance(HOLD_OFF_MS + 2 * MINUTE_MS);
    expect(rig.readNode(GONE)).toBeUndefined();
    expect(rig.readNode("alpha-3")).toBeDefined();
  });

  test("the ten minutes count while the Node is not Ready", async () => {
    await using rig = await start();
    await rig.clock.advance(STAY_MS);
    // Its machine was moved without Xen Orchestra, and its kubelet lives.
    rig.servers.cloud.state.removeVm(rig.toVmId(GONE));
    await rig.clock.advance(2 * HOLD_OFF_MS);
    rig.setReady(GONE, false);
    await rig.clock.advance(HOLD_OFF_MS - REFRESH_MS);
    expect(rig.readNode(GONE)).toBeDefined();
  });

  test.each<[string, (rig: OutageRig) => Promise<void> | void]>([
    ["left its pool too soon after the loss", (rig) => rig.clock.advance(MINUTE_MS)],
    [
      "left its pool before an inventory failed",
      async (rig) => {
        await rig.clock.advance(STAY_MS);
        rig.servers.cloud.faults.set({ kind: "status", status: 502 }, { times: 1 });
        await rig.clock.advance(REFRESH_MS);
      },
    ],
    [
      "left its pool while that was lost, too",
      async (rig) => {
        await rig.clock.advance(STAY_MS);
        rig.servers.cloud.state.dropPool(rig.pools.beta.id, REFRESH_MS);
      },
    ],
    [
      "was being migrated",
      async (rig) => {
        await rig.clock.advance(STAY_MS);
        rig.servers.cloud.state.beginMigration(rig.toVmId(GONE));
        await rig.clock.advance(REFRESH_MS);
      },
    ],
  ])("no Node goes whose machine %s", async (_title, leave) => {
    await using rig = await start();
    await leave(rig);
    remove(rig);
    await rig.clock.advance(3 * HOLD_OFF_MS);
    expect(rig.readNode(GONE)).toBeDefined();
    rig.servers.cloud.state.restorePool(rig.pools.alpha.id);
    await rig.clock.advance(3 * MINUTE_MS);
    expect(rig.readNode(GONE)).toBeUndefined();
  });
});
