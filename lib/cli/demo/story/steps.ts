/**
 * The story of the demo on any cloud: Nodes find their machines, a machine stops and starts again, the cloud hides
 * machines that run, and one machine is deleted.
 * @module
 */
import { isReady, isUninitialized } from "../../../controllers/identity.ts";
import { EVENT_WORDS } from "../../../controllers/node_lifecycle/words.ts";
import type { Node } from "../../../kube/kinds/node.ts";
import type { DemoMachine } from "../../../simulator/demo_machine.ts";
import type { DemoCloud } from "../cloud.ts";
import { hasShutdownTaint } from "../printer.ts";
import {
  type CloudStep,
  type Expectation,
  letPass,
  requireMachine,
  type Stage,
  waitForNodes,
  waitUntil,
} from "./stage.ts";

const isInitialised: Expectation = (node) => !isUninitialized(node);
const isIdentified: Expectation = (node, { vmId }) =>
  node.spec?.providerID?.endsWith(`/${vmId}`) === true;

/**
 * The steps, in order.
 *
 * @param own Those that only this cloud has
 */
export function toJoinSteps(
  { title, late }: Pick<DemoCloud, "title" | "late">,
  own: readonly CloudStep[],
): readonly CloudStep[] {
  return [
    {
      title: "Eight kubelets register their Nodes, each with the taint that waits for the cloud",
      play: (stage, signal) => {
        const { cloud, kubelets } = stage;
        for (const machine of cloud.machines.values()) kubelets.register(machine);
        return waitForNodes(stage, cloud.machines.keys(), signal, isInitialised);
      },
    },
    {
      title: "Every Node has the provider ID of its VM",
      play: (stage, signal) =>
        waitForNodes(stage, stage.cloud.machines.keys(), signal, isIdentified),
    },
    ...own,
    {
      title: `${late.nodeName} registers before ${title} lists its VM, and an Event says so`,
      play: async (stage, signal) => {
        const { kubelets, view } = stage;
        kubelets.register(late);
        const find = () => view.findEvent(late.nodeName, "NodeInitializationFailed");
        const isTold = await waitUntil(stage, signal, () => find() !== undefined);
        const node = view.nodes.get(late.nodeName);
        return isTold && node !== undefined && isUninitialized(node);
      },
    },
    {
      title: "The VM appears, and Landfall initialises the Node",
      play: (stage, signal) => {
        stage.cloud.addLate();
        return waitForNodes(
          stage,
          [late.nodeName],
          signal,
          (node, machine) => isInitialised(node, machine) && isIdentified(node, machine),
        );
      },
    },
  ];
}

const HALTED = "worker-4";

/** The steps, in order. */
export const POWER_STEPS: readonly CloudStep[] = [
  {
    title: `${HALTED} is halted: its Node is NotReady, gets the shutdown taint and keeps its labels`,
    play: async (stage, signal) => {
      const { cloud, kubelets } = stage;
      stage.tell(`  >  ${cloud.halt(requireMachine(cloud, HALTED))}, and its kubelet stops`);
      kubelets.silence(HALTED);
      return await waitForNodes(
        stage,
        [HALTED],
        signal,
        (node) => !isReady(node) && hasShutdownTaint(node) && cloud.isPlaced(node),
      );
    },
  },
  {
    title: `${HALTED} starts again: its Node is Ready, and the taint is removed`,
    play: async (stage, signal) => {
      const { cloud, kubelets } = stage;
      stage.tell(`  >  ${cloud.start(requireMachine(cloud, HALTED))}`);
      kubelets.reboot(HALTED);
      return await waitForNodes(
        stage,
        [HALTED],
        signal,
        (node) => isReady(node) && !hasShutdownTaint(node) && cloud.isPlaced(node),
      );
    },
  },
];

/** How long the machines are hidden, as a multiple of the hold-off. */
const PATIENCE = 1.3;
const DELETED = "worker-2";

/** The steps, in order. */
export function toLossSteps({ loss }: Pick<DemoCloud, "loss">): readonly CloudStep[] {
  return [
    { title: loss.title, play: hideMachines },
    { title: loss.endTitle, play: showMachines },
    {
      title: `The VM ${DELETED} is deleted: Landfall proves it, and deletes this Node only`,
      play: deleteMachine,
    },
  ];
}

