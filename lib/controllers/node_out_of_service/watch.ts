/**
 * Keeps the guards informed that stand before the out-of-service taint: the only holder of their state.
 * @module
 */
import type { DeletionSettings } from "../../cloud/deletion/guard.ts";
import {
  breakOffStreak,
  breakOffStreaks,
  describeOffWait,
  NO_OFF_STREAKS,
  observeOff,
  type OutOfServiceSettings,
} from "../../cloud/deletion/off_streaks.ts";
import type { ProvenOff } from "../../cloud/capabilities/proven_off.ts";
import type { Presence } from "../../cloud/provider.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { NodeContext } from "../context.ts";
import { toSighting } from "../fleet/fleet_member.ts";
import { FleetWatch } from "../fleet/fleet_watch.ts";
import { toIdentity } from "../identity.ts";
import { findRecord } from "../fleet/out_of_service.ts";
import type { Attachments } from "./attachments.ts";
import { isCandidate, mayBeTainted, type OutOfServiceVerdict } from "./plan.ts";

/** What an {@linkcode OutOfServiceWatch} works with. */
export interface OutOfServiceWatchOptions {
  readonly context: NodeContext;
  readonly provenOff: ProvenOff;
  readonly settings: OutOfServiceSettings;
  /** The settings of deletions as they are now: the absence of a machine is judged by them, and the limit is one. */
  readonly findDeletion: () => DeletionSettings;
  readonly attachments: Attachments;
}

/** An inventory that is older says nothing of what is true now. */
const INVENTORY_AGE_MS_MAX = 120_000;

const KEEP: OutOfServiceVerdict = { kind: "keep" };
const WORDS = {
  tooMany:
    "Too many machines are off or gone at once: no Node is taken out of service until fewer are",
  fewEnough: "Few enough machines are off or gone: Nodes may be taken out of service again",
};

/** Looks at the whole fleet, and judges single Nodes by what was seen. */
export class OutOfServiceWatch {
  readonly #context: NodeContext;
  readonly #provenOff: ProvenOff;
  readonly #fleet: FleetWatch;
  #settings: OutOfServiceSettings;
  #state = NO_OFF_STREAKS;
  /** Inventories up to then are another cloud's, or of other settings. Monotonic milliseconds. */
  #fromMs = -Infinity;

  readonly #findDeletion: () => DeletionSettings;
  #deletion: DeletionSettings;

  readonly #attachments: Attachments;

