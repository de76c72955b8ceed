/**
 * The out-of-service taint, and the annotation that records that Landfall set it. Pure. Frozen: the words must not
 * change.
 *
 * The Kubernetes docs tell users to set the same taint by hand. So only the record says that Landfall set it.
 * @module
 */
import type { Node } from "../../kube/kinds/node.ts";
import type { Taints } from "../node_context.ts";

/**
 * If a Node with this taint is not Ready, Kubernetes force-deletes its Pods and detaches its volumes at once. Contract
 * of Kubernetes: https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/#non-graceful-node-shutdown
 */
export const OUT_OF_SERVICE_TAINT = {
  key: "node.kubernetes.io/out-of-service",
  value: "nodeshutdown",
  effect: "NoExecute",
} as const;

/** Annotation that holds the record. */
export const OUT_OF_SERVICE_RECORD = "landfall.dev/out-of-service";

/** Label that keeps a Node from being taken out of service; its value does not matter. */
export const EXCLUSION_LABEL = "landfall.dev/exclude-from-out-of-service";

/** Time after which Kubernetes detaches the volumes of a Node by itself, in milliseconds. */
export const DETACH_WAIT_MS = 360_000;

/** Landfall's record of the taint. */
export interface OutOfServiceRecord {
  /** Time when it set the taint, by its own clock; milliseconds since 1970. `NaN` if the text is not a time. */
  readonly timeMs: number;
  /** `status.nodeInfo.bootID` at that time; empty if it was not known. */
  readonly bootId: string;
  /** Another writer removed the taint while the machine was off: the same taint is that writer's from now on. */
  readonly isReleased?: true;
}

/** Ends a record whose taint was removed by another writer. */
const RELEASED = "removed";

/** Reads the record on a Node; `undefined` if Landfall did not set the taint. */
export function findRecord({ metadata }: Node): OutOfServiceRecord | undefined {
  const text = metadata.annotations?.[OUT_OF_SERVICE_RECORD];
  if (text === undefined) return undefined;
  const [time = "", bootId = "", end] = text.split(" ");
  const timeMs = Date.parse(time);
  return end === RELEASED ? { timeMs, bootId, isReleased: true } : { timeMs, bootId };
}

/** Formats the record as the value of the annotation: the time in ISO 8601, and the boot ID. */
export function formatRecord({ timeMs, bootId }: OutOfServiceRecord): string {
  return `${new Date(timeMs).toISOString()} ${bootId}`.trimEnd();
}

/** Formats the record as the value of the annotation, once another writer removed the taint. */
export function formatReleasedRecord({ metadata }: Node): string {
  const [time = "", bootId = ""] = (metadata.annotations?.[OUT_OF_SERVICE_RECORD] ?? "").split(" ");
  return `${time} ${bootId} ${RELEASED}`;
}

/** Lists the out-of-service taints of a Node, from any writer and with any value and effect. */
export function listOutOfServiceTaints({ spec }: Node): Taints {
  return spec?.taints?.filter(({ key }) => key === OUT_OF_SERVICE_TAINT.key) ?? [];
}

/** Whether a taint has the key, value and effect that Landfall sets. */
export function isOurTaint({ key, value, effect }: Taints[number]): boolean {
  const ours = OUT_OF_SERVICE_TAINT;
  return key === ours.key && value === ours.value && effect === ours.effect;
}

/** Whether a Node has the taint that Landfall sets, and its record. */
export function isOutOfServiceByUs(node: Node): boolean {
  const record = findRecord(node);
  if (record === undefined || record.isReleased) return false;
  return node.spec?.taints?.some(isOurTaint) ?? false;
}

/** Lists the names of Nodes that have such a taint without our record. Users or other programs set it. */
export function listForeignlyTainted(nodes: readonly Node[]): string[] {
  return nodes
    .filter((node) => !isOutOfServiceByUs(node) && listOutOfServiceTaints(node).length > 0)
    .map(({ metadata }) => metadata.name);
}

/** Whether a label excludes a Node from being taken out of service. */
export function isExcluded({ metadata }: Node): boolean {
  return metadata.labels?.[EXCLUSION_LABEL] !== undefined;
}
