/**
 * The steps that only CloudStack has: Nodes whose VMs are hard to find, or to describe, and a VM that changes while it
 * runs.
 * @module
 */
import { isUninitialized } from "../../../../controllers/identity.ts";
import { EVENT_WORDS } from "../../../../controllers/node_labels/words.ts";
import { TOPOLOGY_LABELS } from "../../../../controllers/words.ts";
import type { Node } from "../../../../kube/kinds/node.ts";
import type { CloudStackSimulator, StoryWorld } from "../../../../simulator/cloudstack/mod.ts";
import { type CloudStep, requireMachine, waitForNodes, waitUntil } from "../../story/stage.ts";

const [ZONE_LABEL] = TOPOLOGY_LABELS.zone;
const [TYPE_LABEL] = TOPOLOGY_LABELS.instanceType;

/** Whether all labels of a Node name this zone. Without a setting the region is the zone. */
export function isInZone({ metadata: { labels = {} } }: Node, zone: string): boolean {
  const keys = [...TOPOLOGY_LABELS.zone, ...TOPOLOGY_LABELS.region];
  return keys.every((key) => labels[key] === zone);
}

/** Whether all labels of a Node name this instance type. */
function isOfType(node: Node | undefined, type: string): boolean {
  const { labels = {} } = node?.metadata ?? {};
  return TOPOLOGY_LABELS.instanceType.every((key) => labels[key] === type);
}

/** `SmallInstance in zone paris`. */
export function describe(node: Node): string {
  return `${node.metadata.labels?.[TYPE_LABEL]} ${describePlace(node)}`;
}

/** `in zone paris`. */
export function describePlace({ metadata: { labels = {} } }: Node): string {
  return `in zone ${labels[ZONE_LABEL]}`;
}

const FQDN = "worker-fqdn.k8s.example";
const UPPER = "worker-upper";

/** The steps, in order. */
export const JOIN_STEPS: readonly CloudStep[] = [
  {
    title: `${FQDN} and ${UPPER} match the VMs "worker-fqdn" and "Worker-Upper"`,
    play: (stage, signal) =>
      waitForNodes(
        stage,
        [FQDN, UPPER],
        signal,
        (node, { vmId }) =>
          !isUninitialized(node) && node.spec?.providerID === `external-cloudstack://${vmId}`,
      ),
  },
  {
    title: 'The service offering "Large-8 (Über)" is no label value, and its Nodes join anyway',
    play: (stage, signal) =>
      waitForNodes(
        stage,
        ["cp-1", "worker-dual"],
        signal,
        (node) => isOfType(node, "Large8ber") && !isUninitialized(node),
      ),
  },
];

const NODE = "worker-1";

/** The steps, in order. */
export function toLiveSteps(
  state: CloudStackSimulator["state"],
  { offeringIds }: Pick<StoryWorld, "offeringIds">,
): readonly CloudStep[] {
  return [
    {
      title: `${NODE} gets a larger service offering: its instance type follows`,
      play: async (stage, signal) => {
        const wasSmall = isOfType(stage.view.nodes.get(NODE), "SmallInstance");
        stage.tell(`  >  CloudStack scales ${NODE} up while it runs`);
        state.vm(requireMachine(stage.cloud, NODE).vmId).offeringId = offeringIds.large;
        const isLarge = await waitForNodes(stage, [NODE], signal, (node) =>
          isOfType(node, "Large8ber"),
        );
        const { reason } = EVENT_WORDS.instanceTypeChanged;
        const isTold = await waitUntil(stage, signal, () => {
          const { message = "" } = stage.view.findEvent(NODE, reason) ?? {};
          return message.includes("SmallInstance") && message.includes("Large8ber");
        });
        return wasSmall && isLarge && isTold;
      },
    },
  ];
}