async function hideMachines(stage: Stage, signal: AbortSignal): Promise<boolean> {
  const { cloud, kubelets, view, deletion } = stage;
  stage.tell(`  >  ${cloud.loss.begin(listSilent(cloud))}`);
  const { silent } = cloud.loss;
  const who = silent.length === 1 ? "kubelet" : "kubelets";
  const are = silent.length === 1 ? "is" : "are";
  stage.tell(`  >  a switch fails, too: the ${who} of ${silent.join(" and ")} ${are} silent`);
  for (const name of silent) kubelets.silence(name);
  const areSilent = await waitForNodes(stage, silent, signal, (node) => !isReady(node));
  const { reason } = EVENT_WORDS.deletionBlocked;
  const isTold = await waitUntil(stage, signal, () =>
    silent.every((name) => view.findEvent(name, reason)?.message?.includes(cloud.loss.why)),
  );
  if (!areSilent || !isTold) return false;
  const seconds = ((deletion.holdOffMs * PATIENCE) / 1_000).toFixed(1);
  stage.tell(
    `  >  ${seconds} s pass: longer than Landfall waits before it deletes a Node whose VM is gone`,
  );
  const patience = { ms: deletion.holdOffMs * PATIENCE, passes: deletion.confirmations };
  const isOver = await letPass(stage, patience, signal);
  const areMissing = !listSilent(cloud).some((machine) => cloud.isShown(machine));
  const areKept = silent
    .map((name) => view.nodes.get(name))
    .every((node) => node !== undefined && cloud.isPlaced(node));
  const isTainted = [...view.nodes.values()].some((node) => hasShutdownTaint(node));
  return isOver && areMissing && areKept && !isTainted && hasAll(stage) && isNoneDeleted(stage);
}

async function showMachines(stage: Stage, signal: AbortSignal): Promise<boolean> {
  const { cloud, kubelets, deletion } = stage;
  stage.tell(`  >  ${cloud.loss.end(listSilent(cloud))}`);
  for (const name of cloud.loss.silent) kubelets.resume(name);
  const areReady = await waitForNodes(
    stage,
    listNames(stage),
    signal,
    (node) => isReady(node) && !hasShutdownTaint(node),
  );
  const { confirmations } = deletion;
  const isSettled = areReady && (await letPass(stage, { ms: 0, passes: confirmations }, signal));
  return isSettled && hasAll(stage) && isNoneDeleted(stage);
}

async function deleteMachine(stage: Stage, signal: AbortSignal): Promise<boolean> {
  const { cloud, kubelets, view, clock, deletion } = stage;
  const findNode = (): Node | undefined => view.nodes.get(DELETED);
  stage.tell(`  >  ${cloud.title} deletes ${DELETED}`);
  cloud.remove(requireMachine(cloud, DELETED));
  kubelets.silence(DELETED);
  const isSilent = await waitForNodes(stage, [DELETED], signal, (node) => !isReady(node));
  const startMs = clock.monotonic();
  const isGone = isSilent && (await waitUntil(stage, signal, () => findNode() === undefined));
  const tookMs = clock.monotonic() - startMs;
  if (!isGone) return false;
  stage.tell(`  >  the Node was NotReady for ${(tookMs / 1_000).toFixed(1)} s before`);
  const { reason } = EVENT_WORDS.deleting;
  const isTold = (): boolean => view.findEvent(DELETED, reason) !== undefined;
  const others = listNames(stage).filter((name) => name !== DELETED);
  return (
    (await waitUntil(stage, signal, isTold)) &&
    // The first inventory without it may have started a moment earlier.
    tookMs >= deletion.holdOffMs * 0.9 &&
    others.every((name) => view.nodes.get(name) !== undefined) &&
    listDeleted(stage).size === 1
  );
}

function listSilent(cloud: DemoCloud): DemoMachine[] {
  return cloud.loss.silent.map((name) => requireMachine(cloud, name));
}

function listNames({ cloud }: Stage): string[] {
  return [...cloud.machines.keys(), cloud.late.nodeName];
}

function hasAll(stage: Stage): boolean {
  return listNames(stage).every((name) => stage.view.nodes.get(name) !== undefined);
}

function isNoneDeleted(stage: Stage): boolean {
  return listDeleted(stage).size === 0;
}

/** The Nodes that Landfall tried to delete. It tries again when another controller wrote to the Node meanwhile. */
function listDeleted({ kubernetes }: Stage): ReadonlySet<string> {
  const deletions = kubernetes.requests.entries.filter(
    ({ verb, resource }) => verb === "delete" && resource === "nodes",
  );
  return new Set(deletions.map(({ name }) => name));
}
