/**
 * An API server in memory without a Node, and a file that leads processes to it.
 * @module
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../lib/core/clock.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import { toKubeconfig } from "./kubeconfig.ts";

/** Starts one. */
export async function startBareServer(): Promise<{
  readonly kubernetes: KubernetesSimulator;
  readonly folder: string;
  readonly kubeconfig: string;
  stop(): Promise<void>;
}> {
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  const folder = await mkdtemp(join(tmpdir(), "landfall-server-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, toKubeconfig(kubernetes.url));
  const stop = async (): Promise<void> => {
    await kubernetes.stop();
    await rm(folder, { recursive: true });
  };
  return { kubernetes, folder, kubeconfig, stop };
}
