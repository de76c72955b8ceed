/**
 * A network that fails between hosts of their own, on real processes: packets vanish in one direction or both, and come
 * late. Nobody is told; what is known is known by deadlines alone.
 * @module
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { skipsCluster } from "../../support/process/cluster.ts";
import { ClusterRig, waitUntil } from "../../support/process/cluster_rig.ts";
import { killAll, type LandfallProcess, PROGRAM } from "../../support/process/landfall_process.ts";
import {
  findForeignWrites,
  listNodeWrites,
  toMs,
} from "../../support/kube/election/lease_history.ts";
import {
  createNetwork,
  type NetworkHost,
  skipsNetworks,
  type TestNetwork,
} from "../../support/net/network.ts";
import {
  placeLandfall,
  type PlacedLandfall,
  type PlaceOptions,
} from "../../support/process/placed_landfall.ts";
import { startTcpProxy, type TcpProxy } from "../../support/net/tcp_proxy.ts";
import { WatchedFleet } from "../../support/nodes/watched_fleet.ts";

const isSkipped = skipsCluster() || (await skipsNetworks());
const TIMEOUT_S = 2;
/** So little that nothing but the proof of absence stands between a Node and its deletion. */
const CARELESS = [
  `clientTimeout: ${TIMEOUT_S}s`,
  "deletion: {confirmations: 3, holdOff: 1s, fleetShare: 1}",
] as const;
/** Longer than three requests may take, one after the other. */
const CUT_MS = 7_000;
const LEASE_S = 3;
const ELECTION = [
  "--leader-elect=true",
  `--leader-elect-lease-duration=${LEASE_S}s`,
  "--leader-elect-renew-deadline=2s",
  "--leader-elect-retry-period=500ms",
] as const;
const DIRECTIONS = ["both", "outbound", "inbound"] as const;
const DELAY_MS = 500;
/** How TLS says that it ends. */
const FAREWELL_BYTES = 64;

/** What stands during all tests of this file. */
interface Stage {
  readonly rig: ClusterRig;
  readonly network: TestNetwork;
  readonly hosts: readonly [NetworkHost, NetworkHost];
  /** Doors of API server and cloud to the network. */
  readonly kube: TcpProxy;
  readonly cloud: TcpProxy;
  readonly fleet: WatchedFleet;
}

