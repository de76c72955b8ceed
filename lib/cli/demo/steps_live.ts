/**
 * Second part of the demo: VMs move, stop, disappear with their pool, and one is deleted.
 * @module
 */
import { isReady } from "../../controllers/identity.ts";
import { EVENT_WORDS as LABEL_EVENTS } from "../../controllers/node_labels/words.ts";
import { EVENT_WORDS as LIFECYCLE_EVENTS } from "../../controllers/node_lifecycle/words.ts";
import { TOPOLOGY_LABELS } from "../../controllers/words.ts";
import type { Node } from "../../kube/kinds/node.ts";
import {
  HOST_ID_LABEL,
  HOST_NAME_LABEL,
  ORIGIN_LABELS,
} from "../../providers/xenorchestra/model/labels.ts";
import type { DemoHostName } from "../../simulator/xenorchestra/mod.ts";
import { hasShutdownTaint } from "./narrator.ts";
import { findMachine, letPass, type Stage, type Step, waitForNodes, waitUntil } from "./stage.ts";

const ZONE_LABELS = TOPOLOGY_LABELS.zone;
/** How long the pool is lost, as a multiple of the hold-off. */
const PATIENCE = 1.3;

/** The steps that come before a machine dies with a volume attached, in order. */
export const LIVE_STEPS: readonly Step[] = [
  {
    title: "worker-1 live-migrates to host xcp-par-3: its zone and host labels follow",
    play: async (stage, signal) => {
      const from = stage.world.hostIds["xcp-par-1"];
      const to = stage.world.hostIds["xcp-par-3"];
      const wasThere = isLabelled(stage.view.nodes.get("worker-1"), stage, "xcp-par-1");
      stage.tell("  >  Xen Orchestra moves worker-1 from xcp-par-1 to xcp-par-3 while it runs");
      stage.cloud.state.migrateLive(findVmId(stage, "worker-1"), to);
      const hasMoved = await waitForNodes(
        stage,
        ["worker-1"],
        signal,
        (node) =>
          isLabelled(node, stage, "xcp-par-3") &&
          node.metadata.labels?.[ORIGIN_LABELS[HOST_ID_LABEL] ?? ""] === from,
      );
      const { reason } = LABEL_EVENTS.zoneChanged;
      const isTold = await waitUntil(stage, signal, () => {
        const { message = "" } = stage.view.findEvent("worker-1", reason) ?? {};
        return message.includes(from) && message.includes(to);
      });
      return wasThere && hasMoved && isTold;
    },
  },
  {
    title: "worker-4 is halted: its Node is NotReady, gets the shutdown taint and keeps its labels",
    play: async (stage, signal) => {
      stage.tell("  >  Xen Orchestra halts worker-4: it has no host now, and its kubelet stops");
      stage.cloud.state.setPower(findVmId(stage, "worker-4"), "Halted");
      stage.kubelets.silence("worker-4");
      return await waitForNodes(
        stage,
        ["worker-4"],
        signal,
        (node) => !isReady(node) && hasShutdownTaint(node) && isLabelled(node, stage, "xcp-lyo-2"),
      );
    },
  },
  {
    title: "worker-4 starts again: its Node is Ready, and the taint is removed",
    play: async (stage, signal) => {
      stage.tell("  >  Xen Orchestra starts worker-4 on the same host");
      const hostId = stage.world.hostIds["xcp-lyo-2"];
      stage.cloud.state.setPower(findVmId(stage, "worker-4"), "Running", hostId);
      stage.kubelets.reboot("worker-4");
      return await waitForNodes(
        stage,
        ["worker-4"],
        signal,
        (node) => isReady(node) && !hasShutdownTaint(node) && isLabelled(node, stage, "xcp-lyo-2"),
      );
    },
  },
];

/** The steps that come after that. */
export const LOSS_STEPS: readonly Step[] = [
  {
    title:
      "The pool lyon is lost while two kubelets are silent: Landfall keeps the Nodes and says why",
    play: loseLyon,
  },
  {
    title: "The pool and the kubelets are back: nothing was deleted",
    play: async (stage, signal) => {
      stage.tell("  >  Xen Orchestra connects to the pool lyon again");
      stage.cloud.state.restorePool(stage.world.poolIds.lyon);
      for (const name of SILENT) stage.kubelets.resume(name);
      const areReady = await waitForNodes(
        stage,
        listNames(stage),
        signal,
        (node) => isReady(node) && !hasShutdownTaint(node),
      );
      const { confirmations } = stage.deletion;
      const isSettled =
        areReady && (await letPass(stage, { ms: 0, passes: confirmations }, signal));
      return isSettled && hasAll(stage) && countDeletions(stage) === 0;
    },
  },
  {
    title: "The VM worker-2 is deleted: Landfall proves it, and deletes this Node only",
    play: deleteWorker,
  },
];

