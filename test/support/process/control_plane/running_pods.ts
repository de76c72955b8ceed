/**
 * A real kube-controller-manager beside a real API server, and Pods that run without a kubelet.
 * @module
 */
import { readJson } from "../../kube/contract/client.ts";
import { type Cluster, skipsCluster } from "../cluster.ts";
import { hasControllerManager, startControllerManager } from "./controller_manager.ts";
import { saySkipped } from "../../skip.ts";

/** What makes Pods of Deployments, keeps budgets, and deletes what has no owner any more. */
const CONTROLLERS = ["deployment", "replicaset", "disruption", "garbagecollector"] as const;
const LOOK_MS = 150;

/** Says loudly that tests with running Pods are skipped, when they are. Returns whether they are. */
export async function skipsRunningPods(): Promise<boolean> {
  if (skipsCluster()) return true;
  if (await hasControllerManager()) return false;
  saySkipped("tests with kube-controller-manager. There is none in KUBEBUILDER_ASSETS");
  return true;
}

/** What is looked at of a Pod. */
interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly deletionTimestamp?: string;
  };
  readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
}

/** Starts kube-controller-manager, and plays scheduler and kubelets: every Pod is soon ready. */
export function runPods(cluster: Cluster): AsyncDisposable {
  const manager = startControllerManager(cluster, CONTROLLERS);
  const stopping = new AbortController();
  const running = keepStarting(cluster, stopping.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await running;
      await manager.stop("SIGKILL");
    },
  };
}

async function keepStarting(cluster: Cluster, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // A Pod may be gone by now.
    await startPods(cluster).catch(() => {});
    await Bun.sleep(LOOK_MS);
  }
}

async function startPods(cluster: Cluster): Promise<void> {
  const response = await cluster.adminFetch("/api/v1/pods");
  const { items } = await readJson<{ readonly items: readonly Pod[] }>(response);
  const waiting = items.filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined &&
      !status?.conditions?.some(({ type }) => type === "Ready"),
  );
  for (const { metadata } of waiting) {
    const lastTransitionTime = new Date().toISOString();
    const conditions = [{ type: "Ready", status: "True", lastTransitionTime }];
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/status`;
    await cluster.adminFetch(path, {
      method: "PATCH",
      headers: { "content-type": "application/strategic-merge-patch+json" },
      body: JSON.stringify({ status: { phase: "Running", conditions } }),
    });
  }
}
