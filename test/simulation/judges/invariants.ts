/**
 * What must never happen, whatever goes wrong; checked at each request that is sent and each change that is made.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { NodeChange, ServiceChange } from "../world/api_server.ts";
import { DeletionProofs } from "./deletion_proofs.ts";
import { KnownTruth } from "./known_truth.ts";
import { listLacks, listTrespasses, listServiceTrespasses } from "./writes.ts";
import type { Evidence, Surroundings } from "../world/cloud.ts";
import type { Process } from "../world/process.ts";
import type { Incarnation } from "../world/replica.ts";
import type { TransportRequest } from "../../../lib/kube/api/request.ts";

const SERVICE_PATH = /^\/api\/v1\/namespaces\/[^/]+\/services\/([^/?]+)(\/status)?(\?|$)/;
const NODE_PATH = /^\/api\/v1\/nodes\/([^/?]+)(\/status)?/;

/**
 * The judge. It notes what it finds rather than throw it: an error thrown into the program under test would only be one
 * more fault to it.
 */
export class Invariants {
  readonly proofs: DeletionProofs;
  readonly known: KnownTruth;
  readonly evidence: Evidence;
  readonly #world: Surroundings;
  /** Writes under way, as `a1 n3 labels`. */
  readonly #writing = new Set<string>();
  readonly #violations: string[] = [];
  #writes = 0;

  constructor(world: Surroundings) {
    this.#world = world;
    this.proofs = new DeletionProofs(world);
    this.known = new KnownTruth(world);
    this.evidence = world.cloud.createEvidence(world);
  }

  /** What was broken, oldest first. */
  get violations(): readonly string[] {
    return this.#violations;
  }

  /** How many writes to Nodes, Services and clouds were sent. */
  get writes(): number {
    return this.#writes;
  }

