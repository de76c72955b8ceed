/**
 * What the labels of a Node say about its VM in CloudStack.
 * @module
 */
import { TOPOLOGY_LABELS } from "../../../../controllers/words.ts";
import type { Node } from "../../../../kube/kinds/node.ts";

const [ZONE_LABEL] = TOPOLOGY_LABELS.zone;
const [TYPE_LABEL] = TOPOLOGY_LABELS.instanceType;

/** Whether all labels of a Node name this zone. Without a setting the region is the zone. */
export function isInZone({ metadata: { labels = {} } }: Node, zone: string): boolean {
  const keys = [...TOPOLOGY_LABELS.zone, ...TOPOLOGY_LABELS.region];
  return keys.every((key) => labels[key] === zone);
}

/** Whether all labels of a Node name this instance type. */
export function isOfType(node: Node | undefined, type: string): boolean {
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
