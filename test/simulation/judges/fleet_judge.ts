/**
 * How many Nodes a process may delete, by what it was told: the fleet limit as lib/cloud/deletion/fleet_limit.ts
 * defines it, worked out again from the watch, the lists and the inventories that reached the process.
 *
 * The limit is a promise of each process: what another one deleted before it started, it does not know. What went while
 * it stood by it was told of.
 * @module
 */
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import { isReady } from "../../../lib/controllers/identity.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { Surroundings } from "../world/cloud.ts";

/** A Node that counts, as a process knows it. */
interface Member {
  readonly name: string;
  readonly sinceMs: number;
  readonly isReady: boolean;
}

/** What one process was told and did. Times in milliseconds of its own monotonic clock. */
interface FleetView {
  /** By UID. */
  readonly members: Map<string, Member>;
  /** How many there were, and since when. */
  readonly sizes: { readonly atMs: number; readonly size: number }[];
  /** When deletions were sent by it, or became known to it while it stood by, by UID. */
  readonly deletions: Map<string, number>;
  /** Those of which the inventory in use shows that their machines are gone, by UID. */
  missing: ReadonlySet<string>;
}

/**
 * A process takes the size of the fleet at each look, which is after each refresh and every 5 s, and nothing outside
 * tells when. So the size at the start of the window is the one that it knew at some moment so long before, or since
 * the pause that it was in then.
 */
const LOOK_MS = 5_500;
/** A deletion that was sent again in the same reconcile was counted when it was sent first. */
const REQUEST_MS = 30_000;

/** Judges deletions against the fleet limit. */
export class FleetJudge {
  readonly #world: Surroundings;
  readonly #views = new Map<string, FleetView>();
  /** Machines that were ever on their way to another pool: of these a process may be in doubt. */
  readonly #moved = new Set<string>();

  constructor(world: Surroundings) {
    this.#world = world;
  }

  /** Takes in that a machine moves to another pool. */
  noteMove(vmId: string): void {
    this.#moved.add(vmId);
  }

  /** Takes in a list of all Nodes that reached a process. */
  noteList(asker: string, nodes: readonly Node[]): void {
    const { members } = this.#find(asker);
    const before = new Map(members);
    members.clear();
    for (const node of nodes) this.#set(asker, node, before);
    for (const [uid, { isReady }] of before) {
      if (!members.has(uid) && !isReady) this.#noteLoss(asker, uid);
    }
    this.#noteSize(asker);
  }

  /** Takes in a change of a Node that reached a process. */
  noteEvent(asker: string, type: string, node: Node): void {
    const { members } = this.#find(asker);
    const before = new Map(members);
    const { uid = "" } = node.metadata;
    members.delete(uid);
    if (type !== "DELETED") this.#set(asker, node, before);
    else if (before.has(uid) && !isReady(node)) this.#noteLoss(asker, uid);
    this.#noteSize(asker);
  }

  /** Takes in that a process has a new inventory. It looks at its Nodes at once. */
  noteInventory(asker: string, inventory: Inventory): void {
    const view = this.#find(asker);
    const { machines, truth, cloud } = this.#world;
    const { coverage, lookedFor, instances, observedAtMs } = inventory;
    const isWhole =
      !cloud.hasForgotten &&
      [...coverage.values()].every(({ complete, isOnlyNamed }) => complete || isOnlyNamed);
    const isMissing = ([, { name, sinceMs }]: readonly [string, Member]): boolean => {
      const vmId = machines.get(name) ?? "";
      const isGone = truth.isGone(vmId) && !instances.has(vmId);
      const isKnown = sinceMs < observedAtMs && (lookedFor?.has(vmId) ?? true);
      return isGone && isKnown && !this.#moved.has(vmId);
    };
    const missing = isWhole ? [...view.members].filter(isMissing) : [];
    view.missing = new Set(missing.map(([uid]) => uid));
  }