describe.skipIf(isSkipped)(`in a network that fails, ${PROGRAM.name}`, () => {
  let stage: Stage | undefined;
  const running: LandfallProcess[] = [];
  const use = (): Stage => {
    if (stage === undefined) throw new Error("Cannot test: the network is not up");
    return stage;
  };
  const place = async (options: PlaceOptions): Promise<PlacedLandfall> => {
    const placed = await placeLandfall(use().rig, PROGRAM, options);
    running.push(placed.landfall);
    return placed;
  };
  /** Starts one on a host, from where everything is reached over the network. */
  const placeOn = (at: 0 | 1, name: string, args: readonly string[]): Promise<PlacedLandfall> => {
    const { network, hosts, kube, cloud } = use();
    return place({
      name,
      prefix: hosts[at].prefix,
      server: `https://${network.address}:${kube.port}`,
      cloudUrl: `http://${network.address}:${cloud.port}`,
      settings: CARELESS,
      args: ["--node-monitor-period=500ms", ...args],
    });
  };

  beforeAll(async () => {
    const network = await createNetwork(2);
    const rig = await ClusterRig.start();
    const [one, other] = network.hosts;
    if (one === undefined || other === undefined) throw new Error("Cannot find the hosts");
    const open = (url: string): Promise<TcpProxy> =>
      startTcpProxy(Number(new URL(url).port), { host: network.address });
    const [kube, cloud] = [await open(rig.cluster.url), await open(rig.cloud.url)];
    const fleet = new WatchedFleet(rig);
    stage = { rig, network, hosts: [one, other], kube, cloud, fleet };
    await fleet.add("stays-1", "stays-2", "stays-3");
  }, 120_000);
  afterEach(async () => {
    await killAll(running.splice(0));
    for (const host of stage?.hosts ?? []) await host.mend();
    await stage?.rig.deleteLease();
  });
  afterAll(async () => {
    await Promise.all([stage?.kube.stop(), stage?.cloud.stop()]);
    await stage?.network[Symbol.asyncDispose]();
    await stage?.rig.stop();
  });

  test.each(DIRECTIONS)(
    "deletes nothing and hangs nowhere while no packet passes to Xen Orchestra (%s), and recovers within an interval",
    async (direction) => {
      const { rig, fleet, hosts, cloud } = use();
      const [gone, late] = [`gone-${direction}`, `late-${direction}`];
      await fleet.add(gone);
      const { landfall, ask, readMetric, untilReady } = await placeOn(0, "to-cloud", []);
      await untilReady();
      await fleet.settle();
      await hosts[0].cut(cloud.port, direction);
      const cutMs = performance.now();
      await fleet.lose(gone);
      await fleet.add(late);
      await Bun.sleep(CUT_MS);
      expect((await ask("/livez")).status).toBe(200);
      expect((await rig.readNode(gone)).metadata.name).toBe(gone);
      const failures = landfall.log
        .split("\n")
        .filter((line) => line.includes("Cannot take inventory"));
      // Each ends at its deadline, and the next begins after a pause of an interval at most.
      expect(failures.length).toBeGreaterThanOrEqual(2);
      expect(failures.at(-1)).toContain(`did not answer within ${TIMEOUT_S} s`);
      const ageS = await readMetric("landfall_inventory_age_seconds");
      expect(ageS).toBeGreaterThan((performance.now() - cutMs) / 1_000 - 1);
      await hosts[0].mend();
      const mendMs = performance.now();
      await waitUntil("a good inventory", async () =>
        (await readMetric("landfall_inventory_age_seconds")) < 1 ? true : undefined,
      );
      const recoveredMs = performance.now() - mendMs;
      // The request that is lost already, and one interval.
      expect(recoveredMs).toBeLessThan((TIMEOUT_S + 1) * 1_000 + 500);
      const settledMs = await fleet.settleForGood();
      console.log(
        `cut from the cloud (${direction}): inventory ${Math.round(recoveredMs)} ms after the end, ` +
          `all done ${settledMs} ms later`,
      );
    },
    90_000,
  );

  test.each(DIRECTIONS)(
    "gives up the Lease in time when no packet passes to the API server (%s), and another takes over",
    async (direction) => {
      const { rig, fleet, hosts, kube } = use();
      const asked = (await rig.cluster.listRequests()).length;
      const leader = await placeOn(0, "first", ELECTION);
      await leader.landfall.waitForRecord(({ message }) => message === "Became leader");
      const other = await placeOn(1, "second", ELECTION);
      await other.untilReady();
      await fleet.settle();
      const cutAt = Date.now();
      await hosts[0].cut(kube.port, direction);
      // Work for whoever leads, from before the Lease is over until after it.
      const names = Array.from({ length: 12 }, (_, at) => `work-${direction}-${at}`);
      for (const name of names) {
        await fleet.add(name);
        await Bun.sleep(200);
      }
      const lost = await leader.landfall.waitForRecord(
        ({ message }) => message === "leaderelection lost",
      );
      const lostMs = Date.parse(String(lost["time"])) - cutAt;
      expect(lostMs).toBeLessThan(LEASE_S * 1_000);
      const { code, stderr } = await leader.landfall.ended;
      const endedMs = Date.now() - cutAt;
      expect(code, stderr).toBe(1);
      const { time } = await other.landfall.waitForRecord(
        ({ message }) => message === "Became leader",
      );
      const tookOverMs = Date.parse(String(time)) - cutAt;
      await fleet.settle();
      // What the kernel held back of a request would arrive later, whoever leads then. A word of farewell may.
      expect(await hosts[0].listUnsent(kube.port, FAREWELL_BYTES)).toEqual([]);
      await hosts[0].mend();
      const again = await placeOn(0, "first", ELECTION);
      await again.untilReady();
      await fleet.settleForGood();
      expect(again.landfall.log).not.toContain("Became leader");
      const requests = (await rig.cluster.listRequests()).slice(asked);
      const since = requests.filter(({ at }) => toMs(at) >= cutAt);
      expect(findForeignWrites(requests)).toEqual([]);
      const late = listNodeWrites(since).filter(({ username }) => username === leader.username);
      console.log(
        `cut from the API server (${direction}): the leader stopped after ${lostMs} ms and ended after ` +
          `${endedMs} ms, the other led after ` +
          `${tookOverMs} ms; ${late.length} writes of the first after the cut`,
      );
      // Its last renewal may have been answered right before the cut, or arrive right after it.
      expect(tookOverMs).toBeLessThan((2 * LEASE_S + 1) * 1_000);
    },
    90_000,
  );

  test(`initialises Nodes and keeps its Lease when everything comes ${DELAY_MS} ms late both ways`, async () => {
    const { rig, fleet } = use();
    const asked = (await rig.cluster.listRequests()).length;
    const open = (url: string): Promise<TcpProxy> =>
      startTcpProxy(Number(new URL(url).port), { delayMs: DELAY_MS });
    const [kube, cloud] = [await open(rig.cluster.url), await open(rig.cloud.url)];
    try {
      const { landfall, untilReady } = await place({
        name: "far-away",
        server: `https://127.0.0.1:${kube.port}`,
        cloudUrl: `http://127.0.0.1:${cloud.port}`,
        // Deadlines as they are: a round trip takes a second, a handshake three.
        settings: ["deletion: {confirmations: 3, holdOff: 1s, fleetShare: 1}"],
        args: ["--leader-elect=true", "--node-monitor-period=500ms"],
      });
      await untilReady();
      const startMs = performance.now();
      const names = Array.from({ length: 10 }, (_, at) => `far-${at}`);
      await fleet.add(...names);
      await fleet.settle();
      const initialisedMs = performance.now() - startMs;
      await fleet.lose("far-0");
      const deletedMs = await fleet.settleForGood();
      console.log(
        `${DELAY_MS} ms late: ${names.length} Nodes after ${Math.round(initialisedMs)} ms, ` +
          `a Node deleted ${deletedMs} ms after its machine`,
      );
      expect(landfall.log).not.toContain("leaderelection lost");
      const requests = (await rig.cluster.listRequests()).slice(asked);
      expect(findForeignWrites(requests)).toEqual([]);
      for (const name of names.slice(1)) {
        // Labels, provider ID and taint in one; addresses in another.
        const writes = listNodeWrites(requests).filter((write) => write.name === name);
        expect(writes.map(({ resource }) => resource).toSorted()).toEqual([
          "nodes",
          "nodes/status",
        ]);
      }
    } finally {
      await Promise.all([kube.stop(), cloud.stop()]);
    }
  }, 90_000);
});
