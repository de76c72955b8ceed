/**
 * How a SIPCluster stands, for metrics and the debug pages.
 * @module
 */
import type { ServiceState } from "./resource/conditions.ts";
import { CONDITION_WORDS } from "./resource/words.ts";
import type { Schedule } from "./schedule/types.ts";
import { OF_HOSTS } from "./services/machines.ts";
import { EVENT_WORDS } from "./words.ts";
import { type MetricsRegistry, setCounts } from "../../core/metrics.ts";
import type { EventWord } from "../../kube/events/words.ts";

const PROGRESSING: string = CONDITION_WORDS.ServicesReady.waiting.reason;

/** The Warnings about services. */
export function listWarnings(
  services: readonly ServiceState[],
): readonly { readonly word: EventWord; readonly message: string }[] {
  return services.flatMap((state) => {
    const { service, message = "" } = state;
    if (service !== OF_HOSTS && !hasFailed(state)) return [];
    return [{ word: toWord(state), message: `${service}: ${message}` }];
  });
}

function toWord({ service, reason }: ServiceState): EventWord {
  if (service !== OF_HOSTS) return EVENT_WORDS.serviceFailed;
  const isConflict = reason === CONDITION_WORDS.ServicesReady.addressConflict.reason;
  return isConflict ? EVENT_WORDS.addressConflict : EVENT_WORDS.networkDataMissing;
}

/** Whether a service will not become ready by itself. */
function hasFailed({ isReady, reason = PROGRESSING }: ServiceState): boolean {
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

/** How a SIPCluster stands. */
export type SipClusterState = "ready" | "working" | "unschedulable" | "failing" | "deleting";

/** The metrics of the SIPCluster controller. */
export interface SipClusterMetrics {
  /** Counts a host that was taken or given back. */
  countHost(change: "taken" | "released" | "lost"): void;
  /** Sets the source of the gauges. Each collection reads it. */
  readFrom(source: { listStates(): Iterable<SipClusterState> }): void;
}

const STATES: readonly SipClusterState[] = [
  "ready",
  "working",
  "unschedulable",
  "failing",
  "deleting",
];

/** Registers the metrics of the SIPCluster controller. */
export function createSipClusterMetrics(registry: MetricsRegistry): SipClusterMetrics {
  const changes = registry.counter({
    name: "landfall_sipcluster_host_changes_total",
    help: "BareMetalHosts that got or lost the labels of a SIPCluster, or that another program took first, by change.",
  });
  const states = registry.gauge({
    name: "landfall_sipclusters",
    help: "SIPClusters by state: ready, working, unschedulable, failing, deleting.",
  });
  return {
    countHost: (change) => changes.inc({ change }),
    readFrom: (source) =>
      registry.onCollect(() => {
        setCounts(states, "state", source.listStates(), STATES);
      }),
  };
}
