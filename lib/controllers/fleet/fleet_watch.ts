/**
 * Holds the state of the deletion guard, and reports the Nodes to it.
 * @module
 */
import { dropDeletions, type FleetReading, readFleet } from "../../cloud/deletion/fleet_limit.ts";
import {
  breakStreak,
  breakStreaks,
  type DeletionSettings,
  EMPTY_GUARD,
  type FleetMember,
  judge,
  mayPartsBeLost,
  noteDeletion,
  noteSeen,
  observeFleet,
  prolongStreak,
  type Verdict,
} from "../../cloud/deletion/guard.ts";
import { isWaitOver, NO_SIGHTINGS, noteSightings } from "../../cloud/deletion/first_sightings.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import type { Presence } from "../../cloud/provider.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { NodeContext } from "../node_context.ts";
import { toFleetMember } from "./fleet_member.ts";

/** Options for a {@linkcode FleetWatch}. The defaults are those of the controller that deletes Nodes. */
interface FleetWatchOptions {
  /** Whether a Node counts against the limit because Landfall may soon take it out of service. @default {none does} */
  readonly isPending?: (node: Node, presence: Presence) => boolean;
  /** Log messages when the limit is exceeded, and when it no longer is. @default {those for deletions} */
  readonly words?: { readonly tooMany: string; readonly fewEnough: string };
}

const WORDS = {
  tooMany:
    "Too many machines are gone at once; Landfall deletes no Node until fewer are gone or you decide",
  fewEnough: "Few enough machines are gone; Landfall may delete Nodes again",
};

/** Looks at the whole fleet, and judges single Nodes by these looks. */
export class FleetWatch {
  readonly #context: NodeContext;
  #settings: DeletionSettings;
  #state = EMPTY_GUARD;
  #wasExceeded = false;
  /** UIDs of Nodes whose machines were seen since the last look. A start reports thousands of them one by one. */
  readonly #seen = new Set<string>();
  /** Inventories up to this time belong to another cloud. Monotonic milliseconds. */
  #fromMs = -Infinity;

  readonly #options: FleetWatchOptions;

  constructor(context: NodeContext, settings: DeletionSettings, options: FleetWatchOptions = {}) {
    this.#context = context;
    this.#settings = settings;
    this.#options = options;
  }

  /**
   * Uses other settings from now on. Every count starts again, because a count under two settings would mean nothing.
   *
   * @param options.isOtherCloud Whether the next inventories come from another cloud, where no machine was seen yet
   */
  reconfigure(settings: DeletionSettings, options: { readonly isOtherCloud: boolean }): void {
    this.#settings = settings;
    this.#state = breakStreaks(this.#state);
    if (!options.isOtherCloud) return;
    this.#state = { ...this.#state, sightings: NO_SIGHTINGS };
    this.#seen.clear();
    this.#fromMs = this.#context.clock.monotonic();
  }

  /**
   * Looks at every Node, in memory.
   *
   * @returns Whether the machine of a Node that is not Ready is missing
   */
  look(): boolean {
    const { nodes, source, clock } = this.#context;
    // Before the first list is complete, the fleet would look too small.
    if (!nodes.synced) return false;
    this.#state = noteSeen(this.#state, this.#seen);
    this.#seen.clear();
    const fleet = this.#listFleet();
    const observedAtMs = this.#findObservedAt(source.current);
    const look = { fleet, observedAtMs, nowMs: clock.monotonic() };
    this.#state = observeFleet(this.#state, look, this.#settings);
    // Last: if a refresh failed after the inventory, not even the first look at that inventory may count.
    if (source.lastError) this.#state = breakStreaks(this.#state);
    this.#logLimit();
    return fleet.some(({ isReady, sighting }) => !isReady && sighting === "missing");
  }

