/**
 * What an installation of Landfall needs of a cluster beside its API server: a real kube-controller-manager, and one
 * Node whose scheduler and kubelet are played. They run each Pod as a process of Landfall, as its service account and
 * with its arguments. The process ends before its Pod is gone; that of a Job decides how its Pod ends.
 * @module
 */
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import type { Cluster } from "../process/cluster.ts";
import { startControllerManager } from "../process/kube_controllers.ts";
import type { ServerProcess } from "../process/server_process.ts";
import {
  type Ended,
  type LandfallProcess,
  type Program,
  startLandfall,
} from "../process/landfall_process.ts";

const PODS = "/api/v1/namespaces/kube-system/pods";
const NODE = "control-plane-1";
const CONTROLLERS = ["daemonset", "deployment", "replicaset", "job", "garbagecollector"] as const;
const POLL_MS = 100;
const TOKEN_S = 3_600;

interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly kind: string }[];
  };
  readonly spec: {
    readonly serviceAccountName: string;
    readonly containers: readonly { readonly args: readonly string[] }[];
  };
}

/** Pods of a cluster, at work until it is stopped. */
export class PlayedPods {
  readonly #cluster: Cluster;
  readonly #program: Program;
  readonly #cloud: { readonly url: string; readonly token: string };
  /** By the UIDs of their Pods. */
  readonly #processes = new Map<string, LandfallProcess>();
  readonly #said: string[] = [];
  readonly #stopped = new AbortController();
  readonly #manager: ServerProcess;
  readonly #running: Promise<void>;
  #failure: unknown;

  private constructor(
    cluster: Cluster,
    program: Program,
    cloud: { readonly url: string; readonly token: string },
  ) {
    this.#cluster = cluster;
    this.#program = program;
    this.#cloud = cloud;
    this.#manager = startControllerManager(cluster, CONTROLLERS);
    this.#running = this.#run().catch(this.#fail);
  }

  /** Registers the Node, and begins to look at Pods. */
  static async start(
    cluster: Cluster,
    program: Program,
    cloud: { readonly url: string; readonly token: string },
  ): Promise<PlayedPods> {
    const labels = { "node-role.kubernetes.io/control-plane": "" };
    await cluster.create("/api/v1/nodes", { metadata: { name: NODE, labels } });
    return new PlayedPods(cluster, program, cloud);
  }

  /** What Jobs have said when they ended. */
  get said(): readonly string[] {
    return this.#said;
  }

  /** Forgets what Jobs have said. */
  forget(): void {
    this.#said.length = 0;
  }

  /** Ends all but the processes: they end with the cluster. @throws Error when playing failed */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#manager.stop("SIGKILL");
    await this.#running;
    if (this.#failure !== undefined) throw this.#failure;
  }

  readonly #fail = (error: unknown): void => {
    this.#failure ??= error;
  };

  async #run(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const items = await this.#cluster.list<Pod>(PODS);
      await Promise.all(items.map((pod) => this.#play(pod)));
      await Bun.sleep(POLL_MS);
    }
  }

  async #play(pod: Pod): Promise<void> {
    const { uid, name, deletionTimestamp } = pod.metadata;
    const landfall = this.#processes.get(uid);
    if (deletionTimestamp !== undefined) {
      await landfall?.stop();
      await this.#send("DELETE", name, { gracePeriodSeconds: 0 });
    } else if (landfall === undefined) {
      await this.#startPod(pod);
    }
  }

  async #startPod(pod: Pod): Promise<void> {
    const { name, uid, ownerReferences = [] } = pod.metadata;
    const target = { apiVersion: "v1", kind: "Node", name: NODE };
    await this.#send("POST", `${name}/binding`, { metadata: { name }, target });
    const isJob = ownerReferences.some(({ kind }) => kind === "Job");
    const landfall = await (isJob ? this.#startJob(pod) : this.#startWorkload(pod));
    this.#processes.set(uid, landfall);
    const conditions = [{ type: "Ready", status: isJob ? "False" : "True" }];
    await this.#setStatus(name, { phase: "Running", conditions });
    if (isJob) void landfall.ended.then((ended) => this.#end(name, ended)).catch(this.#fail);
  }

  async #startJob(pod: Pod): Promise<LandfallProcess> {
    const env = { KUBECONFIG: await this.#writeKubeconfig(pod) };
    return startLandfall(this.#program, readArgs(pod), env);
  }

  async #startWorkload(pod: Pod): Promise<LandfallProcess> {
    const config = join(this.#cluster.folder, `pod-${pod.metadata.uid}.yaml`);
    await writeFile(config, `url: ${this.#cloud.url}\ntoken: ${this.#cloud.token}\n`);
    return startLandfall(this.#program, [
      ...readArgs(pod),
      // The last one of a flag wins: files and ports are the host's.
      `--kubeconfig=${await this.#writeKubeconfig(pod)}`,
      `--cloud-config=${config}`,
      "--secure-port=0",
      "--debug-address=127.0.0.1:0",
    ]);
  }

  async #writeKubeconfig({ spec }: Pod): Promise<string> {
    const account = { namespace: "kube-system", name: spec.serviceAccountName };
    return await this.#cluster.writeTokenKubeconfig(
      await this.#cluster.createServiceAccountToken(account, TOKEN_S),
    );
  }

  async #end(name: string, { code, stdout, stderr }: Ended): Promise<void> {
    this.#said.push(`${stdout}${stderr}`);
    await this.#setStatus(name, { phase: code === 0 ? "Succeeded" : "Failed" });
  }

  async #setStatus(name: string, status: object): Promise<void> {
    await this.#send("PATCH", `${name}/status`, { status });
  }

  async #send(method: string, path: string, body: object): Promise<void> {
    const type = method === "PATCH" ? "application/strategic-merge-patch+json" : "application/json";
    const init = { method, headers: { "content-type": type }, body: JSON.stringify(body) };
    const response = await this.#cluster.adminFetch(`${PODS}/${path}`, init);
    // A Pod may be gone by now.
    if (!response.ok && response.status !== 404)
      throw new Error(`Cannot ${method} ${path}: ${await response.text()}`);
  }
}

function readArgs({ spec }: Pod): readonly string[] {
  return spec.containers[0]?.args ?? [];
}
