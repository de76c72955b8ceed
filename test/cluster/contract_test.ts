import { skipsCluster, startCluster } from "../support/process/cluster.ts";
import { toContractServer } from "../support/kube/contract_cluster.ts";
import { describeKubernetesContract } from "../support/kube/contract_kubernetes.ts";

describeKubernetesContract("kube-apiserver", async () => toContractServer(await startCluster()), {
  skip: skipsCluster(),
  startTimeoutMs: 90_000,
});
