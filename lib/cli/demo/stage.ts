/**
 * Who plays in the story of the demo, and how its steps wait for things to come true.
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

/** Who plays in the story. */
export interface Stage {
  readonly kubernetes: KubernetesSimulator;
  readonly cloud: XenOrchestraSimulator;
  readonly world: StoryWorld;
  readonly view: ClusterView;
  readonly kubelets: Kubelets;
  /** How careful the controller of the story is with deletions. */
  readonly deletion: DeletionSettings;
  readonly clock: Clock;
  /** Tells one line. */
  readonly tell: (line: string) => void;
  /**
   * How long one wait of a step may take, in milliseconds. Generous: a busy machine is no failure.
   *
   * @default {20_000}
   */
  readonly stepMsMax?: number;
}

/** One step of the story. */
export interface Step {
  readonly title: string;
  /** Lets it happen, and tells whether it came true. */
  readonly play: (stage: Stage, signal: AbortSignal) => Promise<boolean>;
}

/** Something that a Node must be; told the Node as the cluster shows it. */
export type Expectation = (node: Node, machine: DemoMachine) => boolean;

const STEP_MS_MAX = 20_000;
const POLL_MS = 50;

/** Waits until something is true of the cluster. Returns whether it came true in time. */
export function waitUntil(
  stage: Stage,
  signal: AbortSignal,
  holds: () => boolean,
): Promise<boolean> {
  return stage.view.waitFor(holds, stage.stepMsMax ?? STEP_MS_MAX, signal);
}

/** Waits until something is true of all these Nodes at once; never of one that is not in the world. */
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

/** How many inventories were taken: each asks once for the list of pools. */
export function countPasses({ cloud }: Pick<Stage, "cloud">): number {
  return cloud.requests.count("GET /pools");
}

/**
 * Lets time pass in which the controller might err: `ms` milliseconds and `passes` inventories.
 *
 * @returns Whether there were so many inventories before the step had to end
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
