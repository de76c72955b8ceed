/**
 * The steps of a deletion, with services that answer as a test says.
 * @module
 */
import { expect, test } from "bun:test";
import { HostClaims } from "../../../lib/controllers/sipcluster/hosts/claims.ts";
import { HostIndex } from "../../../lib/controllers/sipcluster/hosts/host_index.ts";
import { createSipClusterMetrics } from "../../../lib/controllers/sipcluster/metrics.ts";
import { listHostsOf, release, toDeleting } from "../../../lib/controllers/sipcluster/release.ts";
import type { SipCluster } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { Outcome } from "../../../lib/controllers/sipcluster/resource/status.ts";
import { FINALIZER } from "../../../lib/controllers/sipcluster/words.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import type { JsonObject } from "../../../lib/simulator/kubernetes/mod.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { startHostServer, toClaimLabels } from "../../support/sipcluster/hosts.ts";

const signal = AbortSignal.timeout(30_000);
const DELETED = "2026-01-01T12:00:00Z";
const CONSUMER: JsonObject = { spec: { consumerRef: { kind: "Metal3Machine", name: "m" } } };

interface Plan {
  readonly spec?: SipCluster["spec"];
  readonly annotations?: Readonly<Record<string, string>>;
  /** Of the host of the cluster. */
  readonly host?: JsonObject;
  /** Of the same host, and not shown by the watch yet. */
  readonly unseen?: JsonObject;
  /** What is left of the services. */
  readonly left?: readonly string[];
  /** Called while services are removed. */
  readonly meanwhile?: (change: (patch: JsonObject) => void) => void;
  readonly sinceMs?: number;
}

/** Goes one step, and says what was done: `serve`, `remove`, the outcome, the labels that the host has then. */
async function step(plan: Plan): Promise<readonly unknown[]> {
  await using server = await startHostServer();
  server.create("h", { labels: toClaimLabels("a") });
  const host = server.change("h", plan.host ?? {});
  const clock = new ManualClock(Date.parse(DELETED) + (plan.sinceMs ?? 0));
  const store = new Store({ resource: BARE_METAL_HOSTS, log: silentLogger });
  store.apply(host);
  if (plan.unseen) server.change("h", plan.unseen);
  const index = new HostIndex(store);
  const done: unknown[] = [];
  const { annotations = {}, spec = { services: {} } } = plan;
  const cluster: SipCluster = {
    metadata: {
      name: "a",
      namespace: "tenant",
      finalizers: [FINALIZER, "other"],
      deletionTimestamp: DELETED,
      annotations,
    },
    spec,
  };
  const claims = new HostClaims("tenant/a", { client: server.client });
  const result = await release(
    cluster,
    {
      clock,
      writer: {
        warn: (_cluster, { reason }) => void done.push(reason),
        writeStatus: (_cluster, outcome: Outcome) => {
          const { obstacle = "goes on", served } = outcome.kind === "deleting" ? outcome : {};
          return Promise.resolve(void done.push(served ? "served" : "not served", obstacle));
        },
        setFinalizers: (one, finalizers) => {
          done.push(finalizers);
          return Promise.resolve(one);
        },
      },
      services: {
        remove: () => {
          done.push("remove");
          plan.meanwhile?.((patch) => void server.change("h", patch));
          return Promise.resolve(plan.left ?? []);
        },
      },
      serve: () => {
        const served = { machines: [], services: [], endpoints: [], troubled: [], againMs: 1 };
        return Promise.resolve({ served, againMs: 7 });
      },
      membership: {
        index,
        claims,
        events: { record: (_object, { reason }) => void done.push(reason) },
        log: silentLogger,
        departures: { noteReleased: () => undefined },
        metrics: createSipClusterMetrics(new MetricsRegistry()),
      },
      listHosts: (signal) => listHostsOf("tenant/a", server.client, signal),
    },
    signal,
  );
  const isLabelled = Object.keys(server.findLabels("h") ?? {}).length > 0;
  return [...done, isLabelled ? "labelled" : "free", result.requeueAfterMs];
}

const IN_USE = expect.stringContaining("metal3/h (used by a consumer)");

test("release() removes services, then labels, then the finalizer", async () => {
  expect(await step({})).toEqual(["remove", "HostReleased", ["other"], "free", undefined]);
});

test("release() removes nothing while a host is in use, and looks after the services", async () => {
  const done = await step({ host: CONSUMER });
  expect(done).toEqual(["UnableToDecommission", "served", IN_USE, "labelled", 7]);
});

test("release() removes nothing while a host is in use that the watch shows as free", async () => {
  const done = await step({ unseen: CONSUMER });
  expect(done).toEqual(["UnableToDecommission", "served", IN_USE, "labelled", 7]);
});

test("release() leaves services alone that it cannot plan", async () => {
  const spec = { nodes: { Worker: { count: { active: -1 } } }, services: {} };
  const done = await step({ host: CONSUMER, spec });
  expect(done).toEqual(["UnableToDecommission", "not served", IN_USE, "labelled", undefined]);
});

test("release() removes all if it is forced, in use or not", async () => {
  const annotations = { "landfall.dev/force-release": "true" };
  const done = await step({ host: CONSUMER, annotations });
  expect(done).toEqual(["remove", "HostReleased", ["other"], "free", undefined]);
});

test.each([
  [0, "goes on"],
  [60_001, "Landfall waits until these are gone: Deployment/x"],
])(
  "release() removes no label before the services are gone (after %d ms)",
  async (sinceMs, says) => {
    const done = await step({ left: ["Deployment/x"], sinceMs });
    expect(done).toEqual(["remove", "not served", says, "labelled", 2_000]);
  },
);

test("release() leaves the labels of a host that is used since a moment ago", async () => {
  const done = await step({ meanwhile: (change) => change(CONSUMER) });
  expect(done).toEqual([
    "remove",
    "UnableToDecommission",
    "not served",
    IN_USE,
    "labelled",
    undefined,
  ]);
});

test("toDeleting() has every host with the labels, also one without a role", () => {
  const claim = { cluster: "tenant/a", standby: true };
  const facts = [
    { key: "m/a", labels: {}, isInUse: false, claim: { ...claim, role: "Worker" as const } },
    { key: "m/b", labels: {}, isInUse: false, claim },
  ];
  const cluster: SipCluster = { metadata: { name: "a", namespace: "tenant" } };
  expect(toDeleting(cluster, { listOf: () => facts }, { obstacle: "x" })).toEqual({
    kind: "deleting",
    obstacle: "x",
    hosts: [
      { key: "m/a", role: "Worker", standby: true },
      { key: "m/b", standby: true },
    ],
  });
});
