import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { type Node, NODES } from "../../../lib/kube/kinds/node.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { runWatcher, SILENCE_MS_MAX } from "../../../lib/kube/cache/watcher.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import {
  ClusterRig,
  type Controller,
  UNINITIALIZED,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { startTcpProxy, type TcpProxy } from "../../support/net/tcp_proxy.ts";

const isSkipped = skipsCluster();
describe.skipIf(isSkipped)(`on a real API server, the controller as ${PROGRAM.name}`, () => {
  let parts: { readonly rig: ClusterRig; readonly proxy: TcpProxy } | undefined;
  let controller: Controller | undefined;
  const use = (): { rig: ClusterRig; proxy: TcpProxy; landfall: Controller["landfall"] } => {
    if (parts === undefined || controller === undefined) throw new Error("Cannot test: not up");
    return { ...parts, landfall: controller.landfall };
  };
  /** The whole way of a Node that registers now. */
  const expectService = async (name: string): Promise<void> => {
    const { rig } = use();
    rig.addVm(name);
    await rig.register(name);
    await rig.waitForNode(name);
  };

  beforeAll(async () => {
    const rig = await ClusterRig.start();
    parts = { rig, proxy: await startTcpProxy(Number(new URL(rig.cluster.url).port)) };
  }, 120_000);
  afterAll(async () => {
    await parts?.proxy.stop();
    await parts?.rig.stop();
  });
  beforeEach(async () => {
    if (parts === undefined) throw new Error("Cannot test: not up");
    const server = `https://127.0.0.1:${parts.proxy.port}`;
    controller = await parts.rig.startController(PROGRAM, { server });
  }, 60_000);
  afterEach(async () => {
    await controller?.landfall.stop();
  });

  test.each(["SIGTERM", "SIGKILL"] as const)(
    "serves Nodes that register after the API server was ended by %s and came back (I-04)",
    async (signal) => {
      const { rig, landfall } = use();
      await expectService(`before-${signal.toLowerCase()}`);
      await rig.cluster.stopApiServer(signal);
      await landfall.waitForRecord(({ message }) => message === "Watch broke");
      await rig.cluster.startApiServer();
      await expectService(`after-${signal.toLowerCase()}`);
    },
  );

  test("relists when the API server has forgotten the version that it stood at (I-01)", async () => {
    const { rig, proxy, landfall } = use();
    await expectService("before-compaction");
    await rig.cluster.stopApiServer("SIGKILL");
    await landfall.waitForRecord(({ message }) => message === "Watch broke");
    proxy.cut();
    await rig.cluster.startApiServer();
    await rig.cluster.compact();
    await expectService("after-compaction");
  });

  test("serves Nodes that register while its watch is cut, again and again (I-03)", async () => {
    const { rig, proxy } = use();
    const accepted = proxy.accepted;
    for (let at = 0; at < 3; at += 1) {
      const name = `cut-${at}`;
      rig.addVm(name);
      proxy.cut();
      await rig.register(name);
      await rig.waitForNode(name);
    }
    // A watch, a patch or two and an Event for each cut, and no storm of connections.
    expect(proxy.accepted - accepted).toBeLessThan(40);
  });

  test("goes on by itself after connections that were silent for a while", async () => {
    const { rig, proxy } = use();
    await expectService("before-silence");
    proxy.silence();
    rig.addVm("silent");
    await rig.register("silent");
    // New connections work, so a request of a test shows that time passes and nothing arrives.
    expect((await rig.readNode("silent")).spec?.taints).toEqual([UNINITIALIZED]);
    proxy.resume();
    await rig.waitForNode("silent");
  });

  test("goes on when the API server froze in the middle of a write and thawed", async () => {
    const { rig } = use();
    await freezeInWrite(rig, "frozen");
    rig.cluster.resumeApiServer();
    await rig.waitForNode("frozen");
    await expectService("after-frost");
  });

  test("uses a new token at once when the old one is revoked (rotation)", async () => {
    const { rig } = use();
    await expectService("before-rotation");
    const old = rig.token;
    await rig.revokeTokens();
    await rig.renewToken();
    await untilRefused(rig, old);
    await expectService("after-rotation");
  });

  test("waits for a new token while the old one is refused, and needs no restart (rotation)", async () => {
    const { rig, landfall } = use();
    const old = rig.token;
    await expectService("before-late-token");
    await rig.revokeTokens();
    await untilRefused(rig, old);
    rig.addVm("late-token");
    await rig.register("late-token");
    await landfall.waitForRecord((record) => JSON.stringify(record).includes("401"));
    expect((await rig.readNode("late-token")).spec?.taints).toEqual([UNINITIALIZED]);
    await rig.renewToken();
    await rig.waitForNode("late-token");
    expect(landfall.log).not.toContain(old);
  });

  test("ends with 0 within 5 s of SIGTERM, even with a write that the API server never answers", async () => {
    const { rig, landfall } = use();
    await freezeInWrite(rig, "before-end");
    try {
      const from = performance.now();
      const { code, stderr } = await landfall.stop();
      expect(code).toBe(0);
      expect(performance.now() - from).toBeLessThan(5_000);
      expect(stderr.split("\n").at(-1)).toContain("Landfall stopped");
    } finally {
      rig.cluster.resumeApiServer();
    }
  });
});

describe.skipIf(isSkipped)("runWatcher() on a real API server", () => {
  let rig: ClusterRig | undefined;
  beforeAll(async () => {
    rig = await ClusterRig.start();
  }, 120_000);
  afterAll(() => rig?.stop());

  test("leaves a watch whose peer fell silent for good, and misses nothing (I-06, I-07)", async () => {
    if (rig === undefined) throw new Error("Cannot test: not up");
    const proxy = await startTcpProxy(Number(new URL(rig.cluster.url).port));
    const kubeconfig = await rig.writeKubeconfig(`https://127.0.0.1:${proxy.port}`);
    const credentials = await loadCredentials({ kubeconfig, env: {}, clock: systemClock });
    // Silence takes minutes to be sure of: time is the test's own, the server is not.
    const clock = new ManualClock();
    const shared = { credentials, clock, metrics: new MetricsRegistry(), version: "0" };
    const client = createKubeClient(shared);
    const nodes = new Store<Node>({ resource: NODES, log: silentLogger });
    const deleted: string[] = [];
    nodes.subscribe((key, _before, after) => {
      if (after === undefined) deleted.push(key);
    });
    const stop = new AbortController();
    const options = { client, resource: NODES, store: nodes, clock, log: silentLogger };
    await rig.register("gone-in-silence");
    const running = runWatcher(options, stop.signal);
    try {
      await waitUntil("the list", async () => nodes.get("gone-in-silence"));
      // What comes after the list comes by the watch alone.
      await rig.register("in-time");
      await waitUntil("the watch", async () => nodes.get("in-time"));
      proxy.silence();
      await rig.register("in-silence");
      await rig.cluster.remove("/api/v1/nodes/gone-in-silence");
      const accepted = proxy.accepted;
      await clock.advance(SILENCE_MS_MAX - 1);
      expect(proxy.accepted).toBe(accepted);
      await clock.advance(1);
      // Time stands still: nothing else may be waited for.
      await waitUntil("a Node that registered in the silence", async () => nodes.get("in-silence"));
      expect(proxy.accepted).toBeGreaterThan(accepted);
      expect(deleted).toEqual(["gone-in-silence"]);
    } finally {
      stop.abort();
      await running;
      client.close();
      await proxy.stop();
    }
  });
});

/** Registers a Node, freezes the API server, and makes the controller write to the Node. */
async function freezeInWrite(rig: ClusterRig, name: string): Promise<void> {
  await rig.register(name);
  await rig.waitForEvent(name, "NodeInitializationFailed");
  rig.cluster.pauseApiServer();
  rig.addVm(name);
  // Two lists later the first of them has been worked on.
  const lists = rig.cloud.requests.count("GET /vms");
  await waitUntil("two refreshes", async () =>
    rig.cloud.requests.count("GET /vms") >= lists + 3 ? true : undefined,
  );
}

/** The API server remembers for some seconds that a token was good. */
async function untilRefused(rig: ClusterRig, token: string): Promise<void> {
  const tls = { ca: Bun.file(rig.cluster.caPath) };
  const headers = { authorization: `Bearer ${token}` };
  await waitUntil("the API server to refuse the token", async () => {
    const response = await fetch(`${rig.cluster.url}/api/v1/nodes?limit=1`, { headers, tls });
    return response.status === 401 ? true : undefined;
  });
}
