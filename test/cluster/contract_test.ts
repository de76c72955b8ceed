import { skipsCluster, startCluster } from "../support/process/cluster.ts";
import { describeKubernetesContract } from "../support/kube/contract_kubernetes.ts";

describeKubernetesContract(
  "kube-apiserver",
  async () => {
    const cluster = await startCluster();
    return {
      baseUrl: cluster.url,
      fetch: (path, init) => cluster.adminFetch(path, init),
      compact: () => cluster.compact(),
      stop: () => cluster.stop(),
    };
  },
  { skip: skipsCluster(), startTimeoutMs: 90_000 },
);
