/**
 * What the steps of the demo work with, and how they wait for conditions.
 * @module
 */
import type { DeletionSettings } from "../../../cloud/deletion/guard.ts";
import type { Node } from "../../../kube/kinds/node.ts";
import type { DemoMachine } from "../../../simulator/demo_machine.ts";
import type { KubernetesSimulator } from "../../../simulator/kubernetes/mod.ts";
import type { DemoCloud } from "../cloud.ts";
import type { ClusterView } from "../cluster.ts";
import type { Kubelets } from "../kubelets.ts";
import { type BareStage, becomes, type Step } from "../steps.ts";

/** What the steps work with. */
export interface Stage extends BareStage {
  readonly kubernetes: KubernetesSimulator;
  readonly cloud: DemoCloud;
  readonly view: ClusterView;
  readonly kubelets: Kubelets;
  /** The settings of `deletion` in the demo. */
  readonly deletion: DeletionSettings;
  /**
   * Longest wait of a step, in milliseconds; long, because the machine may be busy.
   *
   * @default {20_000}
   */
  readonly stepMsMax?: number;
}

/** One step of the demo on a cloud. */
export type CloudStep = Step<Stage>;

/** A cloud, and the steps that only this cloud has. */
export interface Setting {
  readonly cloud: DemoCloud;
  readonly steps: {
    /** How Nodes find machines that are hard to find. */
    readonly join: readonly CloudStep[];
    /** What changes while a machine runs. */
    readonly live: readonly CloudStep[];
    /** What happens to the volumes of a machine that dies; none for a cloud that cannot prove that a machine is off. */
    readonly volumes: readonly CloudStep[];
    /** What the load balancers of Services do; none for a cloud that has no load balancers. */
    readonly services: readonly CloudStep[];
  };
}

/** Whether a Node is in the expected state. */
export type Expectation = (node: Node, machine: DemoMachine) => boolean;

/** Waits until a condition of the cluster or the cloud holds. Returns whether it did in time. */
export function waitUntil(
  stage: Stage,
  signal: AbortSignal,
  holds: () => boolean,
): Promise<boolean> {
  return becomes(stage, signal, holds, stage.stepMsMax);
}

/** Waits until a condition holds for all these Nodes at the same time; a Node without a machine never meets it. */
export async function waitForNodes(
  stage: Stage,
  names: Iterable<string>,
  signal: AbortSignal,
  holds: Expectation,
): Promise<boolean> {
  const wanted = [...names];
  return await waitUntil(stage, signal, () =>
    wanted.every((name) => {
      const machine = findMachine(stage.cloud, name);
      const node = stage.view.nodes.get(name);
      return machine !== undefined && node !== undefined && holds(node, machine);
    }),
  );
}

/** The machine of a Node, the late one included. */
function findMachine(
  { machines, late }: Pick<DemoCloud, "machines" | "late">,
  name: string,
): DemoMachine | undefined {
  return late.nodeName === name ? late : machines.get(name);
}

/**
 * The machine of a Node of the story.
 *
 * @throws {RangeError} if there is none
 */
export function requireMachine(
  cloud: Pick<DemoCloud, "machines" | "late">,
  name: string,
): DemoMachine {
  const machine = findMachine(cloud, name);
  if (machine === undefined) throw new RangeError(`Cannot find the machine of Node "${name}"`);
  return machine;
}

/**
 * Waits for `ms` milliseconds and `passes` inventories, in which a wrong controller would act.
 *
 * @returns Whether there were so many inventories in time
 */
export async function letPass(
  stage: Stage,
  { ms, passes }: { readonly ms: number; readonly passes: number },
  signal: AbortSignal,
): Promise<boolean> {
  const { clock, cloud } = stage;
  const wanted = cloud.countPasses() + passes;
  const startMs = clock.monotonic();
  const isDone = (): boolean => clock.monotonic() - startMs >= ms && cloud.countPasses() >= wanted;
  return await becomes(stage, signal, isDone, stage.stepMsMax);
}
