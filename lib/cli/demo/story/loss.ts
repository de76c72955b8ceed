/**
 * Last part of the demo's story: the cloud hides machines that run, and one machine is deleted.
 * @module
 */
import { isReady } from "../../../controllers/identity.ts";
import { EVENT_WORDS } from "../../../controllers/node_lifecycle/words.ts";
import type { Node } from "../../../kube/kinds/node.ts";
import type { DemoMachine } from "../../../simulator/demo_machine.ts";
import type { DemoCloud } from "../cloud.ts";
import { hasShutdownTaint } from "../printer.ts";
import {
  letPass,
  requireMachine,
  type Stage,
  type Step,
  waitForNodes,
  waitUntil,
} from "./stage.ts";

/** How long the machines are hidden, as a multiple of the hold-off. */
const PATIENCE = 1.3;
const DELETED = "worker-2";

/** The steps, in order. */
export function toLossSteps({ loss }: Pick<DemoCloud, "loss">): readonly Step[] {
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
