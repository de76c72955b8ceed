/**
 * Something between that stops in the middle of an answer and keeps the connection open, on real processes: nothing is
 * reset, nothing ends, and only a deadline helps. Those of lists and writes are as they are in production, so this
 * takes a minute; a watch, which may be silent for longer, is left to a clock of its own in outage_test.ts.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { skipsCluster } from "../../support/process/cluster.ts";
import { ClusterRig } from "../../support/process/cluster_rig.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { listNodeWrites } from "../../support/kube/election/lease_history.ts";
import { placeLandfall, type PlacedLandfall } from "../../support/process/placed_landfall.ts";
import { type StallingFront, startStallingFront } from "../../support/net/stalling_front.ts";
import { WatchedFleet } from "../../support/nodes/watched_fleet.ts";

const TIMEOUT_S = 2;
const WRITE_MS = 30_000;
const LIST_MS = 60_000;
/** The list for an inventory names all three machines. One that reads what changed names the new ones, and may fail. */
const LIST_OF_ALL = /\/vms\?.*filter=[^+]+\+[^+]+\+/;
const SETTINGS = [
  `clientTimeout: ${TIMEOUT_S}s`,
  "deletion: {confirmations: 3, holdOff: 1s, fleetShare: 1}",
] as const;

describe.skipIf(skipsCluster())(`behind something that stalls, ${PROGRAM.name}`, () => {
  let rig: ClusterRig | undefined;
  let fleet: WatchedFleet | undefined;
  let kube: StallingFront | undefined;
  let cloud: StallingFront | undefined;
  const use = () => {
    if (!rig || !fleet || !kube || !cloud) throw new Error("Cannot test: not up");
    return { rig, fleet, kube, cloud };
  };
  const place = (name: string, args: readonly string[] = []): Promise<PlacedLandfall> => {
    const { rig, kube, cloud } = use();
    return placeLandfall(rig, PROGRAM, {
      name,
      server: kube.url,
      cloudUrl: cloud.url,
      settings: SETTINGS,
      args: ["--node-monitor-period=500ms", ...args],
    });
  };

  beforeAll(async () => {
    rig = await ClusterRig.start();
    fleet = new WatchedFleet(rig);
    kube = await startStallingFront(rig.cluster.url, rig.cluster.folder);
    cloud = await startStallingFront(rig.cloud.url);
    await fleet.add("stays-1", "stays-2", "stays-3");
  }, 120_000);
  afterAll(async () => {
    await Promise.all([kube?.stop(), cloud?.stop()]);
    await rig?.stop();
  });

  test("a list that stalls is asked for again after a minute, and nothing is done meanwhile", async () => {
    const { rig, kube, fleet } = use();
    const asked = (await rig.cluster.listRequests()).length;
    kube.stallNext({ method: "GET", path: /\/nodes\?.*limit=/, bytes: 1_000 });
    const startMs = performance.now();
    const { landfall, ask, untilReady } = await place("stalled-list");
    try {
      await Bun.sleep(LIST_MS - 2_000);
      expect(kube.stalled).toBe(1);
      expect((await ask("/livez")).status).toBe(200);
      expect((await ask("/readyz")).status).toBe(500);
      expect(listNodeWrites((await rig.cluster.listRequests()).slice(asked))).toEqual([]);
      await untilReady();
      console.log(`a stalled list: ready after ${Math.round(performance.now() - startMs)} ms`);
      await fleet.settleForGood();
    } finally {
      await landfall.stop();
    }
  }, 120_000);

  test("a reply to a write and one of the cloud that stall hold up nothing but themselves", async () => {
    const { rig, kube, cloud, fleet } = use();
    const { landfall, untilReady } = await place("stalled-reply");
    try {
      await untilReady();
      await fleet.settle();
      const asked = (await rig.cluster.listRequests()).length;
      const { stalled } = kube;
      kube.stallNext({ method: "PATCH", path: /\/nodes\/held-1/, bytes: 10 });
      // Before the Nodes come: afterwards, the list that shows their machines may be there already.
      cloud.stallNext({ method: "GET", path: LIST_OF_ALL, bytes: 10 });
      const startMs = performance.now();
      await fleet.add("held-1", "held-2");
      await landfall.waitForRecord(({ message }) => message === "Cannot take inventory");
      const cloudMs = performance.now() - startMs;
      expect(cloudMs).toBeLessThan((TIMEOUT_S + 2) * 1_000);
      // Its neighbour is served, and machines are missed and found as ever.
      await fleet.lose("stays-3");
      await rig.waitForNode("held-2");
      await Bun.sleep(WRITE_MS - (performance.now() - startMs));
      const settledMs = await fleet.settleForGood();
      expect(kube.stalled).toBe(stalled + 1);
      // The write was done although nobody was told: it is seen, and not done again.
      const writes = listNodeWrites((await rig.cluster.listRequests()).slice(asked));
      const held = writes.filter(({ name }) => name === "held-1").map(({ resource }) => resource);
      expect(held.toSorted()).toEqual(["nodes", "nodes/status"]);
      console.log(
        `stalled replies: the cloud's failed after ${Math.round(cloudMs)} ms, ` +
          `all done ${settledMs} ms after the deadline`,
      );
    } finally {
      await landfall.stop();
    }
  }, 120_000);
});
