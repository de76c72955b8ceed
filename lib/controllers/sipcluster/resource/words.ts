/**
 * The conditions of SIPClusters and their reasons. The words never change. `Ready` and its reasons are those of the
 * original operator.
 * @module
 */

/** One reason of a condition. */
export interface ReasonWord {
  readonly status: "True" | "False";
  readonly reason: string;
  /** When it is written, in one sentence. */
  readonly meaning: string;
}

/** The types of conditions, in their order. */
export type ConditionType = "Ready" | "Scheduled" | "ServicesReady" | "ContractionBlocked";

/** The reasons of all conditions, by a name for code, in the order of the reference page. */
export interface ConditionWords {
  readonly Ready: Readonly<
    Record<
      "done" | "invalid" | "unschedulable" | "labels" | "services" | "waiting" | "inUse",
      ReasonWord
    >
  >;
  readonly Scheduled: Readonly<
    Record<"done" | "tooClose" | "invalid" | "unschedulable" | "labels" | "waiting", ReasonWord>
  >;
  readonly ServicesReady: Readonly<Record<"done" | "waiting", ReasonWord>>;
  readonly ContractionBlocked: Readonly<Record<"inUse" | "free", ReasonWord>>;
}

const INVALID = "InvalidSpec";
const UNSCHEDULABLE = "Unschedulable";
const LABELS = "UnableToApplyLabels";
const PROGRESSING = "Progressing";
/** Hosts that are to be given back are in use. */
const IN_USE = "HostsInUse";

/** All conditions. */
export const CONDITION_WORDS: ConditionWords = {
  Ready: {
    done: {
      status: "True",
      reason: "ReconciliationSucceeded",
      meaning: "The cluster has all hosts, and all its services are available.",
    },
    invalid: {
      status: "False",
      reason: INVALID,
      meaning: "Landfall cannot use the spec. The message names each field. Nothing is changed.",
    },
    unschedulable: {
      status: "False",
      reason: UNSCHEDULABLE,
      meaning: "There are not enough hosts. The message has the numbers of each role.",
    },
    labels: {
      status: "False",
      reason: LABELS,
      meaning: "The API server refused a change of a host's labels. Landfall tries again.",
    },
    services: {
      status: "False",
      reason: "InfraServiceFailure",
      meaning: "A service cannot be made as the spec asks. The message of ServicesReady says why.",
    },
    waiting: {
      status: "False",
      reason: PROGRESSING,
      meaning: "Hosts get their labels, Pods of services start, or the cluster is being deleted.",
    },
    inUse: {
      status: "False",
      reason: "UnableToDecommission",
      meaning:
        "The SIPCluster is being deleted, and something stops that. The message names it: mostly hosts in use.",
    },
  },
  Scheduled: {
    done: {
      status: "True",
      reason: "HostsLabelled",
      meaning: "Each role has all hosts that it wants.",
    },
    tooClose: {
      status: "True",
      reason: "AntiAffinityBroken",
      meaning:
        "The same, but hosts of the cluster have the same value of a topology key: their labels changed later. " +
        "Landfall keeps them. The message names them.",
    },
    invalid: {
      status: "False",
      reason: INVALID,
      meaning: "Landfall cannot use the spec. The message names each field.",
    },
    unschedulable: {
      status: "False",
      reason: UNSCHEDULABLE,
      meaning:
        "There are not enough hosts. The message has the numbers of each role, and why hosts were rejected.",
    },
    labels: {
      status: "False",
      reason: LABELS,
      meaning: "The API server refused a change of a host's labels. Landfall tries again.",
    },
    waiting: {
      status: "False",
      reason: PROGRESSING,
      meaning: "Hosts are chosen, and get their labels.",
    },
  },
  ServicesReady: {
    done: {
      status: "True",
      reason: "ServicesAvailable",
      meaning: "All services of the spec are available. Also if the spec has none.",
    },
    waiting: {
      status: "False",
      reason: PROGRESSING,
      meaning: "Pods of a service start. With another reason, the message says what is wrong.",
    },
  },
  ContractionBlocked: {
    inUse: {
      status: "True",
      reason: IN_USE,
      meaning:
        "The cluster has more hosts than it wants, and they are in use. Landfall keeps them, and names them.",
    },
    free: {
      status: "False",
      reason: "NothingBlocked",
      meaning: "The cluster has no host that it does not want.",
    },
  },
};
