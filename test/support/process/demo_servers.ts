/**
 * The world of the demo on simulated servers, with a kubeconfig: what a command that looks once needs.
 * @module
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toRegisteredNode } from "../../../lib/cli/demo/cluster.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { toKubeconfig } from "./kubeconfig.ts";

/** The token in the kubeconfig; no command may print it. */
export const KUBE_TOKEN = "kub3-t0ken";

/** Users of Xen Orchestra that can sign in with a password. */
type Users = NonNullable<Parameters<typeof startXenOrchestraSimulator>[0]["users"]>;

/** The servers, with the Nodes of the demo registered. */
export interface DemoServers {
  readonly kubernetes: KubernetesSimulator;
  readonly cloud: XenOrchestraSimulator;
  /** For files of the test. */
  readonly folder: string;
  /** Path of a kubeconfig for the simulated API server. */
  readonly kubeconfig: string;
  /** Ends the servers and removes the folder. */
  stop(): Promise<void>;
}

/** Starts the servers. @param users None by default */
export async function startDemoServers(users?: Users): Promise<DemoServers> {
  const clock = systemClock;
  const kubernetes = startKubernetesSimulator({ clock });
  const { world, machines } = createDemoWorld();
  const cloud = await startXenOrchestraSimulator({ clock, world, ...(users && { users }) });
  for (const machine of machines.values()) {
    kubernetes.objects.createNode({ ...toRegisteredNode(machine, "2026-01-01T00:00:00Z") });
  }
  const folder = await mkdtemp(join(tmpdir(), "landfall-demo-servers-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, toKubeconfig(kubernetes.url, { user: { token: KUBE_TOKEN } }));
  const stop = async (): Promise<void> => {
    await Promise.all([kubernetes.stop(), cloud.stop(), rm(folder, { recursive: true })]);
  };
  return { kubernetes, cloud, folder, kubeconfig, stop };
}
