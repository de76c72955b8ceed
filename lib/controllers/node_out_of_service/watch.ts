/**
 * Holds the state of the guards for the out-of-service taint, and reports the Nodes to them.
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
} from "../../cloud/deletion/streak.ts";
import type { ProvenOff } from "../../cloud/capabilities/proven_off.ts";
import type { Presence } from "../../cloud/provider.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { NodeContext } from "../node_context.ts";
import { toSighting } from "../fleet/fleet_member.ts";
import { FleetWatch } from "../fleet/fleet_watch.ts";
import { toIdentity } from "../identity.ts";
import { findRecord } from "../fleet/out_of_service.ts";
import { isCandidate, mayBeTainted, needsVerdict, type OutOfServiceVerdict } from "./plan.ts";
import type { Volumes } from "./volumes.ts";

/** The dependencies of an {@linkcode OutOfServiceWatch}. */
interface OutOfServiceWatchOptions {
  readonly context: NodeContext;
  readonly provenOff: ProvenOff;
  readonly settings: OutOfServiceSettings;
  /**
   * Returns the current deletion settings. They decide when a machine is gone; both controllers share the fleet limit.
   */
  readonly findDeletion: () => DeletionSettings;
  readonly volumes: Volumes;
}

/** An older inventory says nothing about the current state. */
const INVENTORY_AGE_MS_MAX = 120_000;

const KEEP: OutOfServiceVerdict = { kind: "keep" };
const WORDS = {
  tooMany:
    "Too many machines are off or gone at once; Landfall takes no Node out of service until fewer are",
  fewEnough: "Few enough machines are off or gone; Landfall may take Nodes out of service again",
};

/** Looks at the whole fleet, and judges single Nodes by these looks. */
export class OutOfServiceWatch {
  readonly #context: NodeContext;
  readonly #provenOff: ProvenOff;
  readonly #fleet: FleetWatch;
  #settings: OutOfServiceSettings;
  #state = NO_OFF_STREAKS;
  /** Inventories up to this time belong to another cloud or to other settings. Monotonic milliseconds. */
  #fromMs = -Infinity;

  readonly #findDeletion: () => DeletionSettings;
  #deletion: DeletionSettings;

  readonly #volumes: Volumes;

  constructor(options: OutOfServiceWatchOptions) {
    const { context, provenOff, settings, findDeletion, volumes } = options;
    this.#volumes = volumes;
    // Deletions wait for the taint. The taint must not wait for itself.
    const { holds: _, ...own } = context;
    this.#context = own;
    this.#provenOff = provenOff;
    this.#settings = settings;
    this.#findDeletion = findDeletion;
    this.#deletion = findDeletion();
    this.#fleet = new FleetWatch(own, toAbsenceSettings(this.#deletion), {
      // Nodes whose kubelets report count, too: the kubelets may soon be silent, or the cloud may be wrong about these
      // Nodes.
      isPending: (node, presence) => isCandidate(node) && this.#isShownOff(node, presence),
      words: WORDS,
    });
  }

  /** Uses other settings from now on. Every count starts from zero. */
  reconfigure(settings: OutOfServiceSettings, options: { readonly isOtherCloud: boolean }): void {
    this.#settings = settings;
    this.#state = breakOffStreaks(this.#state);
    this.#deletion = this.#findDeletion();
    this.#fleet.reconfigure(toAbsenceSettings(this.#deletion), options);
    if (options.isOtherCloud) this.#fromMs = this.#context.clock.monotonic();
  }

  /** Records from now on which machines were seen, and which Nodes were deleted. Returns a function that ends this. */
  follow(): () => void {
    return this.#fleet.standBy();
  }

  /** Looks at every Node, in memory. */
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

  /** Judges a Node by the looks so far and the current inventory. */
  judge(node: Node): OutOfServiceVerdict {
    const { presences, source } = this.#context;
    const { uid } = node.metadata;
    const presence = presences.find(node);
    if (uid === undefined || presence.kind === "foreign") return KEEP;
    if ((source.ageMs ?? Infinity) > INVENTORY_AGE_MS_MAX || source.lastError) return KEEP;
    if (!this.#isOff(node, presence)) {
      // The looks so far may be older than the inventory.
      const isMissing = toSighting(presence) === "missing";
      return isMissing && needsVerdict(node) ? this.#judgeAbsence(node) : KEEP;
    }
    const waiting = describeOffWait(this.#state, uid, this.#settings);
    if (waiting !== undefined) return { kind: "waiting", message: waiting };
    const { isExceeded } = this.#fleet.read();
    return isExceeded ? this.#toExcess() : { kind: "confirm", why: "off" };
  }

  /** Records that a Node is about to get the taint. */
  noteOutOfService(node: Node): void {
    this.#fleet.noteOutOfService(node);
  }

  /** Starts the count of a Node from zero, because the cloud did not confirm it, or the kubelet reports. */
  restartCount(node: Node): void {
    this.#fleet.restartCount(node);
    this.#state = breakOffStreak(this.#state, node.metadata.uid ?? "");
  }

  #judgeAbsence(node: Node): OutOfServiceVerdict {
    // Without attached volumes, the deletion of the Node is enough.
    const isFree = this.#volumes.list(node.metadata.name)?.size === 0;
    if (isFree && this.#deletion.enabled) return KEEP;
    const verdict = this.#fleet.judge(node);
    if (verdict.kind === "confirm") return { kind: "confirm", why: "gone" };
    if (verdict.kind !== "blocked") return verdict;
    return verdict.reason === "fleetLimit" ? this.#toExcess() : verdict;
  }

  #toExcess(): OutOfServiceVerdict {
    const { affected, limit, sizeAtStart } = this.#fleet.read();
    const message =
      `${affected} Nodes have machines that are off or gone, or were deleted recently, but the limit is ${limit} ` +
      "of the " +
      `${sizeAtStart} before: Landfall takes no Node out of service until fewer are affected, or you raise ` +
      "deletion.fleetShare";
    return { kind: "blocked", reason: "fleetLimit", message };
  }

  /** Whether a Node without the taint has a silent kubelet, and the cloud shows its machine as off. */
  #isOff(node: Node, presence: Presence): boolean {
    return mayBeTainted(node) && this.#isShownOff(node, presence);
  }

  #isShownOff(node: Node, presence: Presence): boolean {
    const { current: inventory } = this.#context.source;
    // For most Nodes the first condition decides.
    if (presence.kind !== "present" || presence.instance.state !== "stopped") return false;
    if (inventory === undefined || findRecord(node)) return false;
    const labels = node.metadata.labels ?? {};
    return this.#provenOff.isShownOff({ inventory, node: toIdentity(node), labels });
  }
}

/** The taint does not depend on `enabled`. No part of the cloud may be lost. */
function toAbsenceSettings(deletion: DeletionSettings): DeletionSettings {
  const never = { whileOtherPartsAreLost: false, includesUninitialized: false };
  return { ...deletion, ...never, enabled: true };
}
