/**
 * Something between that forgets its connections, on real processes: it drops what comes on them, both ways, and
 * closes nothing. New connections work. What is known is known by what is not heard.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { skipsCluster } from "../../support/process/cluster.ts";
import { ClusterRig, isInitialised } from "../../support/process/cluster_rig.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import {
  findForeignWrites,
  listRenewals,
  toMs,
} from "../../support/kube/election/lease_history.ts";
import { createNetwork, skipsNetworks } from "../../support/net/network.ts";
import { placeLandfall } from "../../support/process/placed_landfall.ts";
import { startTcpProxy, type TcpProxy } from "../../support/net/tcp_proxy.ts";
import { WatchedFleet } from "../../support/nodes/watched_fleet.ts";

/** Until the watch works again. */
const WATCH_MS_MAX = 45_000;
/** Until a leader has renewed on a new connection. */
const RENEWAL_MS_MAX = 30_000;
const POLL_MS = 100;
const isSkipped = skipsCluster();
const isNetworkSkipped = isSkipped || (await skipsNetworks());

/** Something that can forget the connections that there are, and the way through it. */
interface Middle extends AsyncDisposable {
  readonly server: string;
  readonly cloudUrl: string;
  readonly prefix?: readonly string[];
  forget(): Promise<void>;
}

describe.skipIf(isSkipped)(`behind something that forgets connections, ${PROGRAM.name}`, () => {
  let rig: ClusterRig | undefined;
  const use = (): ClusterRig => {
    if (rig === undefined) throw new Error("Cannot test: not up");
    return rig;
  };

  beforeAll(async () => {
    rig = await ClusterRig.start();
  }, 120_000);
  afterAll(async () => {
    await rig?.stop();
  });

  /** A hop that takes in what is sent, answers for it, and passes nothing on. */
  const startHop = async (): Promise<Middle> => {
    const proxy = await startTcpProxy(Number(new URL(use().cluster.url).port));
    return {
      server: `https://127.0.0.1:${proxy.port}`,
      cloudUrl: use().cloud.url,
      forget: () => Promise.resolve(proxy.silence()),
      [Symbol.asyncDispose]: () => proxy.stop(),
    };
  };
  /** A router that drops the packets of connections that it does not know. */
  const startRouter = async (): Promise<Middle> => {
    const network = await createNetwork(1);
    const [host] = network.hosts;
    if (host === undefined) throw new Error("Cannot find the host");
    const open = (url: string): Promise<TcpProxy> =>
      startTcpProxy(Number(new URL(url).port), { host: network.address });
    const [proxy, cloud] = [await open(use().cluster.url), await open(use().cloud.url)];
    return {
      server: `https://${network.address}:${proxy.port}`,
      cloudUrl: `http://${network.address}:${cloud.port}`,
      prefix: host.prefix,
      forget: () => host.forget(proxy.port),
      async [Symbol.asyncDispose]() {
        await Promise.all([proxy.stop(), cloud.stop()]);
        await network[Symbol.asyncDispose]();
      },
    };
  };

  const CASES = [
    ["a hop that passes nothing on", "alone", startHop, isSkipped],
    ["a hop that passes nothing on", "leading", startHop, isSkipped],
    ["a router that drops packets", "alone", startRouter, isNetworkSkipped],
    ["a router that drops packets", "leading", startRouter, isNetworkSkipped],
  ] as const;
  test.each(CASES.filter(([, , , isLeftOut]) => !isLeftOut))(
    "behind %s, %s: the watch works again within 45 s, and a leader renews within 30 s",
    async (what, role, start) => {
      const { cluster } = use();
      await using middle = await start();
      const fleet = new WatchedFleet(use());
      const id = crypto.randomUUID().slice(0, 4);
      const isLeading = role === "leading";
      const asked = (await cluster.listRequests()).length;
      const { landfall, username, untilReady } = await placeLandfall(use(), PROGRAM, {
        name: `forgotten-${id}`,
        ...(middle.prefix && { prefix: middle.prefix }),
        server: middle.server,
        cloudUrl: middle.cloudUrl,
        args: [`--leader-elect=${isLeading}`],
      });
      try {
        await untilReady();
        // Requests at the same time leave more than one idle connection behind.
        await fleet.add(...[0, 1, 2, 3].map((at) => `before-${id}-${at}`));
        await fleet.settle();
        await middle.forget();
        const silentAt = Date.now();
        await fleet.add(`after-${id}`);
        const watchMs = await measure(async () =>
          isInitialised(await use().readNode(`after-${id}`)),
        );
        const requests = (await cluster.listRequests()).slice(asked);
        const renewal = listRenewals(requests, username).find(({ at }) => toMs(at) > silentAt);
        const renewalMs = renewal === undefined ? Infinity : toMs(renewal.at) - silentAt;
        console.log(
          `${what}, ${role}: the watch after ${watchMs} ms, the Lease after ${renewalMs} ms`,
        );
        expect(watchMs).toBeLessThan(WATCH_MS_MAX);
        expect(landfall.log).not.toContain("leaderelection lost");
        if (isLeading) {
          expect(renewalMs).toBeLessThan(RENEWAL_MS_MAX);
          expect(findForeignWrites(requests)).toEqual([]);
        }
        await fleet.settleForGood();
      } finally {
        await landfall.stop();
        await use().deleteLease();
      }
    },
    400_000,
  );
});

/** Milliseconds until it holds. */
async function measure(holds: () => Promise<boolean>): Promise<number> {
  const startMs = performance.now();
  while (!(await holds())) await Bun.sleep(POLL_MS);
  return Math.round(performance.now() - startMs);
}
