/**
 * Asks the API server once for the hosts of a cluster, because the watch may not show yet what the last leader wrote.
 * @module
 */
import type { KubeClient } from "../../../kube/api/client.ts";
import { listAll } from "../../../kube/cache/list_all.ts";
import { type Key, toKey } from "../../../kube/cache/store.ts";
import { findDamage } from "../../../kube/kinds/shape.ts";
import { trimObject } from "../../../kube/kinds/trim.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE } from "../words.ts";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../../kube/kinds/bare_metal_host.ts";
import { hasSameLabels } from "./facts.ts";
import type { HostIndex } from "./host_index.ts";

const PAGE_LENGTH = 500;

/** What a {@linkcode FirstLook} needs. */
interface FirstLookOptions {
  readonly client: Pick<KubeClient, "list">;
  readonly index: Pick<HostIndex, "find" | "note">;
}

/**
 * Remembers which clusters were looked at. From then on, this process knows its own writes, and no other process writes
 * these labels.
 */
export class FirstLook {
  readonly #options: FirstLookOptions;
  readonly #seen = new Set<Key>();

  constructor(options: FirstLookOptions) {
    this.#options = options;
  }

  /**
   * Lists the hosts with the labels of a cluster, unless that was done before.
   *
   * @returns Whether a host has other labels than the watch showed: then decide again
   * @throws {KubeError} if the API server does not say
   */
  async take(cluster: Key, signal: AbortSignal): Promise<boolean> {
    if (this.#seen.has(cluster)) return false;
    let isNews = false;
    for (const host of await listHostsOf(cluster, this.#options.client, signal)) {
      isNews = this.#learn(host, cluster) || isNews;
    }
    this.#seen.add(cluster);
    return isNews;
  }

  /** Forgets a cluster that is gone. */
  forget(cluster: Key): void {
    this.#seen.delete(cluster);
  }

  #learn(host: BareMetalHost, cluster: Key): boolean {
    const known = this.#options.index.find(toKey(host));
    // A host that the watch does not show yet cannot be noted; its cluster hears of it when it does.
    if (
      known === undefined ||
      hasSameLabels(known.metadata.labels ?? {}, host.metadata.labels ?? {})
    ) {
      return false;
    }
    this.#options.index.note(known, host, cluster);
    return true;
  }
}

/**
 * The hosts with the labels of a cluster, as the API server has them now.
 *
 * @throws {KubeError} if the API server does not say
 */
export async function listHostsOf(
  cluster: Key,
  client: Pick<KubeClient, "list">,
  signal: AbortSignal,
): Promise<readonly BareMetalHost[]> {
  const [namespace = "", name = ""] = cluster.split("/");
  const labelSelector = `${CLUSTER_NAMESPACE}=${namespace},${CLUSTER_NAME}=${name}`;
  const query = { labelSelector, limit: PAGE_LENGTH };
  const { items } = await listAll(client, BARE_METAL_HOSTS, query, signal);
  return items
    .filter((host) => findDamage(BARE_METAL_HOSTS, host) === undefined)
    .map((host) => trimObject(BARE_METAL_HOSTS, host));
}
