/**
 * A real API server as the contract suite wants it.
 * @module
 */
import type { Cluster } from "../../process/cluster.ts";
import type { ContractServer } from "./client.ts";
import { CRDS_PATH, toCrd, toCrdPath } from "../kinds/crd.ts";

/** The cluster as an API server under contract; ending that ends the cluster. */
export function toContractServer(cluster: Cluster): ContractServer {
  return {
    baseUrl: cluster.url,
    fetch: (path, init) => cluster.adminFetch(path, init),
    compact: () => cluster.compact(),
    installKind: (kind) => cluster.create(CRDS_PATH, toCrd(kind)),
    removeKind: async (kind) => {
      await cluster.adminFetch(toCrdPath(kind), { method: "DELETE" });
    },
    stop: () => cluster.stop(),
  };
}
