/**
 * When a cluster is looked at again, with services that answer as a test says.
 * @module
 */
import { expect, test } from "bun:test";
import { AddressReader } from "../../../lib/controllers/sipcluster/hosts/address_reader.ts";
import { HostIndex } from "../../../lib/controllers/sipcluster/hosts/host_index.ts";
import { createSipClusterMetrics } from "../../../lib/controllers/sipcluster/metrics.ts";
import { SipClusterReconciler } from "../../../lib/controllers/sipcluster/reconcile.ts";
import {
  SIP_CLUSTERS,
  type SipCluster,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { Served } from "../../../lib/controllers/sipcluster/services/cluster_services.ts";
import { FINALIZER } from "../../../lib/controllers/sipcluster/words.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { Store, toKey } from "../../../lib/kube/cache/store.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { startHostServer, toHost } from "../../support/sipcluster/hosts.ts";

const NO_MACHINES = { machines: [], lastKnown: [], unknown: [], lacking: [], troubled: [] };
const signal = AbortSignal.timeout(30_000);

test("a cluster is looked at soon again while network data of a host that it has is missing", async () => {
  await using server = await startHostServer();
  const { client, kubernetes } = server;
  const clock = new ManualClock();
  kubernetes.installKind(SIP_CLUSTERS);
  const cluster: SipCluster = {
    metadata: { name: "a", namespace: "metal3", generation: 1, finalizers: [FINALIZER] },
    spec: { services: {} },
  };
  kubernetes.objects.create(SIP_CLUSTERS.plural, {
    metadata: { name: "a", namespace: "metal3", finalizers: [FINALIZER] },
    spec: { services: {} },
  });
  const addresses = new AddressReader({ client, clock, periodMs: 600_000, random: () => 0 });
  const host = toHost("h", { spec: { networkData: { name: "gone" } } });
  await addresses.readAll([host], signal);
  const served: Served = {
    machines: [],
    services: [],
    endpoints: [],
    troubled: [toKey(host)],
    againMs: Infinity,
  };
  const reconciler = new SipClusterReconciler({
    client,
    clock,
    events: { record: () => undefined },
    log: silentLogger,
    metrics: createSipClusterMetrics(new MetricsRegistry()),
    index: new HostIndex(new Store({ resource: BARE_METAL_HOSTS, log: silentLogger })),
    addresses,
    services: {
      listMachines: () => Promise.resolve(NO_MACHINES),
      serve: () => Promise.resolve(served),
      answerRequests: () => Promise.resolve({ outcomes: [] }),
      remove: () => Promise.resolve([]),
      forget: () => undefined,
    },
  });
  expect(await reconciler.reconcile(cluster, signal)).toEqual({ requeueAfterMs: 30_000 });
});
