/**
 * The API server in memory, and who wrote what to it.
 * @module
 */
import { findHolder } from "../../../lib/kube/election/lease.ts";
import type { Lease } from "../../../lib/kube/kinds/lease.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { Service } from "../../../lib/kube/kinds/service.ts";
import { Faults } from "../../../lib/simulator/kubernetes/faults.ts";
import type { CustomKind } from "../../../lib/simulator/kubernetes/mod.ts";
import { handle, type HandlerContext } from "../../../lib/simulator/kubernetes/handler.ts";
import { ObjectAccess } from "../../../lib/simulator/kubernetes/object_access.ts";
import { Registry } from "../../../lib/simulator/kubernetes/registry.ts";
import { RequestLog } from "../../../lib/simulator/kubernetes/requests/log.ts";
import { Watches } from "../../../lib/simulator/kubernetes/watches.ts";
import type { Outcome } from "../../../lib/simulator/loopback.ts";
import type { Timeline } from "../timeline.ts";

/** A change of an object. */
export interface Change<T> {
  /** The process that wrote it; absent for a kubelet or a person. */
  readonly author: string | undefined;
  readonly before: T | undefined;
  /** Absent: it was deleted. */
  readonly after: T | undefined;
}

/** A change of a Node. */
export type NodeChange = Change<Node>;
/** A change of a Service. */
export type ServiceChange = Change<Service>;

/** What a request passes. @param serve What the server does with it */
export type Gate = (
  author: string,
  request: Request,
  serve: () => Promise<Outcome>,
) => Promise<Outcome>;

/** A process that holds the Lease, as the API server knows it. */
interface Hold {
  readonly name: string;
  /** When it wrote the Lease last, in monotonic milliseconds. */
  readonly renewedMs: number;
  readonly durationMs: number;
}

/** Names a Lease. */
export interface LeasePath {
  readonly namespace: string;
  readonly name: string;
}

/** Which Lease the replicas agree by. */
export const LEASE: LeasePath = { namespace: "kube-system", name: "cloud-controller-manager" };
/** So few changes are kept that a watch that stood still for a while must begin again. */
const HISTORY_MAX = 60;
const LEASES_PATH = "/apis/coordination.k8s.io/v1/";
const NOBODY: Hold = { name: "", renewedMs: 0, durationMs: 0 };
/** Clocks of processes may be so much too fast. */
const RATE_ERROR = 0.02;

/** The API server. It does what arrives, whether anybody still waits for the answer or not. */
export class ApiServer {
  readonly faults: Faults = new Faults();
  readonly objects: ObjectAccess;
  readonly watches: Watches;
  readonly #context: HandlerContext;
  readonly #clock: Timeline;
  readonly #lease: LeasePath;
  #author: string | undefined;
  #changes = 0;
  #hold: Hold | undefined;
  /** Who was the leader when a person edited the Lease, and until when each may not know that it is not. */
  readonly #ousted = new Map<string, number>();
  /** Whom a person wrote into the Lease: nobody can tell that from another process. */
  #stranger: Hold | undefined;
  /** What each process was shown of another that held the Lease, by its name. */
  readonly #shown = new Map<string, Hold>();
  #turn: Promise<unknown> = Promise.resolve();
  /** Told of each change of a Node. */
  onNodeChange: (change: NodeChange) => void = () => undefined;
  /** Told of each change of a Service. */
  onServiceChange: (change: ServiceChange) => void = () => undefined;
  /** Told of each write to a Node or a Service that was accepted and changed nothing. */
  onIdleWrite: (author: string, request: string) => void = () => undefined;
  /** What a request passes before the server does what it asks for. */
  gate: Gate = (_author, _request, serve) => serve();
  /** Told each time that a process holds the Lease because it wrote it. */
  onHold: (author: string) => void = () => undefined;
  /** Told when a process takes the Lease before it ran out. */
  onEarlyTake: (author: string, from: string) => void = () => undefined;

  /** @param lease Whose holder may act. @default {that of the process} */
  constructor(clock: Timeline, lease: LeasePath = LEASE) {
    const registry = new Registry(clock, HISTORY_MAX);
    this.#clock = clock;
    this.#lease = lease;
    const { faults } = this;
    this.watches = new Watches({ clock, registry, faults });
    this.objects = new ObjectAccess(registry);
    const requests = new RequestLog();
    this.#context = { clock, registry, watches: this.watches, faults, requests };
    this.follow<Node>("nodes", (change) => this.onNodeChange(change));
    this.follow<Service>("services", (change) => this.onServiceChange(change));
  }

  /** Serves one more kind from now on. */
  installKind(kind: CustomKind): void {
    this.#context.registry.install(kind);
  }

