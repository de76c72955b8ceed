/**
 * What Xen Orchestra told each process of machines that are gone, and whether that allows the deletion of a Node.
 * @module
 */
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { Answer, Evidence, Surroundings } from "../world/cloud.ts";
import { PowerJudge, type Powering } from "./power_judge.ts";
import { type Placing, StayJudge } from "./stay_judge.ts";

/** The cloud itself answered 404. */
interface Proof {
  readonly atMs: number;
  /** The pools of which it knew all machines then. */
  readonly loaded: ReadonlySet<string>;
  /** The pools that it was not connected to, or did not show. */
  readonly lost: readonly string[];
  /** Whether the user could know that. */
  readonly hasConnections: boolean;
}

/** Longest time between the first 404 of a proof and the deletion: that of one reconcile. */
const RECONCILE_MS = 60_000;

interface Evident extends Placing, Powering {
  /** Whether the user may read the connections to pools. */
  readonly hasConnections: boolean;
}

/** See {@linkcode Evidence}. */
export class XenOrchestraEvidence implements Evidence {
  readonly #cloud: Evident;
  readonly #world: Surroundings;
  readonly #stays: StayJudge;
  readonly #power: PowerJudge;
  /** By process and machine. */
  readonly #proofs = new Map<string, Proof[]>();

  constructor(cloud: Evident, world: Surroundings) {
    this.#cloud = cloud;
    this.#world = world;
    this.#stays = new StayJudge(cloud, world);
    this.#power = new PowerJudge(cloud, world);
  }

  noteAnswer(asker: string, { request, response }: Answer): void {
    this.#power.noteAnswer(asker, request);
    if (new URL(request.url).pathname === "/rest/v0/vms") this.#noteList(asker, response);
    const vmId = this.#cloud.findAsked(request);
    if (vmId === undefined || response.status !== 404 || !isJson(response)) return;
    if (this.#isShown(vmId)) return;
    const key = `${asker} ${vmId}`;
    this.#proofs.set(key, [...(this.#proofs.get(key) ?? []), this.#toProof()]);
  }

  noteFailure(asker: string): void {
    this.#stays.noteFailure(asker);
  }

  listDoubts(author: string, { spec }: Node, vmId: string, wasShown: boolean): string[] {
    const { whileOtherPartsAreLost } = this.#world.findSaid(author).deletion;
    const doubts = this.#cloud.truth.isTemplate(vmId) ? ["its VM is a template now"] : [];
    const nowMs = this.#world.timeline.monotonic();
    const [, poolId = ""] = /^xenorchestra:\/\/([^/]+)\//.exec(spec?.providerID ?? "") ?? [];
    const fitting = (this.#proofs.get(`${author} ${vmId}`) ?? []).filter(
      ({ atMs, loaded }) => nowMs - atMs <= RECONCILE_MS && loaded.has(poolId),
    );
    if (fitting.length < 2) doubts.push("its pool did not say twice that it has no such VM");
    const isUnnamed = wasShown && fitting.some(({ hasConnections }) => !hasConnections);
    const { lost = [] } = fitting.find((one) => one.lost.length === 0) ?? fitting.at(-1) ?? {};
    if (lost.length > 0 && !isUnnamed) {
      doubts.push(
        ...(whileOtherPartsAreLost
          ? this.#stays.listDoubts(author, vmId, lost)
          : ["a pool was not connected"]),
      );
    }
    const isKnown = wasShown || fitting.some(({ hasConnections }) => hasConnections);
    if (!isKnown) doubts.push("it never saw the VM, and could not read the connections");
    return doubts;
  }

  /** By its settings, or because nothing that its user may read names the pool. */
  isExcused(author: string, vmId: string): boolean {
    const { state, truth, hasConnections } = this.#cloud;
    const poolId = String(truth.find(vmId)?.["$pool"]);
    if (state.readShown("pools", poolId) !== undefined) return false;
    if (this.#world.findSaid(author).deletion.whileOtherPartsAreLost) return true;
    return !hasConnections && !this.#stays.wasShown(author, poolId);
  }

  listTaintDoubts(author: string, before: Node, after: Node): string[] {
    const isExcused = (vmId: string): boolean => this.isExcused(author, vmId);
    return this.#power
      .listDoubts(author, { before, after, isExcused })
      .map((doubt) => `out of service: ${doubt}`);
  }

  #noteList(asker: string, response: Response): void {
    const isGenuine = isJson(response) || response.status === 304;
    if (!isGenuine || (response.status !== 200 && response.status !== 304)) return;
    this.#stays.noteList(asker);
    this.#world.invariants.proofs.noteList(asker, (vmId) => this.#isShown(vmId));
  }

  #toProof(): Proof {
    const { state, pools, hasConnections } = this.#cloud;
    const loaded = pools.filter(({ hostIds: [masterId = ""] }) => {
      const dom0 = state.readShown("hosts", masterId)?.["controlDomain"];
      return state.readShown("vm-controllers", String(dom0)) !== undefined;
    });
    const connected = new Set(
      state
        .listShown("servers")
        .flatMap((one) => (one["status"] === "connected" ? [one["poolId"]] : [])),
    );
    const lost = pools.map(({ id }) => id).filter((id) => !connected.has(id));
    const ids = new Set(loaded.map(({ id }) => id));
    return { atMs: this.#world.timeline.monotonic(), loaded: ids, lost, hasConnections };
  }

  #isShown(vmId: string): boolean {
    return this.#cloud.state.readShown("vms", vmId) !== undefined;
  }
}

function isJson({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("application/json") ?? false;
}
