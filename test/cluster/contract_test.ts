import { skipsCluster, startCluster, toContractServer } from "../support/process/cluster.ts";
import { describeKubernetesContract } from "../support/kube/contract/kubernetes.ts";

describeKubernetesContract("kube-apiserver", async () => toContractServer(await startCluster()), {
  skip: skipsCluster(),
  startTimeoutMs: 90_000,
});
