/**
 * Holds all Services back until everything is known that a plan needs.
 * @module
 */
import type { LoadBalancers } from "../../../cloud/capabilities/load_balancers.ts";
import { abortable } from "../../../core/clock.ts";
import type { KubeObject } from "../../../kube/kinds/resource.ts";
import type { StoreReader } from "../../../kube/cache/store.ts";
import type { Service } from "../../../kube/kinds/service.ts";
import { type ClusterIdOptions, findClusterIds } from "./cluster_ids.ts";

/** What {@linkcode Readiness} needs. */
interface ReadinessOptions extends ClusterIdOptions {
  readonly nodes: Pick<StoreReader<KubeObject>, "catchUp">;
  readonly services: Pick<StoreReader<Service>, "catchUp" | "get">;
  readonly loadBalancers: Pick<LoadBalancers, "setClusterIds">;
}

/** Opens once: when Nodes and Services are as new as this leadership needs them, and the cluster has an ID. */
export class Readiness {
  readonly #options: ReadinessOptions;
  readonly #open = Promise.withResolvers<void>();
  #isOpen = false;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  /** Whether everything is known. */
  get synced(): boolean {
    return this.#isOpen;
  }

  /** Resolves when everything is known. @throws `signal.reason` when the signal aborts first */
  untilSynced(signal: AbortSignal): Promise<void> {
    return abortable(this.#open.promise, signal);
  }

  /** Finds out what is missing. Never rejects; ends early by the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const { services, nodes, loadBalancers } = this.#options;
    try {
      await Promise.all([services.catchUp(signal), nodes.catchUp(signal)]);
      loadBalancers.setClusterIds(await findClusterIds(this.#options, signal));
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    this.#isOpen = true;
    this.#open.resolve();
  }
}
