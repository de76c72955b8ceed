/**
 * What the steps of the demo work with, and how they wait for conditions.
 * @module
 */
import type { DeletionSettings } from "../../../cloud/deletion/guard.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Node } from "../../../kube/kinds/node.ts";
import type { DemoMachine } from "../../../simulator/demo_machine.ts";
import type { KubernetesSimulator } from "../../../simulator/kubernetes/mod.ts";
import type { DemoCloud } from "../cloud.ts";
import type { ClusterView } from "../cluster.ts";
import type { Kubelets } from "../kubelets.ts";

/** What the steps work with. */
export interface Stage {
  readonly kubernetes: KubernetesSimulator;
  readonly cloud: DemoCloud;
  readonly view: ClusterView;
  readonly kubelets: Kubelets;
  /** The settings of `deletion` in the demo. */
  readonly deletion: DeletionSettings;
  readonly clock: Clock;
  /** Prints one line. */
  readonly tell: (line: string) => void;
  /**
   * Longest wait of a step, in milliseconds; long, because the machine may be busy.
   *
   * @default {20_000}
   */
  readonly stepMsMax?: number;
}

/** One step of the demo. */
export interface Step {
  readonly title: string;
  /** Does it. Resolves with whether it succeeded. */
  readonly play: (stage: Stage, signal: AbortSignal) => Promise<boolean>;
}

/** Whether a Node is in the expected state. */
export type Expectation = (node: Node, machine: DemoMachine) => boolean;

const STEP_MS_MAX = 20_000;
const POLL_MS = 50;

/** Waits until a condition holds. Returns whether it did in time. */
export function waitUntil(
  stage: Stage,
  signal: AbortSignal,
  holds: () => boolean,
): Promise<boolean> {
  return stage.view.waitFor(holds, stage.stepMsMax ?? STEP_MS_MAX, signal);
}

/**
 * Waits until a condition of the cloud holds, of which the cluster shows nothing. Returns whether it did in time.
 *
 * @param holds Asked every now and then
 */
export async function waitForCloud(
  stage: Stage,
  signal: AbortSignal,
  holds: () => boolean,
): Promise<boolean> {
  const { clock, stepMsMax = STEP_MS_MAX } = stage;
  const startMs = clock.monotonic();
  while (!holds() && clock.monotonic() - startMs < stepMsMax) await clock.sleep(POLL_MS, signal);
  return holds();
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
  const { clock, cloud, stepMsMax = STEP_MS_MAX } = stage;
  const wanted = cloud.countPasses() + passes;
  const startMs = clock.monotonic();
  const elapsedMs = (): number => clock.monotonic() - startMs;
  const isDone = (): boolean => elapsedMs() >= ms && cloud.countPasses() >= wanted;
  while (!isDone() && elapsedMs() < stepMsMax) await clock.sleep(POLL_MS, signal);
  return isDone();
}
