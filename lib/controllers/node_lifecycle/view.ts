/**
 * Describes the lifecycle of Nodes for the debug pages and the metrics.
 * @module
 */
import type { Verdict } from "../../cloud/deletion/guard.ts";
import type { ReconcileOutcome } from "../../engine/workers.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { readyStatus } from "../identity.ts";
import type { NodeContext } from "../context.ts";
import type { UnconfirmedAbsences } from "./unconfirmed_absences.ts";
import type { FleetWatch } from "../fleet/fleet_watch.ts";
import { planLifecycle } from "./plan.ts";

/** What the debug pages show about one Node. */
export interface LifecycleReport {
  /** Status of the condition Ready. */
  readonly ready: string;
  /** How far a deletion is, and what it waits for. Absent while the machine is present. */
  readonly deletion?: {
    readonly state: Exclude<Verdict["kind"], "keep"> | "unconfirmed";
    readonly reason?: string;
    readonly message?: string;
  };
}

/** The sources of a {@linkcode LifecycleView}. */
interface LifecycleViewOptions extends Pick<NodeContext, "nodes" | "presences"> {
  readonly fleet: FleetWatch;
  readonly unconfirmed: UnconfirmedAbsences;
  /** Finds the last reconcile of a Node. */
  readonly findOutcome: (name: string) => ReconcileOutcome | undefined;
}

/** Describes Nodes from memory. */
export class LifecycleView {
  readonly #options: LifecycleViewOptions;

  constructor(options: LifecycleViewOptions) {
    this.#options = options;
  }

  /** Describes a Node for the debug pages. */
  describe(node: Node): LifecycleReport {
    const ready = readyStatus(node);
    const deletion = this.#describeDeletion(node);
    return deletion ? { ready, deletion } : { ready };
  }

  /** Lists one reason for each Node that Landfall keeps although the cloud does not show its machine. */
  *listBlocked(): Iterable<string> {
    for (const node of this.#options.nodes.values()) {
      const { state, reason = state } = this.#describeDeletion(node) ?? {};
      if (reason !== undefined && (state === "blocked" || state === "unconfirmed")) yield reason;
    }
  }

  #describeDeletion(node: Node): LifecycleReport["deletion"] {
    const { presences, fleet, unconfirmed, findOutcome } = this.#options;
    const { name } = node.metadata;
    const presence = presences.find(node);
    if (presence.kind === "present") return undefined;
    const verdict = fleet.judge(node);
    const plan = planLifecycle(node, presence, verdict);
    if (plan.kind === "blocked") {
      return { state: "blocked", reason: plan.reason, message: plan.message };
    }
    const answer = unconfirmed.find(name);
    if (answer !== undefined) return { state: "unconfirmed", message: answer };
    if (verdict.kind === "keep") return undefined;
    if (verdict.kind === "confirm") {
      const failure = findOutcome(name)?.error;
      return { state: "confirm", message: failure ?? "Landfall asks the cloud to confirm it" };
    }
    return { state: verdict.kind, reason: verdict.reason, message: verdict.message };
  }
}
