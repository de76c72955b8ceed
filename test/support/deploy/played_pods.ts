/**
 * The parts of a cluster that a bare API server lacks, as far as an installation of Landfall needs them: the kubelet,
 * the Job controller and the garbage collector.
 *
 * A workload runs one process of Landfall, as its service account and with its arguments; a Job runs one to its end.
 * A workload that is deleted in the foreground stays until its process has ended, and any other does not, as the
 * garbage collector has it.
 * @module
 */
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import type { Cluster } from "../process/cluster.ts";
import { readJson } from "../kube/contract/client.ts";
import {
  killAll,
  type LandfallProcess,
  type Program,
  runLandfall,
  startLandfall,
} from "../process/landfall_process.ts";

const NAMESPACE = "kube-system";
const POLL_MS = 100;
const TOKEN_S = 3_600;
const WORKLOADS = ["daemonsets", "deployments"] as const;
const FOREGROUND = "foregroundDeletion";

interface PodOwner {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly { readonly args: readonly string[] }[];
      };
    };
  };
  readonly status?: { readonly conditions?: readonly object[] };
}

/** Pods of a cluster, at work until it is stopped. */
export class PlayedPods {
  readonly #cluster: Cluster;
  readonly #program: Program;
  readonly #cloud: { readonly url: string; readonly token: string };
  readonly #processes = new Map<string, LandfallProcess>();
  readonly #jobs = new Map<string, string>();
  readonly #stopped = new AbortController();
  readonly #ending: Promise<void>[] = [];
  #running: Promise<void> = Promise.resolve();

  constructor(
    cluster: Cluster,
    program: Program,
    cloud: { readonly url: string; readonly token: string },
  ) {
    this.#cluster = cluster;
    this.#program = program;
    this.#cloud = cloud;
  }

  /** What Jobs have said so far. */
  get said(): readonly string[] {
    return [...this.#jobs.values()];
  }

  /** Begins to look at workloads and Jobs. */
  start(): void {
    this.#running = this.#run();
  }

  /** Ends all. @throws Error when playing failed */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    await Promise.all(this.#ending);
    await killAll([...this.#processes.values()]);
  }

  async #run(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const owners = new Map<string, PodOwner>();
      for (const plural of WORKLOADS) {
        for (const owner of await this.#list(`/apis/apps/v1/namespaces/${NAMESPACE}/${plural}`)) {
          owners.set(owner.metadata.uid, owner);
          await this.#playWorkload(plural, owner);
        }
      }
      for (const [uid, landfall] of this.#processes) if (!owners.has(uid)) await landfall.stop();
      const jobs = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
      for (const job of await this.#list(jobs)) this.#playJob(`${jobs}/${job.metadata.name}`, job);
      await Bun.sleep(POLL_MS);
    }
  }

  async #list(path: string): Promise<readonly PodOwner[]> {
    return (
      await readJson<{ readonly items: readonly PodOwner[] }>(await this.#cluster.adminFetch(path))
    ).items;
  }

  async #playWorkload(plural: string, owner: PodOwner): Promise<void> {
    const { uid, name, deletionTimestamp, finalizers = [] } = owner.metadata;
    if (deletionTimestamp === undefined) {
      if (!this.#processes.has(uid)) this.#processes.set(uid, await this.#startPod(owner));
      return;
    }
    if (!finalizers.includes(FOREGROUND)) return;
    await this.#processes.get(uid)?.stop();
    await this.#patch(`/apis/apps/v1/namespaces/${NAMESPACE}/${plural}/${name}`, {
      metadata: { finalizers: finalizers.filter((one) => one !== FOREGROUND) },
    });
  }

  /** Does not wait for its end: what it waits for is played here. */
  #playJob(path: string, job: PodOwner): void {
    const { uid } = job.metadata;
    const isOver = job.metadata.deletionTimestamp !== undefined || job.status?.conditions?.length;
    if (this.#jobs.has(uid) || isOver) return;
    this.#jobs.set(uid, "");
    this.#ending.push(this.#runJob(path, job));
  }

  async #runJob(path: string, job: PodOwner): Promise<void> {
    const env = { KUBECONFIG: await this.#writeKubeconfig(job) };
    const { code, stdout, stderr } = await runLandfall(this.#program, readArgs(job), env);
    this.#jobs.set(job.metadata.uid, `${stdout}${stderr}`);
    const type = code === 0 ? "Complete" : "Failed";
    await this.#patch(`${path}/status`, { status: { conditions: [{ type, status: "True" }] } });
  }

  async #startPod(owner: PodOwner): Promise<LandfallProcess> {
    const config = join(this.#cluster.folder, `pod-${owner.metadata.uid}.yaml`);
    await writeFile(config, `url: ${this.#cloud.url}\ntoken: ${this.#cloud.token}\n`);
    return startLandfall(this.#program, [
      ...readArgs(owner),
      // The last one of a flag wins: files and ports are the host's.
      `--kubeconfig=${await this.#writeKubeconfig(owner)}`,
      `--cloud-config=${config}`,
      "--secure-port=0",
      "--debug-address=127.0.0.1:0",
    ]);
  }

  async #writeKubeconfig({ spec }: PodOwner): Promise<string> {
    const account = { namespace: NAMESPACE, name: spec.template.spec.serviceAccountName };
    return await this.#cluster.writeTokenKubeconfig(
      await this.#cluster.createServiceAccountToken(account, TOKEN_S),
    );
  }

  async #patch(path: string, patch: object): Promise<void> {
    const response = await this.#cluster.adminFetch(path, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify(patch),
    });
    // Whoever made it may have taken it away meanwhile.
    if (!response.ok && response.status !== 404)
      throw new Error(`Cannot patch ${path}: ${await response.text()}`);
  }
}

function readArgs({ spec }: PodOwner): readonly string[] {
  return spec.template.spec.containers[0]?.args ?? [];
}
