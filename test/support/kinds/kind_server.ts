/**
 * A real API server with CRDs of ours, and a real kubectl.
 * @module
 */
import { expect } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type KubeObject, type Resource, toPath } from "../../../lib/kube/kinds/resource.ts";
import { type Manifest, requireTool } from "../deploy/deploy_tools.ts";
import { CRDS_PATH } from "../kube/crd.ts";
import { type Cluster, startCluster } from "../process/cluster.ts";

const HEADERS = { "Content-Type": "application/json" };

/** How long it may take to start. */
export const KIND_SERVER_TIMEOUT_MS = 120_000;

/** A real API server with CRDs of ours. Stop it after use. */
export class KindServer {
  readonly cluster: Cluster;
  readonly #kubectl: string;

  private constructor(cluster: Cluster, kubectl: string) {
    this.cluster = cluster;
    this.#kubectl = kubectl;
  }

  /** Starts one. @param crds A file with CRDs */
  static async start(kubectl: string, crds: string): Promise<KindServer> {
    const server = new KindServer(await startCluster(), kubectl);
    const file = join(server.cluster.folder, "crd.yaml");
    await writeFile(file, crds);
    await server.run("apply", "-f", file);
    await server.run("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
    return server;
  }

  stop(): Promise<void> {
    return this.cluster.stop();
  }

  /** Runs kubectl. */
  run(...args: string[]): Promise<string> {
    return requireTool(this.#kubectl, [
      `--kubeconfig=${this.cluster.adminKubeconfigPath}`,
      `--cache-dir=${join(this.cluster.folder, "kubectl-cache")}`,
      ...args,
    ]);
  }

  /** Reads an object. */
  async read<T extends object>(path: string): Promise<T> {
    return this.cluster.read<T>(path);
  }

  /** Writes the status of an object. @returns The status of the answer */
  async patchStatus(path: string, status: unknown): Promise<number> {
    const response = await this.cluster.adminFetch(`${path}/status`, {
      method: "PATCH",
      headers: { "Content-Type": "application/merge-patch+json" },
      body: JSON.stringify({ status }),
    });
    return response.status;
  }

  /** Creates an object that is not kept. @returns The status of the answer */
  async trySpec(resource: Resource<KubeObject>, spec: unknown, name = "try"): Promise<number> {
    const { apiVersion, kind } = resource;
    const body = JSON.stringify({ apiVersion, kind, metadata: { name }, spec });
    const path = `${toPath(resource, { namespace: "default" })}?dryRun=All`;
    return (await this.cluster.adminFetch(path, { method: "POST", headers: HEADERS, body })).status;
  }

  /** Expects that the server found nothing wrong with a CRD. */
  async expectAccepted(name: string): Promise<void> {
    const { status } = await this.read<{
      status: { conditions: readonly { type: string; status: string }[] };
    }>(`${CRDS_PATH}/${name}`);
    const conditions = status.conditions.map((one) => `${one.type}=${one.status}`);
    expect(conditions.toSorted()).toEqual(["Established=True", "NamesAccepted=True"]);
  }

  /** Applies a sample, and expects that the server keeps every value. */
  async expectKept(file: string, objects: readonly Manifest[]): Promise<void> {
    await this.run("apply", "-f", file);
    for (const object of objects) {
      if (object.kind === "Secret") continue;
      const { name, namespace = "" } = object.metadata;
      const args = [object.kind, name, `--namespace=${namespace}`, "--output=json"];
      const found: Manifest = JSON.parse(await this.run("get", ...args));
      expect(found.metadata).toMatchObject(object.metadata);
      // Defaults come in addition.
      expect(found.spec ?? {}).toMatchObject(object.spec ?? {});
    }
  }

  /** What `kubectl get` shows of the first columns. @param flags More of them */
  async getColumns(
    kind: string,
    namespace: string,
    columns: number,
    ...flags: readonly string[]
  ): Promise<string[][]> {
    const text = await this.run("get", kind, `--namespace=${namespace}`, ...flags);
    const lines = text.trim().split("\n");
    return lines.map((line) => line.split(/ {2,}/).slice(0, columns));
  }
}
