/**
 * The process beside the controller: the simulated Kubernetes API and Xen Orchestra, steered by messages.
 *
 * Arguments: how many machines there are. The first message out says where to connect; each `register`,
 * `heartbeats` or `progress` that comes in is answered with the state of things, `experiments` with what they gave. It
 * ends when its parent goes.
 * @module
 */
import { systemClock } from "../lib/core/clock.ts";
import { startKubernetesSimulator, type ApiObject } from "../lib/simulator/kubernetes/mod.ts";
import { createFleet, startXenOrchestraSimulator } from "../lib/simulator/xenorchestra/mod.ts";
import { keepHeartbeats, runExperiments } from "./experiments.ts";
import { toFullNode } from "./fleet.ts";

/** Where to connect. */
export interface Places {
  readonly kubernetesUrl: string;
  readonly cloudUrl: string;
  readonly token: string;
}

/** State of things. */
export interface Progress {
  /** Nodes without the taint, with a provider ID and an address. */
  readonly initialised: number;
  /** Requests to Xen Orchestra so far. */
  readonly cloudRequests: number;
  /** Requests to Kubernetes so far, but for those that keep the leadership. */
  readonly requests: number;
  /** Of those, the ones that write. */
  readonly writes: number;
}

const WRITE = /^(create|update|patch|delete) /;
const ELECTION = / leases\b/;
/** How often a kubelet reports that nothing changed (`nodeStatusReportFrequency`). */
const HEARTBEAT_PERIOD_MS = 300_000;

async function serve(count: number): Promise<void> {
  const clock = systemClock;
  const { world, machines } = createFleet(count);
  const kubernetes = startKubernetesSimulator({ clock });
  const cloud = await startXenOrchestraSimulator({ clock, world });

  const stage = { kubernetes, cloud, machines: [...machines.values()] };
  const toProgress = (): Progress => {
    const counts = [...kubernetes.requests.counts].filter(([key]) => !ELECTION.test(key));
    return {
      requests: counts.reduce((sum, [, times]) => sum + times, 0),
      initialised: kubernetes.objects.list("nodes").filter(isInitialised).length,
      cloudRequests: cloud.requests.total,
      writes: counts.reduce((sum, [key, times]) => sum + (WRITE.test(key) ? times : 0), 0),
    };
  };
  process.on("message", (message) => {
    if (message === "register") {
      const now = `${new Date().toISOString().slice(0, 19)}Z`;
      for (const machine of machines.values()) {
        kubernetes.objects.createNode({ ...toFullNode(machine, now) });
      }
    }
    if (message === "heartbeats") keepHeartbeats(stage, HEARTBEAT_PERIOD_MS);
    if (message === "experiments") {
      void runExperiments(stage).then((figures) => process.send?.(figures));
    } else process.send?.(toProgress());
  });
  process.on("disconnect", () => process.exit(0));
  const { url: kubernetesUrl } = kubernetes;
  process.send?.({ kubernetesUrl, cloudUrl: cloud.url, token: cloud.token } satisfies Places);
}

function isInitialised({ spec, status }: ApiObject): boolean {
  const text = JSON.stringify([spec, has(status, "addresses") && status.addresses]);
  return (
    text.includes('"providerID"') &&
    text.includes('"InternalIP"') &&
    !text.includes("/uninitialized")
  );
}

function has<K extends string>(value: unknown, key: K): value is { readonly [key in K]: unknown } {
  return typeof value === "object" && value !== null && key in value;
}

if (import.meta.main) await serve(Number(process.argv[2]));
