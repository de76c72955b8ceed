/**
 * What happens in the life of a fleet, and how long it takes until its Nodes show it.
 * @module
 */
import type { KubernetesSimulator } from "../lib/simulator/kubernetes/mod.ts";
import type { DemoMachine, XenOrchestraSimulator } from "../lib/simulator/xenorchestra/mod.ts";

/** Seconds each thing took; `NaN` when it did not happen in time. */
export interface LifeFigures {
  /** From live migrations until the zone label is right, the slowest of some. */
  readonly migration: number;
  /** From a Node that ceases to be Ready, long after its VM was halted, until its taint. */
  readonly shutdown: number;
  /** From a VM that is deleted, its Node not Ready at the same moment, until the Node is deleted. */
  readonly deletion: number;
}

/** What experiments are made on. */
export interface Stage {
  readonly kubernetes: KubernetesSimulator;
  readonly cloud: XenOrchestraSimulator;
  readonly machines: readonly DemoMachine[];
}

const MIGRATIONS = 5;
/** So that they fall on different moments between two refreshes. */
const MIGRATION_GAP_MS = 7_000;
/** As long as the control plane waits for a kubelet. */
const GRACE_MS = 40_000;
const TIMEOUT_MS = 180_000;
const POLL_MS = 20;
const SHUTDOWN_TAINT = "node.cloudprovider.kubernetes.io/shutdown";

/** Lets every kubelet say once in `periodMs` that it is well. Ends with the process. */
export function keepHeartbeats({ kubernetes, machines }: Stage, periodMs: number): void {
  let at = 0;
  const gapMs = periodMs / machines.length;
  setInterval(
    () => {
      const machine = machines[at % machines.length];
      at += 1;
      if (machine) setReady(kubernetes, machine.nodeName, undefined);
    },
    Math.max(1, gapMs),
  );
}

/** Makes things happen, all at the same time, and waits for the Nodes to show them. */
export async function runExperiments(stage: Stage): Promise<LifeFigures> {
  const [halted, deleted, ...movers] = stage.machines;
  if (halted === undefined || deleted === undefined) throw new Error("too few machines");
  const [shutdown, deletion, ...migrations] = await Promise.all([
    measureShutdown(stage, halted),
    measureDeletion(stage, deleted),
    ...movers.slice(0, MIGRATIONS).map((mover, at) => measureMigration(stage, mover, at)),
  ]);
  return { shutdown, deletion, migration: Math.max(...migrations) };
}

async function measureMigration(stage: Stage, machine: DemoMachine, at: number): Promise<number> {
  const { kubernetes, cloud } = stage;
  await Bun.sleep(at * MIGRATION_GAP_MS);
  const vm = cloud.state.read("vms", machine.vmId);
  const target = cloud.state
    .list("hosts")
    .find((host) => host["$pool"] === vm?.["$pool"] && host.id !== vm?.["$container"]);
  if (target === undefined) throw new Error("there is no second host in the pool");
  cloud.state.migrateLive(machine.vmId, target.id);
  return await waitFor(() => {
    const text = JSON.stringify(kubernetes.objects.getNode(machine.nodeName)?.metadata ?? {});
    return text.includes(`"topology.kubernetes.io/zone":"${target.id}"`);
  });
}

async function measureShutdown(stage: Stage, machine: DemoMachine): Promise<number> {
  const { kubernetes, cloud } = stage;
  cloud.state.setPower(machine.vmId, "Halted");
  await Bun.sleep(GRACE_MS);
  setReady(kubernetes, machine.nodeName, "Unknown");
  return await waitFor(() =>
    JSON.stringify(kubernetes.objects.getNode(machine.nodeName)?.["spec"]).includes(SHUTDOWN_TAINT),
  );
}

async function measureDeletion(stage: Stage, machine: DemoMachine): Promise<number> {
  const { kubernetes, cloud } = stage;
  cloud.state.removeVm(machine.vmId);
  setReady(kubernetes, machine.nodeName, "Unknown");
  return await waitFor(() => kubernetes.objects.getNode(machine.nodeName) === undefined);
}

/** @param status Absent: the status that it has, with the time of now */
function setReady(
  kubernetes: KubernetesSimulator,
  name: string,
  status: "True" | "Unknown" | undefined,
): void {
  const node = kubernetes.objects.getNode(name);
  if (node === undefined) return;
  const { conditions = [] } = (node["status"] ?? {}) as { conditions?: Condition[] };
  const now = `${new Date().toISOString().slice(0, 19)}Z`;
  kubernetes.objects.patchNodeStatus(name, {
    conditions: conditions.map((one) => ({
      ...one,
      lastHeartbeatTime: now,
      ...(one["type"] === "Ready" && status !== undefined ? { status } : {}),
    })),
  });
}

type Condition = Record<string, string>;

/** Seconds until it is so. */
async function waitFor(isSo: () => boolean): Promise<number> {
  const startMs = performance.now();
  while (performance.now() - startMs < TIMEOUT_MS) {
    if (isSo()) return (performance.now() - startMs) / 1_000;
    await Bun.sleep(POLL_MS);
  }
  return Number.NaN;
}
