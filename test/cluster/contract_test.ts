import { skipsCluster, startCluster } from "../support/process/cluster.ts";
import { toContractServer } from "../support/kube/contract/cluster.ts";
import { describeKubernetesContract } from "../support/kube/contract/kubernetes.ts";

describeKubernetesContract("kube-apiserver", async () => toContractServer(await startCluster()), {
  skip: skipsCluster(),
  startTimeoutMs: 90_000,
});
