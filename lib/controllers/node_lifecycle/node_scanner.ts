/**
 * Checks every Node in memory, and skips the check while nothing can have changed.
 * @module
 */
import type { ChangeHint } from "../../cloud/provider.ts";
import { isReady } from "../identity.ts";
import type { NodeContext } from "../context.ts";
import type { UnconfirmedAbsences } from "./unconfirmed_absences.ts";
import type { FleetWatch } from "../fleet/fleet_watch.ts";
import { planLifecycle } from "./plan.ts";
import type { LifecycleReconciler } from "./reconcile.ts";

/** The dependencies of a {@linkcode NodeScanner}. */
interface NodeScannerOptions extends Pick<NodeContext, "nodes" | "presences" | "source"> {
  readonly fleet: FleetWatch;
  readonly unconfirmed: UnconfirmedAbsences;
  readonly reconciler: Pick<LifecycleReconciler, "areAllReady">;
}

/** Finds the Nodes that need a reconcile. */
export class NodeScanner {
  readonly #options: NodeScannerOptions;
  /** Whether a Node changed since the last look. */
  #isStale = true;
  /** The revision of the inventory that the last look saw. */
  #seen: number | undefined;

  constructor(options: NodeScannerOptions) {
    this.#options = options;
  }

  /** Call it when a Node or the settings changed. */
  noteChange(): void {
    this.#isStale = true;
  }

  /**
   * Whether the next look would give the same result: all Nodes are Ready, no machine is missing, and nothing changed.
   */
  get isAtRest(): boolean {
    const { source, fleet, reconciler } = this.#options;
    const { revision, lastError } = source;
    if (this.#isStale || lastError || revision !== this.#seen) return false;
    return reconciler.areAllReady && fleet.hasNoLosses;
  }

  /** Records that instances which were read one by one were seen. They need no look at every Node. */
  noteSeen(changed: ChangeHint): void {
    const { nodes, presences, fleet } = this.#options;
    if (changed === "everything") return;
    for (const name of presences.listAffected(changed, nodes.values())) {
      const node = nodes.get(name);
      if (node && presences.find(node).kind === "present") fleet.noteSeen(node);
    }
  }

  /**
   * Looks at every Node.
   *
   * @param onDue Gets the name of each Node that needs a reconcile
   * @returns Whether the machine of a Node that is not Ready is missing
   */
  look(onDue: (name: string) => void): boolean {
    if (this.isAtRest) return false;
    const { nodes, presences, source, fleet, unconfirmed } = this.#options;
    this.#isStale = false;
    this.#seen = source.revision;
    const hasMissing = fleet.look();
    unconfirmed.dropResolved();
    for (const node of nodes.values()) {
      // Most Nodes need no plan, and this loop runs often.
      if (isReady(node) && !node.spec?.taints?.length) continue;
      const plan = planLifecycle(node, presences.find(node), fleet.judge(node));
      if (plan.kind !== "nothing") onDue(node.metadata.name);
    }
    return hasMissing;
  }
}
