/**
 * A real kube-controller-manager: it makes ReplicaSets and Pods of Deployments, detaches volumes, and collects garbage.
 * @module
 */
import { access } from "node:fs/promises";
import { join } from "node:path";
import { type Cluster, kubeAssets } from "../cluster.ts";
import { type ServerProcess, startProcess } from "../server_process.ts";

/** Whether the folder in `KUBEBUILDER_ASSETS` has the program. */
export async function hasControllerManager(): Promise<boolean> {
  if (kubeAssets === undefined) return false;
  return await access(join(kubeAssets, "kube-controller-manager")).then(
    () => true,
    () => false,
  );
}

/** Starts it with these controllers and no others, as administrator of the cluster. It serves no port. */
export function startControllerManager(
  cluster: Cluster,
  controllers: readonly string[],
  more: readonly string[] = [],
): ServerProcess {
  const flags = [
    `--kubeconfig=${cluster.adminKubeconfigPath}`,
    `--controllers=${controllers.join(",")}`,
    "--leader-elect=false",
    "--secure-port=0",
    ...more,
  ];
  const log = join(cluster.folder, "kube-controller-manager.log");
  return startProcess(join(kubeAssets ?? "", "kube-controller-manager"), flags, log);
}
