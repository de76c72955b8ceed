/**
 * A hand-over between two real processes on a real API server: the next leader misses what it saw while it stood by.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createDemoWorld } from "../../../lib/simulator/xenorchestra/mod.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import {
  ClusterRig,
  type Controller,
  LEASE,
  NOT_READY,
  READY,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import { killAll, PROGRAM } from "../../support/process/landfall_process.ts";

const isSkipped = skipsCluster();
/** Far below the ten minutes that a machine is not missed that was never seen. */
const HAND_OVER_MS = 60_000;
const NAMES = ["stays-1", "stays-2", "gone"];
const { poolIds, hostIds } = createDemoWorld();
const PLACE = { poolId: poolIds.paris, hostId: hostIds["xcp-par-1"] };
const ARGS = [
  "--node-monitor-period=500ms",
  "--leader-elect=true",
  `--leader-elect-resource-name=${LEASE.name}`,
  "--leader-elect-lease-duration=2s",
  "--leader-elect-renew-deadline=1400ms",
  "--leader-elect-retry-period=300ms",
];

describe.skipIf(isSkipped)(`on a real API server, a hand-over of ${PROGRAM.name}`, () => {
  let rig: ClusterRig | undefined;
  const controllers: Controller[] = [];

  beforeAll(async () => {
    rig = await ClusterRig.start();
    await rig.configure(["deletion: {confirmations: 3, holdOff: 1s, fleetShare: 1}"]);
    await rig.allowDeletion(true);
    controllers.push(await rig.startController(PROGRAM, { args: ARGS }));
    for (const [at, name] of NAMES.entries()) {
      rig.addVm(name, { ...PLACE, addresses: { "0/ipv4/0": `10.10.3.${at + 1}` } });
      await rig.register(name);
      await rig.setCondition(name, READY);
      await rig.waitForNode(name);
    }
    const standby = await rig.startController(PROGRAM, { args: ARGS });
    controllers.push(standby);
    await waitUntil("the standby to see all machines", async () => {
      const text = await (await fetch(`${standby.debugUrl}/metrics`)).text();
      return text.includes(`landfall_instances{presence="present"} ${NAMES.length}\n`) || undefined;
    });
  }, 120_000);
  afterAll(async () => {
    await killAll(controllers.map(({ landfall }) => landfall));
    await rig?.stop();
  });

  test("deletes a Node within the ordinary time whose machine the standby saw, and no other", async () => {
    const { cluster } = rig ?? {};
    if (rig === undefined || cluster === undefined) throw new Error("The cluster is not up");
    controllers[0]?.landfall.signal("SIGKILL");
    const fromMs = Date.now();
    await rig.loseMachine("gone");
    await rig.setCondition("stays-1", NOT_READY);
    await waitUntil("the deletion of the Node", async () => {
      const { status } = await cluster.adminFetch("/api/v1/nodes/gone");
      return status === 404 ? true : undefined;
    });
    expect(Date.now() - fromMs).toBeLessThan(HAND_OVER_MS);
    const deletions = await cluster.listNodeDeletions();
    expect(deletions.map(({ node }) => node)).toEqual(["gone"]);
  }, 120_000);
});
