/**
 * What the steps of the demo work with, and how they wait for conditions.
 * @module
 */
import type { DeletionSettings } from "../../cloud/deletion/guard.ts";
import type { Clock } from "../../core/clock.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { KubernetesSimulator } from "../../simulator/kubernetes/mod.ts";
import type {
  DemoMachine,
  StoryWorld,
  XenOrchestraSimulator,
} from "../../simulator/xenorchestra/mod.ts";
import type { ClusterView } from "./cluster.ts";
import type { Kubelets } from "./kubelets.ts";

/** What the steps work with. */
export interface Stage {
  readonly kubernetes: KubernetesSimulator;
  readonly cloud: XenOrchestraSimulator;
  readonly world: StoryWorld;
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
      const machine = findMachine(stage, name);
      const node = stage.view.nodes.get(name);
      return machine !== undefined && node !== undefined && holds(node, machine);
    }),
  );
}

/** The machine of a Node, the late one included. */
export function findMachine({ world }: Stage, name: string): DemoMachine | undefined {
  const { machine } = world.late;
  return machine.nodeName === name ? machine : world.machines.get(name);
}

/** Number of inventories so far: each asks for the list of pools once. */
export function countPasses({ cloud }: Pick<Stage, "cloud">): number {
  return cloud.requests.count("GET /pools");
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
  const { clock, stepMsMax = STEP_MS_MAX } = stage;
  const wanted = countPasses(stage) + passes;
  const startMs = clock.monotonic();
  const elapsedMs = (): number => clock.monotonic() - startMs;
  const isDone = (): boolean => elapsedMs() >= ms && countPasses(stage) >= wanted;
  while (!isDone() && elapsedMs() < stepMsMax) await clock.sleep(POLL_MS, signal);
  return isDone();
}
