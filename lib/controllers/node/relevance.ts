/**
 * Which changes of a Node matter to the node controller.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Node } from "../../kube/resource.ts";

/**
 * Whether a change can lead to another plan. A heartbeat of the kubelet cannot: were it worked on, every Node that
 * waits for its machine would ask the cloud at the pace of heartbeats, whatever its back-off.
 */
export function isRelevantChange(before: Node | undefined, after: Node | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  return !isDeepStrictEqual(toInputs(before), toInputs(after));
}

/** Everything of a Node that a plan looks at. */
function toInputs({ metadata, spec, status }: Node): readonly unknown[] {
  const { uid, labels, annotations } = metadata;
  return [
    uid,
    labels,
    annotations,
    spec?.providerID,
    spec?.taints,
    status?.addresses,
    status?.nodeInfo?.systemUUID,
  ];
}