/** Nodes in Lyon whose kubelets are silent while the pool is lost. */
const SILENT: readonly string[] = ["worker-3", "worker-4"];

async function loseLyon(stage: Stage, signal: AbortSignal): Promise<boolean> {
  const { cloud, world, kubelets, view, deletion } = stage;
  stage.tell("  >  Xen Orchestra loses the pool lyon: it answers 404 for five VMs that run");
  cloud.state.dropPool(world.poolIds.lyon);
  stage.tell("  >  a switch fails, too: the kubelets of worker-3 and worker-4 are silent");
  for (const name of SILENT) kubelets.silence(name);
  const areSilent = await waitForNodes(stage, SILENT, signal, (node) => !isReady(node));
  const { reason } = LIFECYCLE_EVENTS.deletionBlocked;
  const isTold = await waitUntil(stage, signal, () =>
    SILENT.every((name) => view.findEvent(name, reason)?.message?.includes("pool lyon")),
  );
  if (!areSilent || !isTold) return false;
  const seconds = ((deletion.holdOffMs * PATIENCE) / 1_000).toFixed(1);
  stage.tell(
    `  >  ${seconds} s pass: longer than Landfall waits before it deletes a Node whose VM is gone`,
  );
  const patience = { ms: deletion.holdOffMs * PATIENCE, passes: deletion.confirmations };
  const isOver = await letPass(stage, patience, signal);
  const isMissing = SILENT.every(
    (name) => cloud.state.read("vms", findVmId(stage, name)) === undefined,
  );
  const isKept =
    isLabelled(view.nodes.get("worker-3"), stage, "xcp-lyo-1") &&
    isLabelled(view.nodes.get("worker-4"), stage, "xcp-lyo-2") &&
    ![...view.nodes.values()].some((node) => hasShutdownTaint(node));
  return isOver && isMissing && isKept && hasAll(stage) && countDeletions(stage) === 0;
}

async function deleteWorker(stage: Stage, signal: AbortSignal): Promise<boolean> {
  const { cloud, kubelets, view, clock, deletion } = stage;
  const findNode = (): Node | undefined => view.nodes.get("worker-2");
  stage.tell("  >  Xen Orchestra deletes worker-2");
  cloud.state.removeVm(findVmId(stage, "worker-2"));
  kubelets.silence("worker-2");
  const isSilent = await waitForNodes(stage, ["worker-2"], signal, (node) => !isReady(node));
  const startMs = clock.monotonic();
  const isGone = isSilent && (await waitUntil(stage, signal, () => findNode() === undefined));
  const tookMs = clock.monotonic() - startMs;
  if (!isGone) return false;
  stage.tell(`  >  the Node was NotReady for ${(tookMs / 1_000).toFixed(1)} s before`);
  const { reason } = LIFECYCLE_EVENTS.deleting;
  const isTold = (): boolean => view.findEvent("worker-2", reason) !== undefined;
  const others = listNames(stage).filter((name) => name !== "worker-2");
  return (
    (await waitUntil(stage, signal, isTold)) &&
    // The first inventory without it may have started a moment earlier.
    tookMs >= deletion.holdOffMs * 0.9 &&
    others.every((name) => view.nodes.get(name) !== undefined) &&
    countDeletions(stage) === 1
  );
}

function isLabelled(node: Node | undefined, { world }: Stage, host: DemoHostName): boolean {
  const labels = node?.metadata.labels ?? {};
  const hostId = world.hostIds[host];
  return (
    [...ZONE_LABELS, HOST_ID_LABEL].every((key) => labels[key] === hostId) &&
    labels[HOST_NAME_LABEL] === host
  );
}

function findVmId(stage: Stage, name: string): string {
  return findMachine(stage, name)?.vmId ?? name;
}

function listNames({ world }: Stage): string[] {
  return [...world.machines.keys(), world.late.machine.nodeName];
}

function hasAll(stage: Stage): boolean {
  return listNames(stage).every((name) => stage.view.nodes.get(name) !== undefined);
}

/** How many Nodes Landfall tried to delete. It tries again when another controller wrote to the Node meanwhile. */
function countDeletions({ kubernetes }: Stage): number {
  const deletions = kubernetes.requests.entries.filter(
    ({ verb, resource }) => verb === "delete" && resource === "nodes",
  );
  return new Set(deletions.map(({ name }) => name)).size;
}
