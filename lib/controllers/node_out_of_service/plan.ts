/**
 * Decides about the out-of-service taint of one Node: pure and total, and nothing once it was applied.
 * @module
 */
import type { Presence } from "../../cloud/provider.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { isHeard, isReady, isUninitialized } from "../identity.ts";
import {
  DETACH_WAIT_MS,
  findRecord,
  isExcluded,
  isOutOfServiceByUs,
  listOutOfServiceTaints,
  type OutOfServiceRecord,
} from "../fleet/out_of_service.ts";

/** What was observed of a machine that does not run. A `message` is for people, without full stop. */
export type OutOfServiceVerdict =
  /** Its machine is neither shown as off nor missing, or its kubelet is heard. */
  | { readonly kind: "keep" }
  | { readonly kind: "waiting"; readonly message: string }
  | { readonly kind: "blocked"; readonly reason: string; readonly message: string }
  /** Ask the cloud directly. Nothing less than this allows the taint. */
  | { readonly kind: "confirm"; readonly why: "off" | "gone" };

/** What to do with one Node now. */
export type OutOfServicePlan =
  | { readonly kind: "nothing" }
  /** Ask the cloud directly; set the taint if it agrees. */
  | { readonly kind: "confirm"; readonly why: "off" | "gone" }
  /** Leave the Node without the taint, and say why. */
  | { readonly kind: "blocked"; readonly reason: string; readonly message: string }
  /** The machine runs again: see {@linkcode planReturn}. */
  | { readonly kind: "return"; readonly record: OutOfServiceRecord }
  /** A user or another program removed the taint, and the machine runs again: the record has no use any more. */
  | { readonly kind: "forget" }
  /** The Node is Ready and has a taint that Landfall did not set: say so. */
  | { readonly kind: "foreign" };

const NOTHING: OutOfServicePlan = { kind: "nothing" };

/**
 * Plans one Node.
 *
 * A taint that a user removed while the machine is off is not set again before the machine has run: a person who
 * knows better has the last word.
 */
export function planOutOfService(
  node: Node,
  presence: Presence,
  verdict: OutOfServiceVerdict,
): OutOfServicePlan {
  // Both are another controller's: the cloud's it belongs to, or the one that initialises it.
  if (presence.kind === "foreign" || isUninitialized(node)) return NOTHING;
  const record = findRecord(node);
  if (record !== undefined) {
    if (!isBack(node, presence)) return NOTHING;
    return isOutOfServiceByUs(node) ? { kind: "return", record } : { kind: "forget" };
  }
  const isForeign = listOutOfServiceTaints(node).length > 0;
  if (isReady(node)) return isForeign ? { kind: "foreign" } : NOTHING;
  if (isForeign || !mayBeTainted(node)) return NOTHING;
  return verdict.kind === "confirm" || verdict.kind === "blocked" ? verdict : NOTHING;
}

/** Whether nothing on a Node speaks against the taint. Its machine is not looked at. */
export function mayBeTainted(node: Node): boolean {
  return isCandidate(node) && !isHeard(node);
}

/** Whether a Node may have the taint some time, once its kubelet is silent. */
export function isCandidate(node: Node): boolean {
  const isOurs = !isUninitialized(node) && Boolean(node.spec?.providerID);
  const isGoing = node.metadata.deletionTimestamp !== undefined;
  return isOurs && !isGoing && !isExcluded(node);
}

/** Whether the machine of a Node runs: the cloud says so, or its kubelet is heard of. */
export function isBack(node: Node, presence: Presence): boolean {
  return isHeard(node) || (presence.kind === "present" && presence.instance.state === "running");
}

/** What is known of a Node whose machine runs again. */
export interface ReturnFacts {
  /** Whether its kubelet reports. It was silent when the taint was set. */
  readonly isHeard: boolean;
  /** `status.nodeInfo.bootID` as the API server has it now; empty if it is not known. */
  readonly bootId: string;
  /** How many volumes of before the start are still attached, or being detached; `undefined` if that is not known. */
  readonly attached: number | undefined;
  /** For how long the machine is known to run, in milliseconds. */
  readonly runningMs: number;
}

/** What becomes of the taint when the machine runs. */
export type ReturnPlan =
  | { readonly kind: "wait" }
  /** `isMistake`: the machine had never been off. */
  | { readonly kind: "remove"; readonly isMistake: boolean };

/** Plans the way back of a Node that Landfall took out of service. */
export function planReturn(record: OutOfServiceRecord, facts: ReturnFacts): ReturnPlan {
  const isSameBoot = record.bootId !== "" && facts.bootId === record.bootId;
  // Its volumes may be detached under it at this moment.
  if (facts.isHeard && isSameBoot) return { kind: "remove", isMistake: true };
  const hasReported = facts.isHeard || facts.bootId !== record.bootId;
  const isDetached = facts.attached === 0 || facts.runningMs >= DETACH_WAIT_MS;
  return hasReported && isDetached ? { kind: "remove", isMistake: false } : { kind: "wait" };
}
