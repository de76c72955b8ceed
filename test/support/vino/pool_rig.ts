/**
 * IPPools on a simulated API server, with a real watch for each process.
 * @module
 */
import { IpPools } from "../../../lib/controllers/vino/addresses/ip_pools.ts";
import { IP_POOLS, type IpPoolSpec } from "../../../lib/controllers/vino/resource/ip_pool.ts";
import { type Clock, systemClock } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createKubeClient } from "../../../lib/kube/api/http_client.ts";
import { Caches } from "../../../lib/kube/cache/caches.ts";
import type { StoreReader } from "../../../lib/kube/cache/store.ts";
import { createWatcherMetrics } from "../../../lib/kube/cache/watcher.ts";
import type { Credentials } from "../../../lib/kube/credentials/credentials.ts";
import { loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import type { KubeObject } from "../../../lib/kube/kinds/resource.ts";
import {
  type ApiObject,
  type JsonObject,
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";

/** The namespace of all pools. */
export const POOL_NAMESPACE = "landfall-system";

/** Pauses between tries are over at once, deadlines are not. */
const IMPATIENT: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms < 10_000 ? 0 : ms, signal),
};

/** A process with pools. */
export interface PoolProcess extends AsyncDisposable {
  readonly pools: IpPools;
  readonly store: StoreReader<KubeObject>;
}

/** The server. Stop it after use. */
export interface PoolRig extends AsyncDisposable {
  readonly kubernetes: KubernetesSimulator;
  /** Starts another process. */
  start(clock?: Clock): Promise<PoolProcess>;
  /** The requests since the last call, without those of watches: `patch ippool-192-0-2-0-24`. */
  takeRequests(): string[];
  /** The spec of a pool as it is stored. */
  spec(name: string): unknown;
  create(name: string, spec: IpPoolSpec): void;
  /** Changes a pool as a user does. */
  edit(name: string, patch: JsonObject): void;
  /** Deletes a pool as a user does. */
  remove(name: string): void;
  list(): readonly ApiObject[];
}

/** Starts the server without pools. */
export async function startPools(): Promise<PoolRig> {
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  kubernetes.installKind(IP_POOLS);
  const { objects } = kubernetes;
  objects.create("namespaces", { metadata: { name: POOL_NAMESPACE } });
  const { plural } = IP_POOLS;
  const toPath = (name: string): { namespace: string; name: string } => ({
    namespace: POOL_NAMESPACE,
    name,
  });
  return {
    kubernetes,
    async start(clock) {
      const credentials = await loadCredentials({
        master: kubernetes.url,
        env: {},
        clock: systemClock,
      });
      return await startPoolProcess(credentials, clock);
    },
    takeRequests() {
      const asked = kubernetes.requests.entries.filter(
        ({ verb, resource }) => resource === plural && verb !== "watch",
      );
      const taken = asked.map(({ verb, name }) => `${verb} ${name}`.trim());
      kubernetes.requests.clear();
      return taken;
    },
    spec: (name) => objects.get(plural, toPath(name))?.["spec"],
    create(name, spec) {
      const body = structuredClone(spec) as unknown as JsonObject;
      objects.create(plural, { metadata: toPath(name), spec: body });
    },
    edit: (name, patch) => void objects.patch(plural, toPath(name), patch),
    remove: (name) => void objects.delete(plural, toPath(name)),
    list: () => objects.list(plural),
    [Symbol.asyncDispose]: () => kubernetes.stop(),
  };
}

/** Starts a process with pools on any API server. @param own Its time. @default {without pauses between tries} */
export async function startPoolProcess(
  credentials: Credentials,
  own: Clock = IMPATIENT,
): Promise<PoolProcess> {
  const clock = systemClock;
  const metrics = new MetricsRegistry();
  const client = createKubeClient({ credentials, clock, metrics, version: "test" });
  const watcherMetrics = createWatcherMetrics(metrics);
  const caches = new Caches({ client, clock, log: silentLogger, metrics: watcherMetrics });
  const store = caches.reader(IP_POOLS);
  const pools = new IpPools({
    client: caches.follow(client),
    clock: own,
    namespace: POOL_NAMESPACE,
    store,
  });
  const stopping = new AbortController();
  const done = caches.run(stopping.signal);
  await store.untilSynced(stopping.signal);
  return {
    pools,
    store,
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("the test is over"));
      await done;
    },
  };
}
