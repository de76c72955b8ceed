import { skipsCluster, startCluster } from "../support/process/cluster.ts";
import { CRDS_PATH, toCrd, toCrdPath } from "../support/kube/crd.ts";
import { describeKubernetesContract } from "../support/kube/contract_kubernetes.ts";

const DELETE = { method: "DELETE" } as const;

describeKubernetesContract(
  "kube-apiserver",
  async () => {
    const cluster = await startCluster();
    return {
      baseUrl: cluster.url,
      fetch: (path, init) => cluster.adminFetch(path, init),
      compact: () => cluster.compact(),
      installKind: (kind) => cluster.create(CRDS_PATH, toCrd(kind)),
      removeKind: async (kind) => void (await cluster.adminFetch(toCrdPath(kind), DELETE)),
      stop: () => cluster.stop(),
    };
  },
  { skip: skipsCluster(), startTimeoutMs: 90_000 },
);