  constructor(options: OutOfServiceWatchOptions) {
    const { context, provenOff, settings, findDeletion, attachments } = options;
    this.#attachments = attachments;
    // A deletion waits for the taint, not the taint for itself.
    const { holds: _, ...own } = context;
    this.#context = own;
    this.#provenOff = provenOff;
    this.#settings = settings;
    this.#findDeletion = findDeletion;
    this.#deletion = findDeletion();
    this.#fleet = new FleetWatch(own, toAbsenceSettings(this.#deletion), {
      // Those whose kubelets are heard count, too: soon they are silent, or the cloud is wrong about them.
      isPending: (node, presence) => isCandidate(node) && this.#isShownOff(node, presence),
      words: WORDS,
    });
  }

  /** Judges by other settings from now on; every count starts from nothing. */
  reconfigure(settings: OutOfServiceSettings, options: { readonly isOtherCloud: boolean }): void {
    this.#settings = settings;
    this.#state = breakOffStreaks(this.#state);
    this.#deletion = this.#findDeletion();
    this.#fleet.reconfigure(toAbsenceSettings(this.#deletion), options);
    if (options.isOtherCloud) this.#fromMs = this.#context.clock.monotonic();
  }

  /** Remembers whose machines were seen, and which Nodes went, from now on. */
  follow(): () => void {
    return this.#fleet.standBy();
  }

  /** Takes a look at every Node, in memory. */
  look(): void {
    const { nodes, presences, source, clock } = this.#context;
    if (!nodes.synced) return;
    if (this.#findDeletion() !== this.#deletion) {
      this.reconfigure(this.#settings, { isOtherCloud: false });
    }
    this.#fleet.look();
    const off: string[] = [];
    for (const node of nodes.values()) {
      const { uid } = node.metadata;
      if (uid !== undefined && this.#isOff(node, presences.find(node))) off.push(uid);
    }
    const observedAtMs = source.current?.observedAtMs ?? -Infinity;
    const isGood = observedAtMs > this.#fromMs && source.lastError === undefined;
    const look = { off, observedAtMs: isGood ? observedAtMs : undefined };
    this.#state = observeOff(this.#state, { ...look, nowMs: clock.monotonic() });
  }

  /** Judges a Node by what the looks so far, and the inventory of now, show. */
  judge(node: Node): OutOfServiceVerdict {
    const { presences, source } = this.#context;
    const { uid } = node.metadata;
    const presence = presences.find(node);
    if (uid === undefined || presence.kind === "foreign") return KEEP;
    if ((source.ageMs ?? Infinity) > INVENTORY_AGE_MS_MAX || source.lastError) return KEEP;
    if (!this.#isOff(node, presence)) {
      // The guard may not have seen yet what memory shows.
      return toSighting(presence) === "missing" ? this.#judgeAbsence(node) : KEEP;
    }
    const waiting = describeOffWait(this.#state, uid, this.#settings);
    if (waiting !== undefined) return { kind: "waiting", message: waiting };
    const { isExceeded } = this.#fleet.read();
    return isExceeded ? this.#toExcess() : { kind: "confirm", why: "off" };
  }

  /** A Node is about to get the taint. */
  noteTaken(node: Node): void {
    this.#fleet.noteTaken(node);
  }

  /** Starts a Node's count from nothing: the cloud, asked directly, did not agree. */
  startAnew(node: Node): void {
    this.#fleet.startAnew(node);
    this.#state = breakOffStreak(this.#state, node.metadata.uid ?? "");
  }

  #judgeAbsence(node: Node): OutOfServiceVerdict {
    // The deletion of the Node does all that is left to do.
    const isFree = this.#attachments.list(node.metadata.name)?.size === 0;
    if (isFree && this.#deletion.enabled) return KEEP;
    const verdict = this.#fleet.judge(node);
    if (verdict.kind === "confirm") return { kind: "confirm", why: "gone" };
    if (verdict.kind !== "blocked") return verdict;
    return verdict.reason === "fleetLimit" ? this.#toExcess() : verdict;
  }

  #toExcess(): OutOfServiceVerdict {
    const { affected, limit, sizeAtStart } = this.#fleet.read();
    const message =
      `${affected} Nodes have machines that are off or gone, or were deleted lately; the limit is ${limit} of the ` +
      `${sizeAtStart} before: no Node is taken out of service until fewer are, or deletion.fleetShare is raised`;
    return { kind: "blocked", reason: "fleetLimit", message };
  }

  /** Whether a Node without the taint has a silent kubelet, and its machine is shown as off. */
  #isOff(node: Node, presence: Presence): boolean {
    return mayBeTainted(node) && this.#isShownOff(node, presence);
  }

  #isShownOff(node: Node, presence: Presence): boolean {
    const { current: inventory } = this.#context.source;
    // Of most Nodes the first look tells.
    if (presence.kind !== "present" || presence.instance.state !== "stopped") return false;
    if (inventory === undefined || findRecord(node)) return false;
    const labels = node.metadata.labels ?? {};
    return this.#provenOff.isShownOff({ inventory, node: toIdentity(node), labels });
  }
}

/** Whether Nodes may be deleted is another question. No part of the cloud may be lost. */
function toAbsenceSettings(deletion: DeletionSettings): DeletionSettings {
  return { ...deletion, enabled: true, whileOtherPartsAreLost: false };
}
