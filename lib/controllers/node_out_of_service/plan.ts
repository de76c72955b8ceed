/**
 * Plans the out-of-service taint of one Node. Pure and total. After a plan is applied, the next one is empty.
 * @module
 */
import type { Presence } from "../../cloud/provider.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { isKubeletReporting, isReady, isUninitialized } from "../identity.ts";
import {
  DETACH_WAIT_MS,
  findRecord,
  isExcluded,
  isOutOfServiceByUs,
  listOutOfServiceTaints,
  type OutOfServiceRecord,
} from "../fleet/out_of_service.ts";

/** The result of the observations of a machine. A `message` is for operators, without full stop. */
export type OutOfServiceVerdict =
  /** The cloud shows its machine neither as off nor as missing, or its kubelet reports. */
  | { readonly kind: "keep" }
  | { readonly kind: "waiting"; readonly message: string }
  | { readonly kind: "blocked"; readonly reason: string; readonly message: string }
  /** Ask the cloud directly. No other verdict allows the taint. */
  | { readonly kind: "confirm"; readonly why: "off" | "gone" };

/** What to do with one Node now. */
export type OutOfServicePlan =
  | { readonly kind: "nothing" }
  /** Ask the cloud directly; set the taint if it confirms the verdict. */
  | { readonly kind: "confirm"; readonly why: "off" | "gone" }
  /** Do not set the taint, and report why. */
  | { readonly kind: "blocked"; readonly reason: string; readonly message: string }
  /** The machine runs again: see {@linkcode planReturn}. */
  | { readonly kind: "return"; readonly record: OutOfServiceRecord }
  /** A user or another program removed the taint while the machine is off: write that into the record. */
  | { readonly kind: "release" }
  /** A user or another program removed the taint, and the machine runs again: remove the record. */
  | { readonly kind: "forget" }
  /** The Node is Ready and has a taint that Landfall did not set: report it. */
  | { readonly kind: "foreign" };

const NOTHING: OutOfServicePlan = { kind: "nothing" };

/**
 * Plans one Node.
 *
 * If a user removes the taint while the machine is off, Landfall does not set it again before the machine has run. The
 * user decides. If the user sets it again, it is not ours.
 */
export function planOutOfService(
  node: Node,
  presence: Presence,
  verdict: OutOfServiceVerdict,
): OutOfServicePlan {
  // Another cloud's controller, or the controller that initialises Nodes, works on these.
  if (presence.kind === "foreign" || isUninitialized(node)) return NOTHING;
  const record = findRecord(node);
  if (record !== undefined) {
    const isOurs = isOutOfServiceByUs(node);
    if (isRunningAgain(node, presence))
      return isOurs ? { kind: "return", record } : { kind: "forget" };
    return isOurs || record.isReleased ? NOTHING : { kind: "release" };
  }
  const isForeign = listOutOfServiceTaints(node).length > 0;
  if (isReady(node)) return isForeign ? { kind: "foreign" } : NOTHING;
  if (isForeign || !mayBeTainted(node)) return NOTHING;
  return verdict.kind === "confirm" || verdict.kind === "blocked" ? verdict : NOTHING;
}

/** Whether the Node itself allows the taint. Does not look at its machine. */
export function mayBeTainted(node: Node): boolean {
  return isCandidate(node) && !isKubeletReporting(node);
}

/** Whether the plan of a Node depends on a verdict about its machine: it may get the taint, and has none yet. */
export function needsVerdict(node: Node): boolean {
  return (
    mayBeTainted(node) &&
    findRecord(node) === undefined &&
    listOutOfServiceTaints(node).length === 0
  );
}

/** Whether a Node may get the taint if its kubelet becomes silent. */
export function isCandidate(node: Node): boolean {
  const isOurs = !isUninitialized(node) && Boolean(node.spec?.providerID);
  const isBeingDeleted = node.metadata.deletionTimestamp !== undefined;
  return isOurs && !isBeingDeleted && !isExcluded(node);
}

/** Whether the machine of a Node runs: the cloud says so, or its kubelet reports. */
export function isRunningAgain(node: Node, presence: Presence): boolean {
  return (
    isKubeletReporting(node) ||
    (presence.kind === "present" && presence.instance.state === "running")
  );
}

/** Facts about a Node whose machine runs again. */
export interface ReturnFacts {
  /** Whether its kubelet reports. It was silent when Landfall set the taint. */
  readonly isKubeletReporting: boolean;
  /** Current `status.nodeInfo.bootID` from the API server; empty if it is not known. */
  readonly bootId: string;
  /** Number of volumes from before the start that are still attached or being detached; `undefined` if not known. */
  readonly attached: number | undefined;
  /** How long Landfall has seen the machine running, in milliseconds. */
  readonly runningMs: number;
}

/** What to do with the taint when the machine runs. */
type ReturnPlan =
  | { readonly kind: "wait" }
  /** `isMistake`: the machine was never off. */
  | { readonly kind: "remove"; readonly isMistake: boolean };

/** Plans when to remove the taint from a Node that Landfall took out of service. */
export function planReturn(record: OutOfServiceRecord, facts: ReturnFacts): ReturnPlan {
  const isSameBoot = record.bootId !== "" && facts.bootId === record.bootId;
  // Remove it at once: Kubernetes may be detaching the volumes of a running machine.
  if (facts.isKubeletReporting && isSameBoot) return { kind: "remove", isMistake: true };
  const hasReported = facts.isKubeletReporting || facts.bootId !== record.bootId;
  const isDetached = facts.attached === 0 || facts.runningMs >= DETACH_WAIT_MS;
  return hasReported && isDetached ? { kind: "remove", isMistake: false } : { kind: "wait" };
}
