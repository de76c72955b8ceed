/**
 * Decides what the state of a machine means for its Node: pure and total, and nothing once it was applied.
 * @module
 */
import type { Verdict } from "../../cloud/deletion/guard.ts";
import type { Presence, UnknownReason } from "../../cloud/provider.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { toSighting } from "../fleet/fleet_member.ts";
import { isReady, isUninitialized } from "../identity.ts";
import type { Taints } from "../node_writer.ts";
import { SHUTDOWN_TAINT } from "./words.ts";

/** Why a Node that is not Ready is kept, although the cloud does not show its machine. */
export type BlockReason = "disabled" | "neverSeen" | "fleetLimit" | UnknownReason;

/** What to do with one Node now. */
export type LifecyclePlan =
  | { readonly kind: "nothing" }
  /** Write these taints, all of them; `isOff`: the shutdown taint is now among them. */
  | { readonly kind: "taint"; readonly taints: Taints; readonly isOff: boolean }
  /** Ask the cloud directly; delete the Node if it agrees. */
  | { readonly kind: "confirm" }
  /** Keep the Node, and say why. */
  | { readonly kind: "blocked"; readonly reason: BlockReason; readonly message: string };

const NOTHING: LifecyclePlan = { kind: "nothing" };

/** Why nothing is known about a machine, where a person needs to know the reason. */
const WORTH_TELLING: ReadonlySet<UnknownReason> = new Set([
  "notCovered",
  "undecodable",
  "ambiguous",
  "denied",
]);

/**
 * Plans one Node. A Ready one needs no answer of the cloud.
 *
 * @param verdict What the deletion guard says of the Node
 */
export function planLifecycle(node: Node, presence: Presence, verdict: Verdict): LifecyclePlan {
  // Both are another controller's: the cloud's it belongs to, or the one that initialises it.
  if (presence.kind === "foreign" || isUninitialized(node)) return NOTHING;
  const taints = node.spec?.taints ?? [];
  const others = taints.filter((taint) => !isShutdown(taint));
  const isTainted = others.length < taints.length;
  if (isReady(node)) return isTainted ? { kind: "taint", taints: others, isOff: false } : NOTHING;
  if (presence.kind === "present") {
    const isStopped = presence.instance.state === "stopped";
    if (!isStopped || isTainted) return NOTHING;
    return { kind: "taint", taints: [...taints, SHUTDOWN_TAINT], isOff: true };
  }
  // Without a provider ID nothing is proven; a Node on its way out needs no second deletion.
  if (!node.spec?.providerID || node.metadata.deletionTimestamp) return NOTHING;
  // The guard may not have seen yet what memory shows.
  const isMissing = toSighting(presence) === "missing";
  if (isMissing && verdict.kind === "confirm") return { kind: "confirm" };
  if (isMissing && verdict.kind === "blocked") return verdict;
  if (presence.kind === "unknown" && WORTH_TELLING.has(presence.reason)) {
    return { kind: "blocked", reason: presence.reason, message: presence.message };
  }
  return NOTHING;
}

function isShutdown({ key, effect }: Taints[number]): boolean {
  return key === SHUTDOWN_TAINT.key && effect === SHUTDOWN_TAINT.effect;
}
