/**
 * Keeps the deletion guard informed: the only holder of its state.
 * @module
 */
import {
  breakStreak,
  breakStreaks,
  type DeletionSettings,
  EMPTY_GUARD,
  type FleetMember,
  type FleetReading,
  judge,
  mayPartsBeLost,
  noteDeletion,
  noteSeen,
  observeFleet,
  prolongStreak,
  readFleet,
  type Verdict,
} from "../../cloud/deletion/guard.ts";
import { areOver, NO_SIGHTINGS, noteSightings } from "../../cloud/deletion/first_sightings.ts";
import { dropDeletions } from "../../cloud/deletion/fleet_limit.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import type { Presence } from "../../cloud/provider.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { NodeContext } from "../context.ts";
import { toFleetMember } from "./fleet_member.ts";

/** What makes one {@linkcode FleetWatch} differ from that of the controller that deletes Nodes. */
export interface FleetWatchOptions {
  /** Whether a Node counts against the limit because it may be taken out of service soon. @default {none does} */
  readonly isPending?: (node: Node, presence: Presence) => boolean;
  /** Log lines for when the limit is reached and when it is not any more. @default {of deletions} */
  readonly words?: { readonly tooMany: string; readonly fewEnough: string };
}

const WORDS = {
  tooMany:
    "Too many machines are gone at once: no Node is deleted until fewer are or a person decides",
  fewEnough: "Few enough machines are gone: Nodes may be deleted again",
};

/** Looks at the whole fleet, and judges single Nodes by what was seen. */
export class FleetWatch {
  readonly #context: NodeContext;
  #settings: DeletionSettings;
  #state = EMPTY_GUARD;
  #wasExceeded = false;
  /** UIDs of Nodes whose machines were seen since the last look. A start sees thousands, one by one. */
  readonly #seen = new Set<string>();
  /** Inventories up to then are another cloud's. Monotonic milliseconds. */
  #fromMs = -Infinity;

  readonly #options: FleetWatchOptions;

  constructor(context: NodeContext, settings: DeletionSettings, options: FleetWatchOptions = {}) {
    this.#context = context;
    this.#settings = settings;
    this.#options = options;
  }

  /**
   * Judges by other settings from now on. Every count starts again: a count under two settings would mean nothing.
   *
   * @param options.isOtherCloud Whether inventories are another cloud's from now on: no machine was ever seen there
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
   * Takes a look at every Node, in memory.
   *
   * @returns Whether a Node that is not Ready misses its machine
   */
  look(): boolean {
    const { nodes, source, clock } = this.#context;
    // Part of the Nodes would look like a small fleet.
    if (!nodes.synced) return false;
    this.#state = noteSeen(this.#state, this.#seen);
    this.#seen.clear();
    const fleet = this.#listFleet();
    const observedAtMs = this.#findObservedAt(source.current);
    const look = { fleet, observedAtMs, nowMs: clock.monotonic() };
    this.#state = observeFleet(this.#state, look, this.#settings);
    // Last, so that the first look at an inventory does not count either when a refresh failed after it.
    if (source.lastError) this.#state = breakStreaks(this.#state);
    this.#tellOfLimit();
    return fleet.some(({ isReady, sighting }) => !isReady && sighting === "missing");
  }