  /**
   * Collects what the next leader must know, while another process leads: which machines the inventory shows, and which
   * Nodes were deleted. It does not count how often or how long a machine was missing.
   *
   * @returns A function that ends this
   */
  standBy(): () => void {
    const { nodes, source } = this.#context;
    const ends = [
      source.subscribe(() => this.#noteSightings()),
      nodes.subscribe((_name, before, after) => {
        if (after !== undefined) this.#noteArrival(before, after);
        else if (before !== undefined) this.#noteLoss(before);
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  }

  #noteSightings(): void {
    const { nodes, source } = this.#context;
    const observedAtMs = this.#findObservedAt(source.current);
    const { sightings } = this.#state;
    // Skips the look at thousands of Nodes when sightings no longer matter.
    if (!nodes.synced || observedAtMs === undefined || isWaitOver(sightings, observedAtMs)) return;
    const noted = noteSightings(sightings, this.#listFleet(), observedAtMs);
    this.#state = { ...this.#state, sightings: noted };
  }

  /** At a start, the inventory usually arrives before the Nodes. */
  #noteArrival(before: Node | undefined, after: Node): void {
    const { presences, source } = this.#context;
    const isNew = before?.spec?.providerID !== after.spec?.providerID;
    const observedAtMs = this.#findObservedAt(source.current);
    if (!isNew || observedAtMs === undefined || isWaitOver(this.#state.sightings, observedAtMs))
      return;
    if (presences.find(after).kind === "present") this.noteSeen(after);
  }

  /**
   * A leader deletes no Node that is Ready, so only others count. A Node that a user deleted counts, too, to be safe.
   */
  #noteLoss(node: Node): void {
    const member = toFleetMember(node, this.#context.presences.find(node), this.#settings);
    if (member === undefined || member.isReady) return;
    const startMs = this.#context.clock.monotonic() - this.#settings.fleetWindowMs;
    this.#state = { ...this.#state, deletions: dropDeletions(this.#state.deletions, startMs) };
    this.noteDeletion(node);
  }

  /** Judges a Node by the looks so far. */
  judge(node: Node): Verdict {
    const { uid } = node.metadata;
    if (uid === undefined) return { kind: "keep" };
    const { clock, holds } = this.#context;
    const verdict = judge(this.#state, uid, clock.monotonic(), this.#settings);
    const message = verdict.kind === "confirm" ? holds?.find(node) : undefined;
    if (message === undefined) return verdict;
    return { kind: "waiting", reason: "held", observations: 0, message };
  }

  /** Whether no machine is missing, and no Node was deleted recently. */
  get hasNoLosses(): boolean {
    return this.#state.missing.size === 0 && this.#state.deletions.size === 0;
  }

  /** Compares the fleet with its limit. */
  read(): FleetReading {
    return readFleet(this.#state, this.#context.clock.monotonic(), this.#settings);
  }

  /** Whether Landfall may delete a Node although another part of the cloud is lost. */
  mayPartsBeLost({ metadata: { uid = "" } }: Node): boolean {
    return mayPartsBeLost(this.#state, uid, this.#settings);
  }

  /**
   * Requires a longer wait for a Node, because another part of the cloud is lost. @returns Whether the settings allow
   * its deletion after that wait
   */
  prolong({ metadata: { uid = "" } }: Node): boolean {
    if (!this.#settings.whileOtherPartsAreLost) return false;
    this.#state = prolongStreak(this.#state, uid);
    return true;
  }

  /**
   * Starts the count of a Node again, because the cloud did not confirm the absence, or the kubelet reported between
   * looks.
   */
  restartCount({ metadata: { uid } }: Node): void {
    if (uid !== undefined) this.#state = breakStreak(this.#state, uid);
  }

  /**
   * Records that the machine of a Node was seen. It counts from the next look on, even if that look does not see it. A
   * Node without a provider ID does not count, because the machine may turn out to be another Node's.
   */
  noteSeen({ metadata: { uid }, spec }: Node): void {
    // Right after a change of settings, the inventory may still belong to the other cloud.
    const isOfThisCloud = this.#findObservedAt(this.#context.source.current) !== undefined;
    if (uid !== undefined && spec?.providerID && isOfThisCloud) this.#seen.add(uid);
  }

  /** Records that a Node is about to be deleted. */
  noteDeletion({ metadata: { uid } }: Node): void {
    const nowMs = this.#context.clock.monotonic();
    if (uid !== undefined) this.#state = noteDeletion(this.#state, uid, nowMs);
  }

  /** Records that a Node is about to be taken out of service. It counts even if it is back before the next look. */
  noteOutOfService({ metadata: { uid } }: Node): void {
    if (uid === undefined) return;
    const untilMs = this.#context.clock.monotonic() + this.#settings.fleetWindowMs;
    const outOfService = new Map(this.#state.outOfService).set(uid, untilMs);
    this.#state = { ...this.#state, outOfService };
  }

  #findObservedAt(inventory: Inventory | undefined): number | undefined {
    if (inventory === undefined || inventory.observedAtMs <= this.#fromMs) return undefined;
    return inventory.observedAtMs;
  }

  #listFleet(): FleetMember[] {
    const { nodes, presences } = this.#context;
    const { isPending } = this.#options;
    const fleet: FleetMember[] = [];
    for (const node of nodes.values()) {
      const presence = presences.find(node);
      const member = toFleetMember(node, presence, this.#settings);
      if (member === undefined) continue;
      fleet.push(isPending?.(node, presence) ? { ...member, outOfService: "pending" } : member);
    }
    return fleet;
  }

  /** Logs once when the limit is exceeded and once when it no longer is. Each Node has its own Event. */
  #logLimit(): void {
    const { log } = this.#context;
    const { tooMany, fewEnough } = this.#options.words ?? WORDS;
    const { isExceeded, ...fleet } = this.read();
    if (isExceeded === this.#wasExceeded) return;
    this.#wasExceeded = isExceeded;
    if (isExceeded) log.error(tooMany, fleet);
    else log.info(fewEnough, fleet);
  }
}
