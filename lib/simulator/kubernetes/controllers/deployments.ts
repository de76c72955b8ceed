/**
 * A double of what makes Deployments available: their controller, the scheduler and the kubelets in one.
 * @module
 */
import type { ObjectAccess } from "../object_access.ts";
import { numberAt } from "../services/service.ts";
import { isEqual, objectAt, stringAt, type ApiObject, type JsonObject } from "../patches/json.ts";

/** Which Deployments get running Pods. */
interface RollOutOptions {
  /** Time of changed conditions, ISO 8601. */
  readonly now: string;
  /** Whether the Pods of a Deployment become ready. @default {all do} */
  isReady?(deployment: ApiObject): boolean;
}

/**
 * Reports every Deployment as rolled out: its newest generation is observed, and its Pods run or do not.
 *
 * @returns How many Deployments got another status
 */
export function rollOutDeployments(objects: ObjectAccess, options: RollOutOptions): number {
  let changed = 0;
  for (const deployment of objects.list("deployments")) {
    const before = objectAt(deployment, "status");
    const status = toStatus(deployment, options);
    if (isEqual(before, status)) continue;
    const { name } = deployment.metadata;
    const namespace = stringAt(deployment.metadata, "namespace");
    // Fields that are not said any more must go.
    const gone = Object.keys(before).map((key) => [key, null] as const);
    const patch = { status: { ...Object.fromEntries(gone), ...status } };
    objects.patch("deployments", { name, namespace, subresource: "status" }, patch);
    changed += 1;
  }
  return changed;
}

function toStatus(deployment: ApiObject, { now, isReady }: RollOutOptions): JsonObject {
  const replicas = numberAt(objectAt(deployment, "spec"), "replicas");
  const ready = (isReady?.(deployment) ?? true) ? replicas : 0;
  const isAvailable = ready === replicas;
  const unavailable = replicas - ready;
  return {
    observedGeneration: numberAt(deployment.metadata, "generation"),
    ...(replicas > 0 && { replicas, updatedReplicas: replicas }),
    ...(ready > 0 && { readyReplicas: ready, availableReplicas: ready }),
    ...(unavailable > 0 && { unavailableReplicas: unavailable }),
    conditions: [
      toCondition(deployment, {
        type: "Available",
        status: isAvailable ? "True" : "False",
        reason: isAvailable ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
        now,
      }),
    ],
  };
}

function toCondition(
  deployment: ApiObject,
  wanted: Readonly<Record<"type" | "status" | "reason" | "now", string>>,
): JsonObject {
  const { type, status, reason, now } = wanted;
  const conditions = objectAt(deployment, "status")["conditions"];
  const before = (Array.isArray(conditions) ? conditions : []).find(
    (one) => stringAt(one, "type") === type && stringAt(one, "status") === status,
  );
  const since = before === undefined ? now : stringAt(before, "lastTransitionTime");
  return { type, status, reason, lastTransitionTime: since, lastUpdateTime: since };
}