  /**
   * Remembers what the next leader must know, while another process leads: whose machines an inventory shows, and which
   * Nodes went. Nothing else counts then: not how often a machine was missing, and not for how long.
   *
   * @returns What ends that
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
    // Thousands of Nodes are looked at only while it matters.
    if (!nodes.synced || observedAtMs === undefined || areOver(sightings, observedAtMs)) return;
    const noted = noteSightings(sightings, this.#listFleet(), observedAtMs);
    this.#state = { ...this.#state, sightings: noted };
  }

  /** The inventory may be there before the Node is, as it mostly is at a start. */
  #noteArrival(before: Node | undefined, after: Node): void {
    const { presences, source } = this.#context;
    const isNew = before?.spec?.providerID !== after.spec?.providerID;
    const observedAtMs = this.#findObservedAt(source.current);
    if (!isNew || observedAtMs === undefined || areOver(this.#state.sightings, observedAtMs))
      return;
    if (presences.find(after).kind === "present") this.noteSeen(after);
  }

  /** A leader deletes no Node that is Ready. One that a person deleted counts as well, to be safe. */
  #noteLoss(node: Node): void {
    const member = toFleetMember(node, this.#context.presences.find(node));
    if (member === undefined || member.isReady) return;
    const startMs = this.#context.clock.monotonic() - this.#settings.fleetWindowMs;
    this.#state = { ...this.#state, deletions: dropDeletions(this.#state.deletions, startMs) };
    this.noteDeletion(node);
  }

  /** Judges a Node by what the looks so far showed. */
  judge(node: Node): Verdict {
    const { uid } = node.metadata;
    if (uid === undefined) return { kind: "keep" };
    const { clock, holds } = this.#context;
    const verdict = judge(this.#state, uid, clock.monotonic(), this.#settings);
    const message = verdict.kind === "confirm" ? holds?.find(node) : undefined;
    if (message === undefined) return verdict;
    return { kind: "waiting", reason: "held", observations: 0, message };
  }

  /** Whether no machine is missing, and none was lately. */
  get isWell(): boolean {
    return this.#state.missing.size === 0 && this.#state.deletions.size === 0;
  }

  /** How many are missing, and how many may be. */
  read(): FleetReading {
    return readFleet(this.#state, this.#context.clock.monotonic(), this.#settings);
  }

  /** Whether a Node may be deleted even if another part of the cloud is lost. */
  mayPartsBeLost({ metadata: { uid = "" } }: Node): boolean {
    return mayPartsBeLost(this.#state, uid, this.#settings);
  }

  /**
   * Lets a Node wait for longer, because another part of the cloud is lost. @returns Whether the settings let it be
   * deleted then
   */
  prolong({ metadata: { uid = "" } }: Node): boolean {
    if (!this.#settings.whileOtherPartsAreLost) return false;
    this.#state = prolongStreak(this.#state, uid);
    return true;
  }

  /** Starts a Node's count again: the cloud, asked directly, did not agree, or the kubelet was heard between looks. */
  startAnew({ metadata: { uid } }: Node): void {
    if (uid !== undefined) this.#state = breakStreak(this.#state, uid);
  }

  /**
   * The machine of a Node was seen, which counts from the next look on, whether or not that still sees it. Without a
   * provider ID it may yet turn out to be another's, so it does not count.
   */
  noteSeen({ metadata: { uid }, spec }: Node): void {
    // Right after a change of settings the inventory may still be the other cloud's.
    const isOfThisCloud = this.#findObservedAt(this.#context.source.current) !== undefined;
    if (uid !== undefined && spec?.providerID && isOfThisCloud) this.#seen.add(uid);
  }

  /** A Node is about to be deleted. */
  noteDeletion({ metadata: { uid } }: Node): void {
    const nowMs = this.#context.clock.monotonic();
    if (uid !== undefined) this.#state = noteDeletion(this.#state, uid, nowMs);
  }

  /** A Node is about to be taken out of service. It counts even if it is back before the next look. */
  noteTaken({ metadata: { uid } }: Node): void {
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
      const member = toFleetMember(node, presence);
      if (member === undefined) continue;
      fleet.push(isPending?.(node, presence) ? { ...member, outOfService: "pending" } : member);
    }
    return fleet;
  }

  /** Once when it begins and once when it ends: each Node has its own Event. */
  #tellOfLimit(): void {
    const { log } = this.#context;
    const { tooMany, fewEnough } = this.#options.words ?? WORDS;
    const { isExceeded, ...fleet } = this.read();
    if (isExceeded === this.#wasExceeded) return;
    this.#wasExceeded = isExceeded;
    if (isExceeded) log.error(tooMany, fleet);
    else log.info(fewEnough, fleet);
  }
}