  /** Notes that a process sends a deletion, and says whether more Nodes are affected than may be. */
  listExcess(author: string, uid: string): string[] {
    const { members, missing, deletions } = this.#find(author);
    const nowMs = this.#toOwnMs(author);
    const startMs = this.#findStart(author, nowMs);
    const affected = new Set([uid, ...[...missing].filter((one) => members.has(one))]);
    for (const [one, atMs] of deletions) if (atMs >= startMs) affected.add(one);
    const before = deletions.get(uid);
    if (before === undefined || nowMs - before > REQUEST_MS) deletions.set(uid, nowMs);
    const size = this.#findSize(author, startMs);
    const { fleetShare } = this.#world.findSaid(author).deletion;
    const limit = Math.max(1, Math.floor(fleetShare * size + 1e-9));
    const all = `${affected.size} Nodes are missing or go within the window, of ${size}`;
    return affected.size > limit ? [all] : [];
  }

  /** How many deletions a process sent within a window that ends now; none if it is no process of ours. */
  countDeletions(author: string, windowMs: number): number {
    const { deletions } = this.#views.get(author) ?? {};
    if (deletions === undefined) return 0;
    const sinceMs = this.#toOwnMs(author) - windowMs;
    return [...deletions.values()].filter((atMs) => atMs >= sinceMs).length;
  }

  /** The window begins when the settings say so; what an earlier, shorter one had left behind stays forgotten. */
  #findStart(author: string, nowMs: number): number {
    const { uses } = this.#world.findProcess(author);
    const rate = this.#toRate(author);
    const starts = uses.map(({ said }, at) => {
      const next = uses[at + 1];
      const endMs = next === undefined ? nowMs : next.sinceMs * rate;
      return endMs - said.deletion.fleetWindowMs;
    });
    return Math.max(...starts, nowMs - this.#world.findSaid(author).deletion.fleetWindowMs);
  }

  /** The largest fleet that may be that at the start of the window; before the first look it is that of the first. */
  #findSize(author: string, startMs: number): number {
    const { process, ledMs = 0 } = this.#world.findProcess(author);
    const rate = this.#toRate(author);
    const { sizes } = this.#find(author);
    // Nothing is looked at before all Nodes are known.
    const firstMs = Math.max(ledMs * rate, sizes[0]?.atMs ?? 0);
    const pausedFrom = (atMs: number): number => process.skipPauses(atMs / rate) * rate;
    const fromMs = Math.max(firstMs, pausedFrom(startMs - LOOK_MS));
    const toMs = Math.max(startMs, firstMs + LOOK_MS);
    const held = sizes.filter(
      ({ atMs }, at) => atMs <= toMs && (sizes[at + 1]?.atMs ?? Infinity) >= fromMs,
    );
    return Math.max(0, ...held.map(({ size }) => size));
  }

  #set(asker: string, node: Node, before: ReadonlyMap<string, Member>): void {
    const { uid = "", name } = node.metadata;
    const isNew = node.spec?.taints?.some(({ key }) => key.endsWith("/uninitialized")) ?? false;
    if (isNew || !this.#world.cloud.providerId.test(node.spec?.providerID ?? "")) return;
    const { sinceMs } = before.get(uid) ?? { sinceMs: this.#toOwnMs(asker) };
    this.#find(asker).members.set(uid, { name, sinceMs, isReady: isReady(node) });
  }

  /** A Node went that was not Ready: if the process stands by, it takes that for a deletion by the leader. */
  #noteLoss(asker: string, uid: string): void {
    if (this.#world.findProcess(asker).ledMs !== undefined) return;
    this.#find(asker).deletions.set(uid, this.#toOwnMs(asker));
  }

  #noteSize(asker: string): void {
    const { sizes, members } = this.#find(asker);
    const { size } = members;
    if (sizes.at(-1)?.size !== size) sizes.push({ atMs: this.#toOwnMs(asker), size });
  }

  #find(asker: string): FleetView {
    const known = this.#views.get(asker) ?? {
      members: new Map(),
      sizes: [],
      deletions: new Map(),
      missing: new Set(),
    };
    this.#views.set(asker, known);
    return known;
  }

  #toOwnMs(author: string): number {
    return this.#world.findProcess(author).process.clock.monotonic();
  }

  #toRate(author: string): number {
    return this.#world.findProcess(author).process.rate;
  }
}
