/**
 * Looks at every Node in memory, and at none while nothing can have changed.
 * @module
 */
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import { isReady } from "../identity.ts";
import type { NodeContext } from "../node_loop.ts";
import type { Disagreements } from "./disagreements.ts";
import type { FleetWatch } from "./fleet_watch.ts";
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
  /** The instances that the last look saw. */
  #seen: Inventory["instances"] | undefined;

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
    const { current, lastError } = source;
    if (this.#isStale || lastError || current?.instances !== this.#seen) return false;
    return reconciler.areAllReady && fleet.isWell;
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
    this.#seen = source.current?.instances;
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
