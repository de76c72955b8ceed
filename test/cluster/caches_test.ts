import { describeCaches } from "../support/kube/caches_story.ts";
import { toContractServer, skipsCluster, startCluster } from "../support/process/cluster.ts";

describeCaches(
  "kube-apiserver",
  async () => {
    const cluster = await startCluster();
    return {
      ...toContractServer(cluster),
      credentials: { kubeconfig: cluster.adminKubeconfigPath },
      restart: async () => {
        await cluster.stopApiServer("SIGKILL");
        await cluster.startApiServer();
      },
    };
  },
  { skip: skipsCluster(), startTimeoutMs: 90_000, restarts: true },
);
