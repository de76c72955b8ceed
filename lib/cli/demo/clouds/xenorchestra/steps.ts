/**
 * The steps that only Xen Orchestra has: Nodes whose VMs are hard to find, a VM that moves, and one that dies while a
 * volume is attached.
 * @module
 */
import { findRecord, isOutOfServiceByUs } from "../../../../controllers/fleet/out_of_service.ts";
import { isReady, isUninitialized } from "../../../../controllers/identity.ts";
import { EVENT_WORDS } from "../../../../controllers/node_labels/words.ts";
import { TOPOLOGY_LABELS } from "../../../../controllers/words.ts";
import type { Node } from "../../../../kube/kinds/node.ts";
import {
  HOST_ID_LABEL,
  HOST_NAME_LABEL,
  ORIGIN_LABELS,
  POOL_NAME_LABEL,
  VM_NAME_LABEL,
} from "../../../../providers/xenorchestra/labels.ts";
import type {
  DemoHostName,
  StoryWorld,
  XenOrchestraSimulator,
} from "../../../../simulator/xenorchestra/mod.ts";
import {
  type CloudStep,
  requireMachine,
  type Stage,
  waitForNodes,
  waitUntil,
} from "../../story/stage.ts";

/** The server, and the names in its world. */
export interface XenOrchestraSite {
  readonly simulator: XenOrchestraSimulator;
  readonly world: StoryWorld;
}

const ZONE_LABELS = TOPOLOGY_LABELS.zone;
const [TYPE_LABEL] = TOPOLOGY_LABELS.instanceType;

/** Whether all labels of a Node name this host. */
export function isOnHost(
  node: Node | undefined,
  { hostIds }: Pick<StoryWorld, "hostIds">,
  host: DemoHostName,
): boolean {
  const labels = node?.metadata.labels ?? {};
  const hostId = hostIds[host];
  return (
    [...ZONE_LABELS, HOST_ID_LABEL].every((key) => labels[key] === hostId) &&
    labels[HOST_NAME_LABEL] === host
  );
}

/** `x.small on paris/host-1, named worker`. */
export function describe(node: Node): string {
  const { labels = {} } = node.metadata;
  return `${labels[TYPE_LABEL]} on ${toPlace(labels)}, named ${labels[VM_NAME_LABEL]}`;
}

/** `on paris/host-1, in zone z`. */
export function describePlace({ metadata: { labels = {} } }: Node): string {
  return `on ${toPlace(labels)}, in zone ${labels[ZONE_LABELS[0]]}`;
}

function toPlace(labels: Readonly<Record<string, string | undefined>>): string {
  return `${labels[POOL_NAME_LABEL]}/${labels[HOST_NAME_LABEL]}`;
}

/** The steps, in order. */
export const JOIN_STEPS: readonly CloudStep[] = [
  {
    title:
      "worker-uefi matches its VM, although its firmware reports the UUID in reversed byte order",
    play: (stage, signal) =>
      waitForNodes(
        stage,
        ["worker-uefi"],
        signal,
        (node, { vmId }) => node.status?.nodeInfo?.systemUUID !== vmId && !isUninitialized(node),
      ),
  },
  {
    title: 'The VM "nœud-1" has a name that no label can hold, and its Node joins anyway',
    play: (stage, signal) =>
      waitForNodes(
        stage,
        ["noeud-1"],
        signal,
        (node) => node.metadata.labels?.[VM_NAME_LABEL] === "n-ud-1" && !isUninitialized(node),
      ),
  },
];

/** The steps, in order. */
export function toLiveSteps({ simulator, world }: XenOrchestraSite): readonly CloudStep[] {
  const from = world.hostIds["xcp-par-1"];
  const to = world.hostIds["xcp-par-3"];
  return [
    {
      title: "worker-1 live-migrates to host xcp-par-3: its zone and host labels follow",
      play: async (stage, signal) => {
        const wasThere = isOnHost(stage.view.nodes.get("worker-1"), world, "xcp-par-1");
        stage.tell("  >  Xen Orchestra moves worker-1 from xcp-par-1 to xcp-par-3 while it runs");
        simulator.state.migrateLive(requireMachine(stage.cloud, "worker-1").vmId, to);
        const hasMoved = await waitForNodes(
          stage,
          ["worker-1"],
          signal,
          (node) =>
            isOnHost(node, world, "xcp-par-3") &&
            node.metadata.labels?.[ORIGIN_LABELS[HOST_ID_LABEL] ?? ""] === from,
        );
        const { reason } = EVENT_WORDS.zoneChanged;
        const isTold = await waitUntil(stage, signal, () => {
          const { message = "" } = stage.view.findEvent("worker-1", reason) ?? {};
          return message.includes(from) && message.includes(to);
        });
        return wasThere && hasMoved && isTold;
      },
    },
  ];
}

const NODE = "worker-1";
/** The host on which it runs after the live migration. */
const HOST: DemoHostName = "xcp-par-3";
const VOLUME = "csi-volume-of-the-database";

/** The steps, in order. */
export function toVolumeSteps({ simulator, world }: XenOrchestraSite): readonly CloudStep[] {
  const { state } = simulator;
  return [
    {
      title: `${NODE} dies while a volume is attached: Landfall proves that it is off, and the volume is free`,
      play: (stage, signal) =>
        loseMachine(
          stage,
          () => state.setPower(requireMachine(stage.cloud, NODE).vmId, "Halted"),
          signal,
        ),
    },
    {
      title: `${NODE} starts again: its kubelet reports a new boot, and Landfall removes the taint`,
      play: async (stage, signal) => {
        stage.tell(`  >  Xen Orchestra starts ${NODE} on the same host`);
        const { vmId } = requireMachine(stage.cloud, NODE);
        state.setPower(vmId, "Running", world.hostIds[HOST]);
        stage.kubelets.reboot(NODE);
        return await waitForNodes(
          stage,
          [NODE],
          signal,
          (node) => isReady(node) && !isOutOfServiceByUs(node) && findRecord(node) === undefined,
        );
      },
    },
  ];
}

async function loseMachine(
  stage: Stage,
  turnOff: () => void,
  signal: AbortSignal,
): Promise<boolean> {
  const { kubelets, kubernetes, clock } = stage;
  kubernetes.objects.create("volumeattachments", {
    metadata: { name: VOLUME },
    spec: { attacher: "csi.example.org", nodeName: NODE, source: {} },
  });
  stage.tell(`  >  ${NODE} dies; the volume of a database is attached to it`);
  turnOff();
  kubelets.silence(NODE);
  const isSilent = await waitForNodes(stage, [NODE], signal, (node) => !isReady(node));
  const startMs = clock.monotonic();
  const isTainted =
    isSilent && (await waitForNodes(stage, [NODE], signal, (node) => isOutOfServiceByUs(node)));
  if (!isTainted) return false;
  stage.tell("  >  Kubernetes sees the taint and detaches the volume");
  kubernetes.objects.delete("volumeattachments", { name: VOLUME });
  const seconds = ((clock.monotonic() - startMs) / 1_000).toFixed(1);
  stage.tell(
    `  >  that was ${seconds} s after ${NODE} became NotReady; without the taint, Kubernetes waits 6 minutes`,
  );
  return await waitUntil(
    stage,
    signal,
    () => kubernetes.objects.get("volumeattachments", { name: VOLUME }) === undefined,
  );
}
