/**
 * Whether a service serves, by the status of its Deployment.
 * @module
 */
import type { Deployment } from "./owned_kinds.ts";
import type { ServicePlan } from "./types.ts";

/** The readiness of one service, for the condition `ServicesReady`. */
interface Readiness {
  /** As in {@linkcode ServicePlan}. */
  readonly service: string;
  /** Whether a Pod serves, and all Pods are made from what was applied last. */
  readonly isReady: boolean;
  /** Absent if it is ready. */
  readonly reason?: string;
  /** One sentence without a full stop. Also present if it is ready with fewer Pods than wanted. */
  readonly message?: string;
}

/** Reason while Kubernetes makes Pods; another one says why it does not. */
const PROGRESSING = "Progressing";

/**
 * Judges the readiness of a service.
 *
 * @param deployment Its Deployment as it was last seen; `undefined` if it was not seen since it was applied
 * @param nodePorts The node ports that Kubernetes gave it, as they were last seen
 */
export function judgeReadiness(
  { service, deployment: name, mountedSecret, notice }: ServicePlan,
  deployment: Deployment | undefined,
  nodePorts: readonly number[],
): Readiness {
  if (name === undefined) return { service, isReady: true };
  const wait = (message: string, reason: string = PROGRESSING): Readiness => ({
    service,
    isReady: false,
    reason,
    message: `Deployment ${name} ${message}`,
  });
  if (deployment === undefined) return wait("is not there yet");
  const { generation = 0, deletionTimestamp } = deployment.metadata;
  if (deletionTimestamp !== undefined) return wait("is being deleted");
  const { status = {} } = deployment;
  if ((status.observedGeneration ?? 0) < generation)
    return wait("has changes that Kubernetes did not observe yet");
  const failure = findFailure(status.conditions);
  // Landfall reads neither the Pods nor the Secret. A Pod that Kubernetes cannot create needs no Secret yet.
  const hint =
    mountedSecret === undefined || failure?.type === "ReplicaFailure"
      ? ""
      : `. The Events of its Pods say why: for example, Secret ${mountedSecret} does not exist`;
  if (failure) {
    const why = failure.message ?? "no reason was given";
    return wait(`fails: ${why}${hint}`, failure.reason);
  }
  const wanted = deployment.spec?.replicas ?? 1;
  const { updatedReplicas = 0, availableReplicas = 0, replicas = 0 } = status;
  if (updatedReplicas < wanted)
    return wait(`has ${updatedReplicas} of ${wanted} Pods of the newest form`);
  if (replicas > updatedReplicas)
    return wait(`still has ${replicas - updatedReplicas} Pods of an older form`);
  if (availableReplicas === 0) return wait(`has no available Pod of ${wanted}${hint}`);
  if (nodePorts.length === 0) return wait("is available, but its Service has no node port yet");
  if (availableReplicas >= wanted) return { service, isReady: true, ...notice };
  const message = `Deployment ${name} has ${availableReplicas} of ${wanted} Pods available`;
  return { service, isReady: true, message };
}

type Conditions = NonNullable<Deployment["status"]>["conditions"];

/** Why Kubernetes makes no progress: it cannot create Pods, or they do not become ready in time. */
function findFailure(conditions: Conditions): NonNullable<Conditions>[number] | undefined {
  return (
    conditions?.find(({ type, status }) => type === "ReplicaFailure" && status === "True") ??
    conditions?.find(
      ({ type, status, reason }) =>
        type === "Progressing" && status === "False" && reason === "ProgressDeadlineExceeded",
    )
  );
}
