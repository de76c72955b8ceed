/**
 * Plans what to do with a Node by the state of its machine. Pure and total. After a plan is applied, the next one is
 * empty.
 * @module
 */
import type { Verdict } from "../../cloud/deletion/guard.ts";
import type { Presence, UnknownReason } from "../../cloud/provider.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { hasProvableMachine, toSighting } from "../fleet/fleet_member.ts";
import { isReady, isUninitialized } from "../identity.ts";
import type { Taints } from "../node_context.ts";
import { SHUTDOWN_TAINT } from "./words.ts";

/** Why Landfall keeps a Node that is not Ready, although the cloud does not show its machine. */
type BlockReason = "disabled" | "neverSeen" | "fleetLimit" | UnknownReason;

/** What to do with one Node now. */
export type LifecyclePlan =
  | { readonly kind: "nothing" }
  /** Replace all taints by these. `isOff`: they include the shutdown taint. */
  | { readonly kind: "taint"; readonly taints: Taints; readonly isOff: boolean }
  /** Ask the cloud directly; delete the Node if it confirms that the machine is gone. */
  | { readonly kind: "confirm" }
  /** Keep the Node, and say why. */
  | { readonly kind: "blocked"; readonly reason: BlockReason; readonly message: string };

const NOTHING: LifecyclePlan = { kind: "nothing" };

/** Reasons for an unknown machine that an operator must learn. */
const REPORTED_REASONS: ReadonlySet<UnknownReason> = new Set([
  "notCovered",
  "undecodable",
  "ambiguous",
  "denied",
]);

/**
 * Plans one Node. A Ready Node needs no answer from the cloud.
 *
 * @param verdict The verdict of the deletion guard
 */
export function planLifecycle(node: Node, presence: Presence, verdict: Verdict): LifecyclePlan {
  // Another cloud's controller works on these.
  if (presence.kind === "foreign") return NOTHING;
  // Another controller initialises it. The guard judges it only if the settings include such Nodes.
  const isNew = isUninitialized(node);
  const taints = node.spec?.taints ?? [];
  const others = taints.filter((taint) => !isShutdown(taint));
  const isTainted = others.length < taints.length;
  if (isReady(node)) {
    return isTainted && !isNew ? { kind: "taint", taints: others, isOff: false } : NOTHING;
  }
  if (presence.kind === "present") {
    const isStopped = presence.instance.state === "stopped";
    if (isNew || !isStopped || isTainted) return NOTHING;
    return { kind: "taint", taints: [...taints, SHUTDOWN_TAINT], isOff: true };
  }
  // A Node that is being deleted needs no second deletion.
  if (!hasProvableMachine(node, presence) || node.metadata.deletionTimestamp) return NOTHING;
  // The verdict may be older than the inventory.
  if (toSighting(presence) === "missing") {
    return verdict.kind === "confirm" || verdict.kind === "blocked" ? verdict : NOTHING;
  }
  if (!isNew && presence.kind === "unknown" && REPORTED_REASONS.has(presence.reason)) {
    return { kind: "blocked", reason: presence.reason, message: presence.message };
  }
  return NOTHING;
}

function isShutdown({ key, effect }: Taints[number]): boolean {
  return key === SHUTDOWN_TAINT.key && effect === SHUTDOWN_TAINT.effect;
}