  /** Tells of each change of an object of a kind from now on. */
  follow<T>(plural: string, onChange: (change: Change<T>) => void): void {
    const { registry } = this.#context;
    const kind = registry.kinds.find((one) => one.plural === plural);
    if (kind === undefined) throw new TypeError(`The API server has no ${plural}`);
    registry.collection(kind).subscribe(({ type, current, previous }) => {
      this.#changes += 1;
      const before = previous?.object as T | undefined;
      const after = type === "DELETED" ? undefined : (current.object as unknown as T);
      onChange({ author: this.#author, before, after });
    });
  }

  /** All Nodes, as they are. */
  get nodes(): readonly Node[] {
    return this.objects.list("nodes") as unknown as readonly Node[];
  }

  /** All Services, as they are. */
  get services(): readonly Service[] {
    return this.objects.list("services") as unknown as readonly Service[];
  }

  findNode(name: string): Node | undefined {
    return this.objects.getNode(name) as unknown as Node | undefined;
  }

  /** The process that holds the Lease, by its name; absent when none does. */
  get holder(): string | undefined {
    const lease = this.objects.get("leases", this.#lease) as Lease | undefined;
    return (lease && findHolder(lease).split("_")[0]) || undefined;
  }

  /** Whether a process may act: it holds the Lease, or did until a person edited that, which it may not know yet. */
  mayAct(name: string): boolean {
    if (this.holder === name) return true;
    return this.#clock.monotonic() < (this.#ousted.get(name) ?? 0);
  }

  /** Lets a person delete the Lease, or say who holds it. Returns whether there was one. */
  editLease(holder: string | undefined): boolean {
    const hold = this.#hold;
    const renewedMs = this.#clock.monotonic();
    const { durationMs } = hold ?? NOBODY;
    // Nobody sees that what stands there already is written again.
    const isNews = holder === undefined || holder !== this.holder;
    if (this.objects.get("leases", this.#lease) === undefined || !isNews) return false;
    if (holder === undefined) this.objects.delete("leases", this.#lease);
    else this.objects.patch("leases", this.#lease, { spec: { holderIdentity: holder } });
    this.#stranger = holder ? { name: holder, renewedMs, durationMs } : undefined;
    if (hold) this.#ousted.set(hold.name, hold.renewedMs + hold.durationMs);
    return true;
  }

  /** Makes again what identifies the cluster: its UIDs were made before the story's chance was there to draw them. */
  drawClusterIds(): void {
    const { objects } = this;
    objects.delete("namespaces", { name: "kube-system" });
    objects.create("namespaces", { metadata: { name: "kube-system" } });
    objects.delete("services", { namespace: "default", name: "kubernetes" });
    objects.create("services", {
      metadata: { name: "kubernetes", namespace: "default" },
      spec: { ports: [{ name: "https", port: 443, targetPort: 6443 }] },
    });
  }

  /** Forgets all changes so far: a watch that goes on from there must begin again. */
  compact(): void {
    this.#context.registry.compact();
  }

  /** Answers one request after the other, so that each change has one author. */
  answer(author: string, request: Request): Promise<Outcome> {
    const serve = (): Promise<Outcome> => this.#answer(author, request);
    const answer = this.#turn.then(() => this.gate(author, request, serve));
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
    if (pathname.startsWith(LEASES_PATH) && response.ok) this.#noteLease(author, method);
    const isJudged = /^\/api\/v1\/(nodes|namespaces\/[^/]+\/services)\//.test(pathname);
    if (isJudged && method !== "GET" && response.ok && this.#changes === changes) {
      this.onIdleWrite(author, `${method} ${pathname}`);
    }
    if (searchParams.get("watch") !== null) response.headers.set("x-endless", "true");
    return { kind: "reply", response, isHalf: false };
  }

  /** Whoever was shown that another holds the Lease knows for how long, whatever a person made of it since. */
  #noteLease(author: string, method: string): void {
    if (method === "GET") {
      if (this.#hold && this.holder === this.#hold.name) this.#shown.set(author, this.#hold);
      return;
    }
    const nowMs = this.#clock.monotonic();
    const isHeld = ({ renewedMs, durationMs }: Hold): boolean =>
      nowMs < renewedMs + durationMs * (1 - RATE_ERROR);
    const shown = this.#shown.get(author) ?? NOBODY;
    const isOther = shown.name !== author && shown.name === this.#hold?.name;
    if (isOther && isHeld(shown)) this.onEarlyTake(author, shown.name);
    if (this.#stranger && isHeld(this.#stranger)) this.onEarlyTake(author, this.#stranger.name);
    this.#stranger = undefined;
    const lease = this.objects.get("leases", this.#lease) as Lease | undefined;
    const seconds = lease?.spec?.leaseDurationSeconds ?? 0;
    const hold = { name: author, renewedMs: nowMs, durationMs: seconds * 1_000 };
    this.#hold = this.holder === author ? hold : undefined;
    if (this.#hold) this.onHold(author);
  }
}
