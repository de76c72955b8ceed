/**
 * The story of the demo: steps that must come true, told in plain lines.
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { Node } from "../kube/resource.ts";
import type { KubernetesSimulator } from "../simulator/kubernetes/mod.ts";
import type {
  DemoMachine,
  StoryWorld,
  XenOrchestraSimulator,
} from "../simulator/xenorchestra/mod.ts";
import { type ClusterView, toRegisteredNode } from "./demo_cluster.ts";

/** Who plays in the story. */
export interface Stage {
  readonly kubernetes: KubernetesSimulator;
  readonly cloud: XenOrchestraSimulator;
  readonly world: StoryWorld;
  readonly view: ClusterView;
  readonly clock: Clock;
  /** Tells one line. */
  readonly tell: (line: string) => void;
  /** How long a step may take, in milliseconds. Generous: a demo on a busy machine is no failure. @default {20_000} */
  readonly stepMsMax?: number;
}

interface Step {
  readonly title: string;
  /** Lets it happen, and tells whether it came true. */
  readonly play: (stage: Stage, signal: AbortSignal) => Promise<boolean>;
}

const STEP_MS_MAX = 20_000;
const TAINT = "node.cloudprovider.kubernetes.io/uninitialized";
const NAME_LABEL = "vm.k8s.xenorchestra/name_label";

const STEPS: readonly Step[] = [
  {
    title: "Eight kubelets register their Nodes; each waits, tainted, for its cloud",
    play: async (stage, signal) => {
      for (const machine of stage.world.machines.values()) register(stage, machine);
      return await waitAll(stage, signal, (node) => isInitialised(node));
    },
  },
  {
    title: "Every Node names the virtual machine it runs on",
    play: (stage, signal) =>
      waitAll(
        stage,
        signal,
        (node, { vmId }) => node.spec?.providerID?.endsWith(`/${vmId}`) === true,
      ),
  },
  {
    title: "worker-uefi was found although its firmware reports the UUID byte-swapped",
    play: (stage, signal) =>
      waitOne(
        stage,
        "worker-uefi",
        signal,
        (node, { vmId }) => node.status?.nodeInfo?.systemUUID !== vmId && isInitialised(node),
      ),
  },
  {
    title: 'The machine "nœud-1" has no legal label for a name, and joined all the same',
    play: (stage, signal) =>
      waitOne(
        stage,
        "noeud-1",
        signal,
        (node) => node.metadata.labels?.[NAME_LABEL] === "n-ud-1" && isInitialised(node),
      ),
  },
  {
    title: "worker-late registers before Xen Orchestra shows its machine, and an Event says so",
    play: async (stage, signal) => {
      register(stage, stage.world.late.machine);
      const find = () => stage.view.findEvent("worker-late", "NodeInitializationFailed");
      const warned = await stage.view.waitFor(() => find() !== undefined, toStepMs(stage), signal);
      return warned && !isInitialised(stage.view.nodes.get("worker-late"));
    },
  },
  {
    title: "Its machine appears, and the Node is initialised by itself",
    play: (stage, signal) => {
      stage.cloud.state.addVm(stage.world.late.options);
      return waitFor(stage, stage.world.late.machine, signal, (node, { vmId }) => {
        return isInitialised(node) && node.spec?.providerID?.endsWith(`/${vmId}`) === true;
      });
    },
  },
];

/** Tells what becomes of Nodes, and the Warnings about them, as the cluster shows it. Returns what ends that. */
export function narrate({ view, tell }: Pick<Stage, "view" | "tell">): () => void {
  const unsubscribe = [
    view.nodes.subscribe((name, before, after) => {
      if (after === undefined) return tell(`  -  ${name} is deleted`);
      if (before === undefined) return tell(`  +  ${name} registers, system UUID ${toUuid(after)}`);
      if (!isInitialised(before) && isInitialised(after))
        tell(`  =  ${name} is ${toSummary(after)}`);
    }),
    view.events.subscribe((_key, before, after) => {
      if (after?.type !== "Warning" || before !== undefined) return;
      tell(`  !  ${after.involvedObject.name}: ${after.reason}: ${after.message}`);
    }),
  ];
  return () => {
    for (const end of unsubscribe) end();
  };
}

function toUuid(node: Node): string {
  return node.status?.nodeInfo?.systemUUID ?? "unknown";
}

function toSummary({ spec, metadata: { labels = {} } }: Node): string {
  const type = labels["node.kubernetes.io/instance-type"];
  const pool = labels["topology.k8s.xenorchestra/pool_name_label"];
  const host = labels["topology.k8s.xenorchestra/host_name_label"];
  return `${spec?.providerID}, ${type} on ${pool}/${host}, named ${labels[NAME_LABEL]}`;
}

/**
 * Plays the story to its end.
 *
 * @returns Whether every step came true
 */
export async function playStory(stage: Stage, signal: AbortSignal): Promise<boolean> {
  let isTrue = true;
  for (const [at, { title, play }] of STEPS.entries()) {
    stage.tell(`\n[${at + 1}/${STEPS.length}] ${title}`);
    const cameTrue = await play(stage, signal);
    stage.tell(cameTrue ? "     so it is" : "     NO: it did not come true");
    isTrue &&= cameTrue;
  }
  return isTrue;
}

function register({ kubernetes, clock }: Stage, machine: DemoMachine): void {
  kubernetes.objects.createNode({
    ...toRegisteredNode(machine, new Date(clock.now()).toISOString()),
  });
}

function toStepMs({ stepMsMax = STEP_MS_MAX }: Stage): number {
  return stepMsMax;
}

function isInitialised(node: Node | undefined): boolean {
  return node !== undefined && node.spec?.taints?.some(({ key }) => key === TAINT) !== true;
}

type Condition = (node: Node, machine: DemoMachine) => boolean;

async function waitAll(stage: Stage, signal: AbortSignal, holds: Condition): Promise<boolean> {
  const all = (): boolean =>
    [...stage.world.machines.values()].every((machine) => {
      const node = stage.view.nodes.get(machine.nodeName);
      return node !== undefined && holds(node, machine);
    });
  return await stage.view.waitFor(all, toStepMs(stage), signal);
}

function waitOne(
  stage: Stage,
  name: string,
  signal: AbortSignal,
  holds: Condition,
): Promise<boolean> {
  const machine = stage.world.machines.get(name);
  return machine ? waitFor(stage, machine, signal, holds) : Promise.resolve(false);
}

async function waitFor(
  stage: Stage,
  machine: DemoMachine,
  signal: AbortSignal,
  holds: Condition,
): Promise<boolean> {
  const check = (): boolean => {
    const node = stage.view.nodes.get(machine.nodeName);
    return node !== undefined && holds(node, machine);
  };
  return await stage.view.waitFor(check, toStepMs(stage), signal);
}
