/**
 * The whole controller on a simulated Kubernetes, in one process, with any provider.
 * @module
 */
import { runApp } from "../../../lib/app/app.ts";
import type { SecureSettings } from "../../../lib/app/options.ts";
import type { Configuration } from "../../../lib/app/options.ts";
import { DELETION } from "../../../lib/cloud/settings/sections.ts";
import { DEFAULT_DELETION, type DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import { loadControllers } from "../../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { type Clock, systemClock } from "../../../lib/core/clock.ts";
import { type Logger, silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import type { Notifier } from "../../../lib/host/notify.ts";
import type { ListenAddress } from "../../../lib/core/net/listen_address.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import { FakeProvider } from "../cloud/instances.ts";
import { connect } from "../kube/connect.ts";
import { toMemoryTransport } from "../kube/memory_transport.ts";
import { PACE, PacedClock } from "../paced_clock.ts";

/** What a test may choose. */
interface RigOptions {
  readonly provider: Provider;
  /**
   * Time for all, and for a provider that is a double. Another provider has its own, which must be the same.
   * @default {with a double, one that flies by, so that no test waits as the controller does; else systemClock}
   */
  readonly clock?: Clock;
  /** @default {16} */
  readonly workers?: number;
  /** @default {300_000} */
  readonly fullPassIntervalMs?: number;
  /** @default {["cloud-node"]} */
  readonly controllers?: readonly string[];
  /** @default {5_000} */
  readonly monitorPeriodMs?: number;
  /** What differs from the default. */
  readonly deletion?: Partial<DeletionSettings>;
  /** The settings file that it follows. Its sections take effect, too. @default {there is none} */
  readonly configuration?: Configuration;
  /** Settings of other sections, by their keys. @default {none} */
  readonly sections?: Readonly<Record<string, unknown>>;
  readonly debugAddress?: ListenAddress;
  readonly secure?: SecureSettings;
  readonly configz?: Readonly<Record<string, string>>;
  readonly notifier?: Notifier;
  /** @default {nobody reads it} */
  readonly log?: Logger;
}

/** A running controller and its cluster. */
export interface Rig extends AsyncDisposable {
  readonly kubernetes: KubernetesSimulator;
  readonly metrics: MetricsRegistry;
  /** The Node as the API server has it. */
  readNode(name: string): Node | undefined;
  /** Events about a Node, by reason. */
  listEvents(name: string, reason?: string): KubeEvent[];
  /** Stops the controller, as SIGTERM would; resolves when it has ended. */
  stop(): Promise<void>;
}

/** Starts everything; `await using` ends it. */
export async function startRig(options: RigOptions): Promise<Rig> {
  const double = options.provider instanceof FakeProvider ? options.provider : undefined;
  const { clock = double ? new PacedClock(PACE) : systemClock } = options;
  if (double) double.clock = () => clock.monotonic();
  const kubernetes = startKubernetesSimulator({ clock });
  const metrics = new MetricsRegistry();
  const transport = toMemoryTransport(kubernetes);
  const client = await connect({ master: kubernetes.url }, { clock, metrics, transport });
  const stopping = new AbortController();
  const {
    controllers: chosen = ["cloud-node"],
    provider,
    debugAddress,
    secure,
    configz,
    notifier,
    configuration,
  } = options;
  const running = runApp(
    {
      provider,
      client,
      clock,
      log: options.log ?? silentLogger,
      metrics,
      host: "test",
      controllers: await loadControllers(CONTROLLERS.filter(({ name }) => chosen.includes(name))),
      flags: {
        "node-monitor-period": options.monitorPeriodMs ?? 5_000,
        "node-status-update-frequency": options.fullPassIntervalMs ?? 300_000,
      },
      sections: new Map<string, unknown>([
        [DELETION.key, { ...DEFAULT_DELETION, ...options.deletion }],
        ...Object.entries(options.sections ?? {}),
        ...(configuration?.current.sections ?? []),
      ]),
      ...(configuration && { configuration }),
      concurrentNodeSyncs: options.workers ?? 16,
      ...(debugAddress ? { debugAddress } : {}),
      ...(secure ? { secure } : {}),
      ...(configz ? { configz } : {}),
      ...(notifier ? { notifier } : {}),
    },
    stopping.signal,
  );
  const stop = async (): Promise<void> => {
    stopping.abort(new Error("the test is over"));
    await running;
  };
  return {
    kubernetes,
    metrics,
    readNode: (name) => kubernetes.objects.getNode(name) as Node | undefined,
    listEvents: (name, reason) =>
      (kubernetes.objects.list("events", "default") as unknown as KubeEvent[]).filter(
        (event) =>
          event.involvedObject.name === name && (reason === undefined || event.reason === reason),
      ),
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await kubernetes.stop();
    },
  };
}

/** Waits until `holds`; fails, naming what was waited for, after `ms` milliseconds. */
export async function until(what: string, holds: () => unknown, ms = 8_000): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited ${ms} ms in vain until ${what}`);
    await Bun.sleep(10);
  }
}