  /** Judges a request as a process sends it. Returns what tells that the process is done with it. */
  checkSent(process: Process, request: TransportRequest): () => void {
    const name = NODE_PATH.exec(request.path)?.[1];
    if (request.method !== "GET" && SERVICE_PATH.test(request.path)) {
      const what = `${request.method} ${request.path} ${request.body ?? ""}`;
      this.#world.trace.note(process.name, `sends ${what}`);
      this.#checkWrite(process.name, what);
    }
    if (request.method === "GET" || name === undefined) return () => undefined;
    this.#writes += 1;
    const { server, trace } = this.#world;
    trace.note(process.name, `sends ${request.method} ${request.path} ${request.body ?? ""}`);
    if (!server.mayAct(process.name)) {
      const holder = server.holder ?? "nobody";
      this.#tell(`${process.name} writes Node ${name} while ${holder} holds the Lease`);
    }
    this.known.noteSent(process.name, name, request.body ?? "");
    if (request.method === "DELETE") this.#checkDeletion(process, name);
    for (const lack of listLacks(request))
      this.#tell(`${process.name} writes Node ${name}: ${lack}`);
    if (this.#world.isForeign(name))
      this.#tell(`${process.name} writes Node ${name} of another cloud`);
    const key = `${process.name} ${name} ${this.#toController(name, request)}`;
    if (this.#writing.has(key)) this.#tell(`two writes at once: ${key}`);
    this.#writing.add(key);
    return () => this.#writing.delete(key);
  }

  /** Judges a request to a cloud that has load balancers, as a process sends it. Others are only read. */
  checkAsked(asker: string, { method, url }: Request): void {
    if (this.#world.cloud.balancing !== undefined && method !== "GET")
      this.#checkWrite(asker, `${method} ${new URL(url).pathname}`);
  }

  /** Judges what the cloud has for Services. */
  checkCloud(): void {
    for (const broken of this.#world.cloud.balancing?.listBroken() ?? []) this.#tell(broken);
  }

  /** Judges a change of a Service. */
  checkService(change: ServiceChange): void {
    const { author, before, after } = change;
    const { name = "" } = (after ?? before)?.metadata ?? {};
    this.#world.trace.note(author ?? "people", `change Service ${name}${after ? "" : ": gone"}`);
    this.#world.cloud.balancing?.noteChange(change);
    if (author === undefined) return;
    for (const what of listServiceTrespasses(before, after)) {
      this.#tell(`${author} changes Service ${name}: ${what}`);
    }
  }

  #checkWrite(author: string, what: string): void {
    this.#writes += 1;
    const { server } = this.#world;
    if (server.mayAct(author)) return;
    this.#tell(`${author} sends ${what} while ${server.holder ?? "nobody"} holds the Lease`);
  }

  /** Judges a change of a Node by a process. */
  checkChange(change: NodeChange): void {
    const { author, before, after } = change;
    const name = (after ?? before)?.metadata.name ?? "";
    this.#world.trace.note(author ?? "people", `change Node ${name}${after ? "" : ": delete it"}`);
    if (author === undefined || before === undefined) return;
    if (after === undefined) {
      const isReady = before.status?.conditions?.some(
        (one) => one.type === "Ready" && one.status === "True",
      );
      if (isReady) this.#tell(`${author} deletes Node ${name}, which is Ready`);
      return;
    }
    for (const doubt of this.evidence.listTaintDoubts(author, before, after)) {
      this.#tell(`${author} taints Node ${name} ${doubt}`);
    }
    const isMoved = !isDeepStrictEqual(before.status?.addresses, after.status?.addresses);
    if (isMoved && !this.known.mayWriteAddresses(author))
      this.#tell(`${author} writes addresses of Node ${name}, which its settings leave alone`);
    const providerId = after.spec?.providerID;
    const isTaken = this.#world.server.nodes.some(
      ({ metadata, spec }) => metadata.name !== name && spec?.providerID === providerId,
    );
    if (providerId !== undefined && isTaken)
      this.#tell(`${author} gives Node ${name} the machine of another Node`);
    const vmId = this.#world.machines.get(name);
    const span = this.known.toSpan(author, name);
    const wasTrue = (key: string, value: string | undefined): boolean =>
      vmId !== undefined && this.#world.truth.wasTrue(vmId, key, value, span);
    for (const what of listTrespasses({ before, after }, this.#world.cloud.labels, wasTrue)) {
      this.#tell(`${author} changes Node ${name}: ${what}`);
    }
  }

  /** A process says that it uses, or refuses, what it read in its settings file. */
  checkSettings({ process: { name }, seen: { said }, uses }: Incarnation, isTaken: boolean): void {
    if (isTaken !== (said !== undefined))
      this.#tell(`${name} ${isTaken ? "uses wrong settings" : "refuses good settings"}`);
    if (said === undefined || !isTaken) return;
    const before = uses.at(-1)?.said.deletion;
    uses.push({ sinceMs: this.#world.timeline.monotonic(), said });
    // Nobody chose what a count by both would mean.
    if (!isDeepStrictEqual(said.deletion, before)) this.proofs.noteFailure(name);
  }

  /** A process took the Lease while another one may still act by it. */
  checkEarlyTake(author: string, from: string): void {
    this.#tell(`${author} takes the Lease before that of ${from} ran out`);
  }

  /** A write was accepted and changed nothing. */
  checkIdle(author: string, request: string): void {
    this.#tell(`${author} writes where nothing differs: ${request}`);
  }

  #checkDeletion({ name: author }: Process, name: string): void {
    const node = this.#world.findNode(name);
    const vmId = this.#world.cloud.providerId.exec(node?.spec?.providerID ?? "")?.[1];
    if (node === undefined || vmId === undefined) return;
    // What remains possible where pools may be lost; whether it was allowed is judged below.
    if (this.#world.truth.has(vmId) && !this.evidence.isExcused(author, vmId))
      this.#tell(`${author} deletes Node ${name}, whose VM exists`);
    for (const doubt of this.proofs.listDoubts(author, node, vmId)) {
      this.#tell(`${author} deletes Node ${name} without proof: ${doubt}`);
    }
  }

  /** Which controller writes this: each has parts of a Node of its own. */
  #toController(name: string, { method, path, body = "{}" }: TransportRequest): string {
    if (method === "DELETE") return "lifecycle";
    if (path.endsWith("/status")) return "node";
    const { spec, metadata } = JSON.parse(body) as {
      spec?: { providerID?: string };
      metadata?: { annotations?: Readonly<Record<string, unknown>> };
    };
    if (metadata?.annotations?.["landfall.dev/out-of-service"] !== undefined) return "outOfService";
    if (spec === undefined) return "labels";
    const taints = this.#world.findNode(name)?.spec?.taints ?? [];
    const isNew = taints.some(({ key }) => key.endsWith("/uninitialized"));
    return spec.providerID !== undefined || isNew ? "node" : "lifecycle";
  }

  #tell(violation: string): void {
    this.#violations.push(violation);
    this.#world.trace.note("JUDGE", violation);
  }
}
