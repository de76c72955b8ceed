/**
 * What the labels of a Node say about its place in Xen Orchestra.
 * @module
 */
import { TOPOLOGY_LABELS } from "../../../../controllers/words.ts";
import type { Node } from "../../../../kube/kinds/node.ts";
import {
  HOST_ID_LABEL,
  HOST_NAME_LABEL,
  POOL_NAME_LABEL,
  VM_NAME_LABEL,
} from "../../../../providers/xenorchestra/labels.ts";
import type { DemoHostName, StoryWorld } from "../../../../simulator/xenorchestra/mod.ts";

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
