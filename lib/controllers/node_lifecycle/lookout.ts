/**
 * Looks at every Node in memory, and at none while nothing can have changed.
 * @module
 */
import type { ChangeHint } from "../../cloud/provider.ts";
import { isReady } from "../identity.ts";
import type { NodeContext } from "../context.ts";
import type { Disagreements } from "./disagreements.ts";
import type { FleetWatch } from "../fleet/fleet_watch.ts";
import { planLifecycle } from "./plan.ts";
import type { LifecycleReconciler } from "./reconcile.ts";

/** What a {@linkcode Lookout} works with. */
export interface LookoutOptions extends Pick<NodeContext, "nodes" | "presences" | "source"> {
  readonly fleet: FleetWatch;
  readonly disagreements: Disagreements;
  readonly reconciler: Pick<LifecycleReconciler, "areAllReady">;
}

/** Finds the Nodes that need something. */
export class Lookout {
  readonly #options: LookoutOptions;
  /** Whether a Node changed since the last look. */
  #isStale = true;
  /** The revision of the inventory that the last look saw. */
  #seen: number | undefined;

  constructor(options: LookoutOptions) {
    this.#options = options;
  }

  /** A Node changed, or what Nodes are judged by. */
  noteChange(): void {
    this.#isStale = true;
  }

  /** Whether a look would see what the last one saw: all Nodes Ready, all machines there, and nothing changed. */
  get isAtRest(): boolean {
    const { source, fleet, reconciler } = this.#options;
    const { revision, lastError } = source;
    if (this.#isStale || lastError || revision !== this.#seen) return false;
    return reconciler.areAllReady && fleet.isWell;
  }

  /** Instances that were read by themselves need no look at every Node while all is well; but they were seen. */
  noteSeen(changed: ChangeHint): void {
    const { nodes, presences, fleet } = this.#options;
    if (changed === "everything") return;
    for (const name of presences.listTouched(changed, nodes.values())) {
      const node = nodes.get(name);
      if (node && presences.find(node).kind === "present") fleet.noteSeen(node);
    }
  }

  /**
   * Looks at every Node.
   *
   * @param onDue Called with the name of each that needs something
   * @returns Whether a Node that is not Ready misses its machine
   */
  look(onDue: (name: string) => void): boolean {
    if (this.isAtRest) return false;
    const { nodes, presences, source, fleet, disagreements } = this.#options;
    this.#isStale = false;
    this.#seen = source.revision;
    const hasMissing = fleet.look();
    disagreements.dropSettled();
    for (const node of nodes.values()) {
      // Of most Nodes there is nothing to plan, and this happens often.
      if (isReady(node) && !node.spec?.taints?.length) continue;
      const plan = planLifecycle(node, presences.find(node), fleet.judge(node));
      if (plan.kind !== "nothing") onDue(node.metadata.name);
    }
    return hasMissing;
  }
}
