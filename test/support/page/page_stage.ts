/**
 * The whole controller on a simulated Kubernetes and a simulated Xen Orchestra, for looking at its pages.
 * @module
 */
import { runApp } from "../../../lib/app/app.ts";
import { Kubelets } from "../../../lib/cli/demo/kubelets.ts";
import { DELETION, OUT_OF_SERVICE } from "../../../lib/cloud/settings/sections.ts";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import { listOnByDefault, loadControllers } from "../../../lib/controllers/definition.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import { startKubernetesSimulator } from "../../../lib/simulator/kubernetes/mod.ts";
import {
  createDemoWorld,
  createFleet,
  type DemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { connect } from "../kube/connect.ts";

const WAIT_MS_MAX = 60_000;
/** Not so often that looking is what takes the time. */
const POLL_MS = 200;

/** A running controller with its worlds. */
export interface PageStage extends AsyncDisposable {
  /** Address without a slash at its end. */
  readonly url: string;
  readonly cloud: XenOrchestraSimulator;
  readonly kubelets: Kubelets;
  readonly world: DemoWorld;
  /** Registers a Node whose machine the cloud does not have. */
  addStranger(name: string, spec: { readonly providerID?: string }): void;
  /** Waits until the page shows a text. */
  waitFor(text: string): Promise<void>;
}

/**
 * Starts everything and waits until all machines of the world are Nodes that are well.
 *
 * @param fleet How many machines; absent: the small world of the demo
 * @param options.hasOutOfService Whether the out-of-service controller runs, too, and acts at once
 */
export async function startPageStage(
  fleet?: number,
  { hasOutOfService = false }: { readonly hasOutOfService?: boolean } = {},
): Promise<PageStage> {
  const clock = systemClock;
  const log = silentLogger;
  const metrics = new MetricsRegistry();
  const world = fleet === undefined ? createDemoWorld() : createFleet(fleet);
  const kubernetes = startKubernetesSimulator({ clock });
  const cloud = await startXenOrchestraSimulator({ clock, world: world.world });
  const stopping = new AbortController();
  const { signal } = stopping;
  const raw = { url: cloud.url, token: cloud.token, refreshInterval: "1s" };
  const { settings, issues } = xenOrchestra.parseConfig(raw, {});
  if (settings === undefined) throw new Error(JSON.stringify(issues));
  const listening = Promise.withResolvers<string>();
  const running = runApp(
    {
      provider: xenOrchestra.create(settings, { log, metrics, signal, clock, fence: new Fence() }),
      client: await connect({ master: kubernetes.url }, { clock, metrics }),
      clock,
      log,
      metrics,
      host: "cp-1",
      controllers: await loadControllers(
        (hasOutOfService ? CONTROLLERS : listOnByDefault(CONTROLLERS)).filter(
          ({ kind }) => kind === NODES,
        ),
      ),
      concurrentNodeSyncs: 16,
      flags: { "node-monitor-period": 1_000, "node-out-of-service-sync-period": 1_000 },
      sections: new Map<string, object>([
        [DELETION.key, DEFAULT_DELETION],
        [OUT_OF_SERVICE.key, { confirmations: 1, graceMs: 0 }],
      ]),
      debugAddress: { kind: "tcp", host: "127.0.0.1", port: 0 },
      onDebugListening: (address) => {
        if (address.kind === "tcp") listening.resolve(`http://127.0.0.1:${address.port}`);
      },
    },
    signal,
  );
  const url = await Promise.race([listening.promise, running.then(() => "")]);
  const kubelets = new Kubelets({ objects: kubernetes.objects, clock });
  for (const machine of world.machines.values()) kubelets.register(machine);
  const beating = kubelets.run(signal);
  const read = async (): Promise<string> =>
    await (await fetch(`${url}/debug/`, { headers: { accept: "text/html" } })).text();
  const stage: PageStage = {
    url,
    cloud,
    kubelets,
    world,
    addStranger: (name, spec) => {
      const systemUUID = "00000000-0000-4000-8000-00000000beef";
      const taint = { key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" };
      kubernetes.objects.createNode({
        metadata: { name, labels: { "topology.kubernetes.io/region": "eu-west-3" } },
        spec: { ...spec, taints: [taint] },
        status: { nodeInfo: { systemUUID } },
      });
    },
    waitFor: async (text) => {
      const limitMs = clock.monotonic() + WAIT_MS_MAX;
      while (!(await read()).includes(text)) {
        if (clock.monotonic() > limitMs) throw new Error(`the page never showed "${text}"`);
        await clock.sleep(POLL_MS, signal);
      }
    },
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error("the test is over"));
      await Promise.allSettled([running, beating]);
      await Promise.all([kubernetes.stop(), cloud.stop()]);
    },
  };
  await stage.waitFor(`All ${world.machines.size.toLocaleString("en")} Nodes are in sync`);
  return stage;
}
