/**
 * How a SIPCluster stands, for metrics and the debug pages. Pure.
 * @module
 */
import type { SipClusterState } from "./metrics.ts";
import type { ServiceState } from "./resource/conditions.ts";
import { CONDITION_WORDS } from "./resource/words.ts";
import type { Schedule } from "./schedule/types.ts";

const PROGRESSING: string = CONDITION_WORDS.ServicesReady.waiting.reason;

/** Whether a service will not become ready by itself. */
export function hasFailed({ isReady, reason = PROGRESSING }: ServiceState): boolean {
  return !isReady && reason !== PROGRESSING;
}

/** Judges a cluster with a right spec that is not being deleted. What users must do comes first. */
export function judgeState(
  { isSatisfied }: Pick<Schedule, "isSatisfied">,
  services: readonly ServiceState[],
): SipClusterState {
  if (!isSatisfied) return "unschedulable";
  if (services.some(hasFailed)) return "failing";
  return services.every(({ isReady }) => isReady) ? "ready" : "working";
}
