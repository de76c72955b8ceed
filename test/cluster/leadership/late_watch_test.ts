/**
 * Real processes on a real API server whose watches show everything five seconds late. What a process wrote itself, and
 * what the leader before it wrote, counts all the same: nothing is made or written twice.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { summarizeCloud } from "../../../lib/simulator/cloudstack/world/summary.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { type AuditedRequest, skipsCluster } from "../../support/process/cluster.ts";
import { USERNAME } from "../../support/process/cluster_rig.ts";
import { ApiGate } from "../../support/net/api_gate.ts";
import { killAll, PROGRAM } from "../../support/process/landfall_process.ts";
import { ServiceCluster } from "../../support/services/service_cluster.ts";
import { createSite } from "../../support/services/site.ts";
import {
  SipClusterRig,
  USERNAME as SIP_USERNAME,
} from "../../support/sipcluster/sip_cluster_rig.ts";
import { toRackSpec } from "../../support/sipcluster/specs.ts";

const kubectl = skipsCluster() ? undefined : await findKubectl();
const UID_TAG = "landfall.dev/service-uid";
const LATE_MS = 5_000;
const START_MS = 120_000;
const TEST_MS = 90_000;
const CONFLICT = 409;
/** A standby leads before its watch shows the end of the leader's work. */
const ELECTION = [
  "--leader-elect=true",
  "--leader-elect-lease-duration=2s",
  "--leader-elect-renew-deadline=1400ms",
  "--leader-elect-retry-period=300ms",
];
const WRITES = new Set(["create", "update", "patch", "delete"]);

/** Writes of an account that say what an earlier one said, or that were made from an old state. */
function listFaults(requests: readonly AuditedRequest[], username: string): string[] {
  const seen = new Set<string>();
  return requests
    .filter((one) => one.username === username && WRITES.has(one.verb))
    .filter(({ resource }) => !/^(?:leases|events)/.test(resource))
    .flatMap(({ verb, resource, name, body, code }) => {
      const said = JSON.stringify(body)?.replace(/"resourceVersion":"\d+",?/, "");
      const text = `${verb} ${resource} ${name} ${said}`;
      // What the API server refuses writes nothing, such as a node port that a request of a dead leader still holds.
      const isWritten = code < 300;
      const isFault = (isWritten && seen.has(text)) || code === CONFLICT;
      if (isWritten) seen.add(text);
      return isFault ? [`${code} ${text}`] : [];
    });
}

describe.skipIf(skipsCluster())("load balancers behind a late watch", () => {
  let started: ServiceCluster | undefined;
  let gate: ApiGate | undefined;
  const use = (): ServiceCluster => {
    if (started === undefined) throw new Error("Cannot test: the cluster is not up");
    return started;
  };

  beforeAll(async () => {
    const site = createSite("isolated");
    started = await ServiceCluster.start(site.world);
    for (const node of site.nodes) await started.rig.cluster.create("/api/v1/nodes", node);
    gate = await ApiGate.start(started.rig.cluster, LATE_MS);
  }, START_MS);
  afterAll(async () => {
    await started?.stop();
    await gate?.[Symbol.asyncDispose]();
  });

  test(
    "a Service has one, also when the leader dies right after it made it",
    async () => {
      if (gate === undefined) throw new Error("Cannot test: not started");
      const { cloud, rig } = use();
      const server = `--kubeconfig=${await rig.writeKubeconfig(gate.url)}`;
      const leader = await use().startController(PROGRAM, server, ...ELECTION);
      await use().startController(PROGRAM, server, ...ELECTION);
      const { metadata } = await use().create("shop");
      const address = await use().untilAddress("shop");
      await killAll([leader.landfall]);
      await use().create("next");
      const next = await use().untilAddress("next");
      // Until all watches have shown everything.
      await Bun.sleep(2 * LATE_MS);
      const all = summarizeCloud(cloud.state).addresses;
      const ours = all.filter(({ tags }) => tags[UID_TAG] !== undefined);
      expect(ours.map((one) => one.address).toSorted()).toEqual([address, next].toSorted());
      expect(ours.filter(({ tags }) => tags[UID_TAG] === metadata.uid)).toHaveLength(1);
      expect(
        cloud.requests.entries.filter(({ command }) => /^(?:delete|dis)/.test(command)),
      ).toEqual([]);
      expect(listFaults(await rig.cluster.listRequests(), USERNAME)).toEqual([]);
    },
    TEST_MS,
  );
});

describe.skipIf(kubectl === undefined)("hosts behind a late watch", () => {
  let rig: SipClusterRig;
  let gate: ApiGate;

  beforeAll(async () => {
    rig = await SipClusterRig.start(kubectl ?? "");
    await rig.installKinds();
    await rig.addHosts([{ name: "r1", flavors: { worker: 6 } }]);
    gate = await ApiGate.start(rig.cluster, LATE_MS);
  }, START_MS);
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
    await gate?.[Symbol.asyncDispose]();
  });

  test(
    "a cluster has as many as it asks for, also when the leader dies right after it took them",
    async () => {
      const resize = (workers: number): Promise<void> =>
        rig.applyCluster("a", toRackSpec({ controlPlanes: 0, workers, nodePort: 30_001 }));
      const leader = await rig.startController({ server: gate.url, args: ELECTION });
      await resize(2);
      await rig.startController({ server: gate.url, args: ELECTION });
      await rig.untilTrue("two hosts", async () => (await rig.listHosts("a")).length === 2);
      const taken = await rig.listHosts("a");
      await killAll([leader.landfall]);
      await resize(3);
      await rig.untilCondition("a", "Scheduled", "True HostsLabelled");
      await Bun.sleep(2 * LATE_MS);
      const hosts = await rig.listHosts("a");
      expect(hosts).toHaveLength(3);
      expect(hosts).toEqual(expect.arrayContaining(taken));
      const requests = await rig.cluster.listRequests();
      const labels = requests.filter(
        ({ username, verb, resource }) =>
          username === SIP_USERNAME && verb === "patch" && resource === "baremetalhosts",
      );
      expect(labels).toHaveLength(3);
      expect(listFaults(requests, SIP_USERNAME)).toEqual([]);
    },
    TEST_MS,
  );
});
