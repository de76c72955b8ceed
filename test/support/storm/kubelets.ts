/**
 * What kubelets and people ask of an API server that is often not there: each Node's requests one after the other, each
 * until it was answered.
 * @module
 */
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { Cluster } from "../process/cluster.ts";
import { toNodeObject } from "../process/cluster_rig.ts";
import { readJson } from "../kube/contract/client.ts";

const TRY_MS = 4_000;
const PAUSE_MS = 250;
const NOT_FOUND = 404;
const CONFLICT = 409;
const UNPROCESSABLE = 422;
const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";

type Taints = NonNullable<NonNullable<Node["spec"]>["taints"]>;

/** Asks in the name of all kubelets, and of people. */
export class Kubelets {
  readonly #cluster: Cluster;
  readonly #signal: AbortSignal;
  /** By name of Node: the end of what was asked for it. */
  readonly #queues = new Map<string, Promise<void>>();
  /** Answers that nobody expected. */
  readonly findings: string[] = [];

  /** @param signal Ends all tries */
  constructor(cluster: Cluster, signal: AbortSignal) {
    this.#cluster = cluster;
    this.#signal = signal;
  }

  /** Registers a Node, with labels of others. */
  register(name: string, labels: Readonly<Record<string, string>>): void {
    const body = JSON.stringify(toNodeObject(name, { labels }));
    const headers = { "content-type": "application/json" };
    this.#ask(name, () => this.#send("/api/v1/nodes", { method: "POST", headers, body }));
  }

  /** Deletes a Node, as a person does who has drained it. */
  remove(name: string): void {
    this.#ask(name, () => this.#send(`/api/v1/nodes/${name}`, { method: "DELETE" }));
  }

  /** Says whether a kubelet is well; so does a heartbeat. */
  setReady(name: string, isReady: boolean): void {
    const lastHeartbeatTime = `${new Date().toISOString().slice(0, 19)}Z`;
    const status = isReady ? "True" : "Unknown";
    const condition = { type: "Ready", status, reason: "Storm", message: "", lastHeartbeatTime };
    this.#patch(name, "/status", STRATEGIC, () => ({ status: { conditions: [condition] } }));
  }

  /** Sets a label; `null` takes it away. */
  setLabel(name: string, key: string, value: string | null): void {
    this.#patch(name, "", MERGE, () => ({ metadata: { labels: { [key]: value } } }));
  }

  /** Adds a taint or takes it away. */
  setTaint(name: string, key: string, isThere: boolean): void {
    this.#ask(name, async () => {
      const response = await this.#send(`/api/v1/nodes/${name}`, {});
      if (!response.ok) return response;
      const { metadata, spec } = await readJson<Node>(response);
      const others: Taints = (spec?.taints ?? []).filter((taint) => taint.key !== key);
      const taint = { key, value: "storm", effect: "NoSchedule" };
      const taints = isThere ? [...others, taint] : others;
      const { resourceVersion } = metadata;
      return await this.#sendPatch(name, "", MERGE, {
        metadata: { resourceVersion },
        spec: { taints },
      });
    });
  }

  /** Resolves once all that was asked for has been answered. */
  async settle(): Promise<void> {
    await Promise.all(this.#queues.values());
  }

  /** Every Node, once the API server answers. */
  async listNodes(): Promise<ReadonlyMap<string, Node>> {
    const response = await this.#send("/api/v1/nodes", {});
    const { items } = await readJson<{ readonly items: readonly Node[] }>(response);
    return new Map(items.map((node) => [node.metadata.name, node]));
  }

  #patch(name: string, part: string, type: string, toBody: () => object): void {
    this.#ask(name, () => this.#sendPatch(name, part, type, toBody()));
  }

  #sendPatch(name: string, part: string, type: string, body: object): Promise<Response> {
    return this.#send(`/api/v1/nodes/${name}${part}`, {
      method: "PATCH",
      headers: { "content-type": type },
      body: JSON.stringify(body),
    });
  }

  #send(path: string, init: RequestInit): Promise<Response> {
    return this.#cluster.adminFetch(path, { ...init, signal: AbortSignal.timeout(TRY_MS) });
  }

  #ask(name: string, send: () => Promise<Response>): void {
    const before = this.#queues.get(name) ?? Promise.resolve();
    this.#queues.set(
      name,
      before.then(() => this.#untilAnswered(name, send)),
    );
  }

  async #untilAnswered(name: string, send: () => Promise<Response>): Promise<void> {
    for (let tries = 0; !this.#signal.aborted; tries += 1) {
      // An answer may break off in its middle.
      const answer = await send()
        .then(async (response) => ({ code: response.status, text: await response.text() }))
        .catch(() => undefined);
      if (answer !== undefined && this.#isSettled(name, answer, tries)) return;
      await Bun.sleep(PAUSE_MS);
    }
  }

  /** Whether an answer is the last one: done, or of no use any more. */
  #isSettled(
    name: string,
    { code, text }: { readonly code: number; readonly text: string },
    tries: number,
  ): boolean {
    if (code < 300 || code === NOT_FOUND) return true;
    // A try that was not answered may have registered it.
    if (code === CONFLICT) return text.includes("AlreadyExists") && tries > 0;
    if (code === UNPROCESSABLE || code === 400) {
      this.findings.push(`a request for ${name} got ${code}: ${text}`);
      return true;
    }
    return false;
  }
}
