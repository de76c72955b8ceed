/**
 * The real controllers of the demo, between the simulated Kubernetes and the simulated cloud.
 * @module
 */
import { runApp } from "../../app/app.ts";
import {
  DELETION as DELETION_SECTION,
  OUT_OF_SERVICE as OUT_OF_SERVICE_SECTION,
} from "../../cloud/settings/sections.ts";
import { LOAD_BALANCERS as LOAD_BALANCERS_SECTION } from "../../cloud/pools/settings.ts";
import { fitControllers } from "../../controllers/fitting.ts";
import {
  type ControllerDefinition,
  isSeparable,
  loadControllers,
} from "../../controllers/definition.ts";
import { CONTROLLERS } from "../../controllers/mod.ts";
import type { Clock } from "../../core/clock.ts";
import { Fence } from "../../core/fence.ts";
import { createLogger, type Logger } from "../../core/log.ts";
import { MetricsRegistry } from "../../core/metrics.ts";
import type { ListenAddress } from "../../core/net/listen_address.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { createKubeClient } from "../../kube/api/http_client.ts";
import { Caches } from "../../kube/cache/caches.ts";
import { loadCredentials } from "../../kube/credentials/mod.ts";
import { EVENTS } from "../../kube/kinds/event.ts";
import { NODES } from "../../kube/kinds/node.ts";
import { SERVICES } from "../../kube/kinds/service.ts";
import { VERSION } from "../version.ts";
import type { DemoCloud } from "./cloud.ts";
import { ClusterView } from "./cluster.ts";
import type { DemoFlags } from "./flags.ts";
import {
  DELETION,
  NODE_MONITOR_PERIOD_MS,
  OUT_OF_SERVICE,
  REFRESH_INTERVAL,
  SERVICE_SYNC_PERIOD_MS,
} from "./waits.ts";

/** What {@linkcode startLandfall} needs. */
interface LandfallOptions {
  /** Path of a kubeconfig of the simulated cluster. */
  readonly kubeconfig: string;
  readonly cloud: Pick<DemoCloud, "addressPools" | "createProvider">;
  readonly flags: Pick<DemoFlags, "debugAddress" | "verbose">;
  readonly clock: Clock;
  /** Takes lines of the log. */
  readonly complain: (text: string) => void;
}

/** The real controllers, and a view of the cluster that they work on. */
interface RunningLandfall {
  readonly controller: Promise<void>;
  readonly view: ClusterView;
  readonly watching: Promise<unknown>;
  readonly controllers: readonly ControllerDefinition[];
  /** Where its debug pages are, with the real port. Never settles if it cannot listen: `controller` then fails. */
  readonly listening: Promise<ListenAddress>;
}

/**
 * Starts the controllers: all that work with the cloud. They run until the signal aborts.
 *
 * @throws {ConfigError} when a setting cannot be used
 */
export async function startLandfall(
  { kubeconfig, cloud, flags, clock, complain }: LandfallOptions,
  signal: AbortSignal,
): Promise<RunningLandfall> {
  const metrics = new MetricsRegistry();
  const log = createLogger({
    format: "text",
    level: flags.verbose ? "info" : "error",
    write: complain,
    now: () => clock.now(),
  });
  const credentials = await loadCredentials({ kubeconfig, env: {}, clock, log });
  const client = createKubeClient({ credentials, clock, metrics, version: VERSION });
  const fence = new Fence();
  const provider = cloud.createProvider(REFRESH_INTERVAL, { clock, log, metrics, signal, fence });
  const sections = new Map<string, unknown>([
    [DELETION_SECTION.key, DELETION],
    [OUT_OF_SERVICE_SECTION.key, OUT_OF_SERVICE],
    [LOAD_BALANCERS_SECTION.key, cloud.addressPools ?? LOAD_BALANCERS_SECTION.standard],
  ]);
  // The simulated cluster has no kinds of their own for the others; they have demos of their own.
  const chosen = CONTROLLERS.filter((one) => !isSeparable(one));
  const { fitting } = fitControllers(chosen, { provider, named: new Set(), sections });
  const listening = Promise.withResolvers<ListenAddress>();
  const controller = runApp(
    {
      provider,
      fence,
      client,
      clock,
      log,
      metrics,
      host: "demo",
      controllers: await loadControllers(fitting),
      concurrentNodeSyncs: 16,
      flags: {
        "node-monitor-period": NODE_MONITOR_PERIOD_MS,
        "node-out-of-service-sync-period": NODE_MONITOR_PERIOD_MS,
        "service-sync-period": SERVICE_SYNC_PERIOD_MS,
      },
      sections,
      debugAddress: flags.debugAddress,
      onDebugListening: listening.resolve,
    },
    signal,
  );
  return {
    controller,
    controllers: fitting,
    ...watchCluster({ client, clock, log }, signal),
    listening: listening.promise,
  };
}

function watchCluster(
  options: { readonly client: KubeClient; readonly clock: Clock; readonly log: Logger },
  signal: AbortSignal,
): { view: ClusterView; watching: Promise<unknown> } {
  const caches = new Caches(options);
  const view = new ClusterView({
    nodes: caches.reader(NODES),
    services: caches.reader(SERVICES),
    events: caches.reader(EVENTS),
  });
  return { view, watching: caches.run(signal) };
}
