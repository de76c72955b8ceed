/**
 * The API server in memory, and who wrote what to it.
 * @module
 */
import { findHolder, type Lease } from "../../lib/kube/lease.ts";
import type { Node } from "../../lib/kube/resource.ts";
import { Faults } from "../../lib/simulator/kubernetes/faults.ts";
import { handle, type HandlerContext } from "../../lib/simulator/kubernetes/handler.ts";
import { KINDS } from "../../lib/simulator/kubernetes/kinds.ts";
import { ObjectAccess } from "../../lib/simulator/kubernetes/object_access.ts";
import { Registry } from "../../lib/simulator/kubernetes/registry.ts";
import { RequestLog } from "../../lib/simulator/kubernetes/request_log.ts";
import { Watches } from "../../lib/simulator/kubernetes/watches.ts";
import type { Outcome } from "../../lib/simulator/xenorchestra/front.ts";
import type { Timeline } from "./timeline.ts";

/** A change of a Node. */
export interface NodeChange {
  /** The process that wrote it; absent for a kubelet or a person. */
  readonly author: string | undefined;
  readonly before: Node | undefined;
  /** Absent: it was deleted. */
  readonly after: Node | undefined;
}

/** Which Lease the replicas agree by. */
export const LEASE = { namespace: "kube-system", name: "cloud-controller-manager" } as const;
/** So few changes are kept that a watch that stood still for a while is told to begin anew. */
const HISTORY_MAX = 60;

/** The API server. It does what arrives, whether anybody still waits for the answer or not. */
export class ApiServer {
  readonly faults: Faults = new Faults();
  readonly objects: ObjectAccess;
  readonly watches: Watches;
  readonly #context: HandlerContext;
  #author: string | undefined;
  #changes = 0;
  #turn: Promise<unknown> = Promise.resolve();
  /** Told of each change of a Node. */
  onNodeChange: (change: NodeChange) => void = () => undefined;
  /** Told of each write to a Node that was accepted and changed nothing. */
  onIdleWrite: (author: string, request: string) => void = () => undefined;

  constructor(clock: Timeline) {
    const registry = new Registry(clock, HISTORY_MAX);
    const { faults } = this;
    this.watches = new Watches({ clock, registry, faults });
    this.objects = new ObjectAccess(registry);
    const requests = new RequestLog();
    this.#context = { clock, registry, watches: this.watches, faults, requests };
    const kind = KINDS.find(({ plural }) => plural === "nodes");
    if (kind === undefined) throw new TypeError("The API server has no Nodes");
    registry.collection(kind).subscribe(({ type, current, previous }) => {
      this.#changes += 1;
      const before = previous?.object as Node | undefined;
      const after = type === "DELETED" ? undefined : (current.object as unknown as Node);
      this.onNodeChange({ author: this.#author, before, after });
    });
  }

  /** All Nodes, as they are. */
  get nodes(): readonly Node[] {
    return this.objects.list("nodes") as unknown as readonly Node[];
  }

  findNode(name: string): Node | undefined {
    return this.objects.getNode(name) as unknown as Node | undefined;
  }

  /** The process that holds the Lease, by its name; absent when none does. */
  get holder(): string | undefined {
    const lease = this.objects.get("leases", LEASE) as Lease | undefined;
    return (lease && findHolder(lease).split("_")[0]) || undefined;
  }

  /** Forgets all changes so far: whoever wants to go on from there is told to begin anew. */
  compact(): void {
    this.#context.registry.compact();
  }

  /** Answers one request after the other, so that each change has one author. */
  answer(author: string, request: Request): Promise<Outcome> {
    const answer = this.#turn.then(() => this.#answer(author, request));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  async #answer(author: string, request: Request): Promise<Outcome> {
    const changes = this.#changes;
    this.#author = author;
    const response = await handle(this.#context, request);
    this.#author = undefined;
    const { method } = request;
    const { pathname, searchParams } = new URL(request.url);
    const isNode = pathname.startsWith("/api/v1/nodes/");
    if (isNode && method !== "GET" && response.ok && this.#changes === changes) {
      this.onIdleWrite(author, `${method} ${pathname}`);
    }
    if (searchParams.get("watch") !== null) response.headers.set("x-endless", "true");
    return { kind: "reply", response, isHalf: false };
  }
}
