/**
 * An API server that knows Nodes alone, in memory and on any clock: versions and preconditions count.
 * @module
 */
import type { Clock } from "../../../lib/core/clock.ts";
import { KubeError, type KubeErrorKind } from "../../../lib/kube/api/errors.ts";
import type { KubeObject, ObjectPath, Resource } from "../../../lib/kube/kinds/resource.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { Store } from "../../../lib/kube/cache/store.ts";
import { ScriptedKubeClient, type Write } from "./scripted_kube_client.ts";

type NodeTaints = NonNullable<Node["spec"]>["taints"];

/** Its Nodes, and the client that talks to it. What happens is in the store at once, unless `isWatchHeld`. */
export class NodeServer extends ScriptedKubeClient {
  readonly #store: Store<Node>;
  readonly #nodes = new Map<string, Node>();
  #version = 1_000;
  /** While true, the store learns nothing. */
  isWatchHeld = false;
  /** Names of Nodes that a finalizer holds: their deletion only marks them. */
  readonly held: Set<string> = new Set();
  /** Refuses requests of a verb from now on. */
  readonly refusals: Map<"read" | Write["verb"], KubeErrorKind> = new Map();
  /** Awaited before a read is answered. */
  onRead: () => void | Promise<void> = () => undefined;
  /** Called before a write is done. */
  beforeWrite: (write: Write) => void = () => undefined;

  constructor(clock: Clock, store: Store<Node>) {
    super(clock);
    this.#store = store;
    this.feed(store);
    store.replace([], "1");
    this.onWrite = (write) => {
      this.beforeWrite(write);
      this.#refuse(write.verb);
      return write.verb === "delete" ? this.#delete(write) : this.#patch(write);
    };
  }

  override async read<T extends KubeObject>(
    _resource?: Resource<T>,
    path?: ObjectPath,
    signal?: AbortSignal,
  ): Promise<T> {
    this.requests.push(`read ${path?.name}`);
    await this.onRead();
    signal?.throwIfAborted();
    this.#refuse("read");
    return this.#demand(path?.name ?? "") as KubeObject as T;
  }

  /** Names of the Nodes whose deletion was asked for, in order. */
  get deletions(): string[] {
    return this.writes.filter(({ verb }) => verb === "delete").map(({ path }) => path.name ?? "");
  }

  /** A Node as it stands. */
  find(name: string): Node | undefined {
    return this.#nodes.get(name);
  }

  /** Creates or replaces a Node, as a kubelet or a person would. */
  put(node: Node): Node {
    this.#version += 1;
    const metadata = { ...node.metadata, resourceVersion: String(this.#version) };
    const stored: Node = { ...node, metadata };
    this.#nodes.set(metadata.name, stored);
    if (!this.isWatchHeld) this.#store.apply(stored);
    return stored;
  }

  /** Changes the condition Ready, as the node controller of Kubernetes or a kubelet would. */
  setReady(name: string, status: string): void {
    const node = this.#demand(name);
    const conditions = [{ type: "Ready", status }];
    this.put({ ...node, status: { ...node.status, conditions } });
  }

  /** Replaces the taints, as a person would. */
  setTaints(name: string, taints: NodeTaints): Node {
    const node = this.#demand(name);
    const { taints: _before, ...spec } = node.spec ?? {};
    return this.put({ ...node, spec: taints ? { ...spec, taints } : spec });
  }

  /** Replaces the labels, as a person would. */
  setLabels(name: string, labels: Readonly<Record<string, string>>): Node {
    const node = this.#demand(name);
    return this.put({ ...node, metadata: { ...node.metadata, labels } });
  }

  /** Deletes a Node, as a person would. */
  remove(name: string): void {
    const node = this.#demand(name);
    this.#nodes.delete(name);
    if (!this.isWatchHeld) this.#store.remove(node);
  }

  #demand(name: string): Node {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new KubeError("notFound", `nodes "${name}" not found`);
    return node;
  }

  #refuse(verb: "read" | Write["verb"]): void {
    const kind = this.refusals.get(verb);
    if (kind !== undefined) throw new KubeError(kind, `refused to ${verb}: ${kind}`);
  }

  #patch({ path: { name = "" }, body }: Write): Node {
    const { metadata, spec } = body as {
      metadata: {
        resourceVersion?: string;
        annotations?: Record<string, string | null>;
        labels?: Record<string, string>;
      };
      spec?: { taints: NodeTaints | null };
    };
    const node = this.#demand(name);
    checkSame("resourceVersion", metadata.resourceVersion, node.metadata.resourceVersion);
    if (metadata.annotations) this.annotate(name, metadata.annotations);
    if (metadata.labels) this.setLabels(name, { ...node.metadata.labels, ...metadata.labels });
    return spec ? this.setTaints(name, spec.taints ?? undefined) : this.#demand(name);
  }

  /** Changes annotations; `null` removes one. */
  annotate(name: string, changes: Readonly<Record<string, string | null>>): Node {
    const node = this.#demand(name);
    const annotations = { ...node.metadata.annotations };
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) delete annotations[key];
      else annotations[key] = value;
    }
    return this.put({ ...node, metadata: { ...node.metadata, annotations } });
  }

  #delete({ path: { name = "" }, body }: Write): void {
    const node = this.#demand(name);
    const { uid, resourceVersion } = node.metadata;
    checkSame("UID", body["uid"], uid);
    checkSame("resourceVersion", body["resourceVersion"], resourceVersion);
    if (!this.held.has(name)) return this.remove(name);
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    this.put({ ...node, metadata: { ...node.metadata, deletionTimestamp } });
  }
}

function checkSame(what: string, wanted: unknown, actual: unknown): void {
  if (wanted !== undefined && wanted !== actual) {
    throw new KubeError("conflict", `${what} in precondition: ${wanted}, in object: ${actual}`);
  }
}
