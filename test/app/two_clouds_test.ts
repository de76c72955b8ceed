/**
 * Two Xen Orchestras in one cluster, each with a Landfall of its own.
 * @module
 */
import { expect, test } from "bun:test";
import { runApp } from "../../lib/app/app.ts";
import { DELETION } from "../../lib/cloud/settings/sections.ts";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { listInstalled, loadControllers } from "../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../lib/controllers/mod.ts";
import { Fence } from "../../lib/core/fence.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { loadCredentials } from "../../lib/kube/credentials/mod.ts";
import { createKubeClient } from "../../lib/kube/api/http_client.ts";
import { createRequestMetrics } from "../../lib/kube/api/request.ts";
import { parseXenOrchestraConfig } from "../../lib/providers/xenorchestra/settings.ts";
import { xenOrchestra } from "../../lib/providers/xenorchestra/mod.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../lib/simulator/kubernetes/mod.ts";
import {
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../lib/simulator/xenorchestra/mod.ts";
import { toHost, toPool } from "../../lib/simulator/xenorchestra/records.ts";
import { toUuid } from "../../lib/simulator/uuid.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { toRegistration } from "../support/nodes/nodes.ts";
import { until } from "../support/nodes/rig.ts";

const NAMES = ["paris", "lyon"] as const;

/** A Xen Orchestra with one pool, one host and one VM, all of one name. */
async function startCloud(name: string): Promise<XenOrchestraSimulator> {
  const cloud = await startXenOrchestraSimulator({ clock: systemClock });
  const [poolId, hostId] = [toUuid(`pool/${name}`), toUuid(`host/${name}`)];
  cloud.state.addPool(toPool({ name, id: poolId, masterId: hostId }));
  cloud.state.addHost(toHost({ name, id: hostId, poolId, address: "10.0.0.1" }));
  cloud.state.addVm({ name, poolId, hostId, addresses: { "0/ipv4/0": "10.1.0.1" } });
  return cloud;
}

/** A Landfall for one of them, which calls the pool of that name its own. Returns its metrics. */
async function startLandfall(
  kubernetes: KubernetesSimulator,
  { url, token }: XenOrchestraSimulator,
  name: string,
  signal: AbortSignal,
): Promise<{ metrics: MetricsRegistry; ended: Promise<void> }> {
  const metrics = new MetricsRegistry();
  const clock = systemClock;
  const log = silentLogger;
  const fence = new Fence();
  const raw = { url, token, pools: [name], refreshInterval: "1s" };
  const { settings } = parseXenOrchestraConfig(raw, {});
  if (settings === undefined) throw new Error("Cannot use the settings");
  const credentials = await loadCredentials({ master: kubernetes.url, env: {}, clock });
  const shared = { credentials, clock, metrics: createRequestMetrics(metrics), version: "test" };
  const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
  const lease = { namespace: "kube-system", name: `landfall-${name}`, ...times };
  const ended = runApp(
    {
      provider: xenOrchestra.create(settings, { clock, metrics, log, signal, fence }),
      fence,
      client: createKubeClient(shared),
      clock,
      log,
      metrics,
      host: name,
      controllers: await loadControllers(listInstalled(CONTROLLERS)),
      concurrentNodeSyncs: 4,
      flags: {},
      sections: new Map([[DELETION.key, DEFAULT_DELETION]]),
      election: { client: createKubeClient(shared), ...lease },
    },
    signal,
  );
  return { metrics, ended };
}

/** Nodes by presence, without those that are none. */
function countInstances(metrics: MetricsRegistry): string[] {
  return metrics
    .render()
    .split("\n")
    .filter((line) => /^landfall_instances\{.*\} [1-9]/.test(line));
}

test("two Landfalls have their own Nodes each, and nothing to say of those of the other", async () => {
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  const clouds = await Promise.all(NAMES.map(startCloud));
  const stop = new AbortController();
  for (const name of NAMES) {
    kubernetes.objects.createNode(toRegistration(name, { systemUuid: toUuid(`vm/${name}`) }));
  }
  const processes = await Promise.all(
    clouds.map((cloud, at) => startLandfall(kubernetes, cloud, NAMES[at] ?? "", stop.signal)),
  );
  try {
    const wanted = [
      'landfall_instances{presence="present"} 1',
      'landfall_instances{presence="foreign"} 1',
    ];
    await until("each has one Node", () =>
      processes.every(({ metrics }) => countInstances(metrics).join() === wanted.join()),
    );
    const providerIds = NAMES.map(
      (name) => `xenorchestra://${toUuid(`pool/${name}`)}/${toUuid(`vm/${name}`)}`,
    );
    const nodes = NAMES.map((name) => kubernetes.objects.getNode(name));
    expect(nodes.map((node) => Object(node?.["spec"])["providerID"])).toEqual(providerIds);
    for (const { metrics } of processes) {
      expect(metrics.render()).not.toMatch(/landfall_inventory_covered\{.*\} 0/);
      expect(metrics.render()).toContain("landfall_fleet_missing 0");
    }
  } finally {
    stop.abort(new Error("the test is over"));
    await Promise.all(processes.map(({ ended }) => ended));
    await Promise.all(clouds.map((cloud) => cloud.stop()));
    await kubernetes.stop();
  }
});
