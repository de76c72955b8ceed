/**
 * What misled the controllers before this one into deleting live Nodes, on real processes: within 1 to 6 s each of
 * these cost five Nodes of ten.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { createDemoWorld, type Fault } from "../../../lib/simulator/xenorchestra/mod.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import {
  ClusterRig,
  type Controller,
  NOT_READY,
  READY,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";

const isSkipped = skipsCluster();
const OUTAGE_MS = 6_000;
/** So little that nothing but the proof of absence stands between a Node and its deletion. */
const CARELESS = [
  "clientTimeout: 2s",
  "deletion: {confirmations: 3, holdOff: 1s, fleetShare: 1}",
] as const;
const NAMES = Array.from({ length: 10 }, (_, at) => `live-${at}`);
/** Nodes whose machines go: one for each outage, and one more. */
const GOING = ["refused", "cut", "restarted", "html", "gateway", "vanished"] as const;
const { poolIds, hostIds } = createDemoWorld();
const PLACES = [
  { poolId: poolIds.paris, hostId: hostIds["xcp-par-1"] },
  { poolId: poolIds.lyon, hostId: hostIds["xcp-lyo-1"] },
] as const;

describe.skipIf(isSkipped)(`on a real API server, deletion by ${PROGRAM.name}`, () => {
  let parts: { readonly rig: ClusterRig; readonly controller: Controller } | undefined;
  let before: readonly Node[] = [];
  const uids = new Map<string, string | undefined>();
  const use = (): { rig: ClusterRig; controller: Controller } => {
    if (parts === undefined) throw new Error("Cannot test: the cluster is not up");
    return parts;
  };
  const readLive = (): Promise<Node[]> =>
    Promise.all(NAMES.map((name) => use().rig.readNode(name)));
  /** The ten Nodes stand as they stood, and nobody asked to delete one. */
  const expectLive = async (): Promise<void> => {
    const deletions = await use().rig.cluster.listNodeDeletions();
    const names = new Set(deletions.map(({ node }) => node));
    expect(NAMES.filter((name) => names.has(name))).toEqual([]);
    expect((await readLive()).map(toLasting)).toEqual(before.map(toLasting));
  };

  beforeAll(async () => {
    const rig = await ClusterRig.start();
    await rig.configure(CARELESS);
    await rig.allowDeletion(true);
    const first = await rig.startController(PROGRAM);
    parts = { rig, controller: first };
    await Promise.all([...NAMES, ...GOING].map((name, at) => register(rig, name, at)));
    await first.landfall.stop();
    // The fleet limit goes by the Nodes that there were when the window began, or the process.
    const args = ["--node-monitor-period=500ms"];
    parts = { rig, controller: await rig.startController(PROGRAM, { args }) };
    await untilSeen(parts.controller.debugUrl, NAMES.length + GOING.length);
    // Half of them, in both pools.
    await Promise.all(NAMES.slice(0, 5).map((name) => rig.setCondition(name, NOT_READY)));
    before = await readLive();
    for (const name of GOING) uids.set(name, (await rig.readNode(name)).metadata.uid);
  }, 120_000);
  afterAll(async () => {
    await parts?.controller.landfall.stop();
    await parts?.rig.stop();
  });

  test("L-11 a deletion that RBAC refuses is told, and tried again until it is allowed", async () => {
    const { rig } = use();
    await rig.allowDeletion(false);
    await rig.loseMachine("refused");
    const event = await rig.waitForEvent("refused", "DeletingNodeFailed");
    expect(event.type).toBe("Warning");
    expect(event.message).toContain("forbidden");
    expect((await rig.readNode("refused")).metadata.deletionTimestamp).toBeUndefined();
    await rig.allowDeletion(true);
    await waitUntilDeleted(rig, "refused");
  });

  const set = (fault: Fault) => (rig: ClusterRig) => rig.cloud.faults.set(fault);
  const outages: readonly (readonly [
    string,
    (typeof GOING)[number],
    (rig: ClusterRig) => unknown,
  ])[] = [
    [
      "the connections to the pools are cut",
      "cut",
      ({ cloud }) => {
        for (const { poolId } of PLACES) cloud.state.dropPool(poolId);
        return () => PLACES.forEach(({ poolId }) => cloud.state.restorePool(poolId));
      },
    ],
    [
      "Xen Orchestra restarts with slow pools",
      "restarted",
      ({ cloud }) => cloud.restart({ connectedAfterMs: 2_000, loadedAfterMs: OUTAGE_MS }),
    ],
    ["a proxy answers 404 as HTML", "html", set({ kind: "html", status: 404 })],
    [
      "a gateway answers its own 404 in JSON",
      "gateway",
      set({ kind: "json", status: 404, body: { error: "not found" } }),
    ],
    [
      "all VMs vanish",
      "vanished",
      ({ cloud }) => {
        for (const { poolId } of PLACES) cloud.state.hideVms(poolId);
        return () => PLACES.forEach(({ poolId }) => cloud.state.hideVms(poolId, false));
      },
    ],
  ];

  test.each(outages)(
    "while %s, no live Node is lost; Node %s goes afterwards",
    async (_title, gone, begin) => {
      const { rig } = use();
      const end = await begin(rig);
      await rig.loseMachine(gone);
      await Bun.sleep(OUTAGE_MS);
      await expectLive();
      expect((await rig.readNode(gone)).metadata).toMatchObject({ name: gone });
      if (typeof end === "function") end();
      await waitUntilDeleted(rig, gone);
      await expectLive();
    },
  );

  test("L-15 only Nodes whose machines were gone were ever asked to be deleted, each by its UID", async () => {
    const deletions = await use().rig.cluster.listNodeDeletions();
    expect([...new Set(deletions.map(({ node }) => node))]).toEqual([...GOING]);
    const done = deletions.filter(({ code }) => code === 200);
    expect(done.map(({ node, preconditions }) => [node, preconditions?.uid])).toEqual(
      GOING.map((name) => [name, uids.get(name)]),
    );
  });
});

/** A Node with a machine of its own, initialised and Ready. */
async function register(rig: ClusterRig, name: string, at: number): Promise<void> {
  const place = PLACES[at % PLACES.length];
  rig.addVm(name, { ...place, addresses: { "0/ipv4/0": `10.10.2.${at + 1}` } });
  await rig.register(name);
  await rig.setCondition(name, READY);
  await rig.waitForNode(name);
}

/** A machine that was never seen is not missed for ten minutes: waits until all are known. */
async function untilSeen(debugUrl: string, count: number): Promise<void> {
  const known = `landfall_instances{presence="present"} ${count}\n`;
  await waitUntil("all machines to be known", async () => {
    const text = await (await fetch(`${debugUrl}/metrics`)).text();
    return text.includes(known) ? true : undefined;
  });
}

async function waitUntilDeleted(rig: ClusterRig, name: string): Promise<void> {
  await waitUntil(`the deletion of Node ${name}`, async () => {
    const { status } = await rig.cluster.adminFetch(`/api/v1/nodes/${name}`);
    return status === 404 ? true : undefined;
  });
}

/** What an outage must leave as it is. */
function toLasting({ metadata, spec, status }: Node): unknown {
  const { uid, labels, name } = metadata;
  return { name, uid, labels, spec, addresses: status?.addresses };
}
