/**
 * States of SIPClusters and of hosts in one word, and what they mean.
 * @module
 */
import type { SipClusterState, SipClusterView, SipHostView } from "../../sip_clusters/views.ts";
import type { KindStateWords } from "../state.ts";

/** States of clusters, the worst first. */
export const SIP_CLUSTER_STATES: Readonly<Record<SipClusterState, KindStateWords>> = {
  failing: {
    word: "failing",
    meaning: "The last attempt failed, or the cluster needs a change, see its conditions.",
    looksLike: "failing",
  },
  waiting: {
    word: "waiting",
    meaning: "There are not enough hosts, or hosts of a deleted cluster are in use.",
    looksLike: "notReady",
  },
  working: {
    word: "working",
    meaning: "Landfall takes hosts, or waits for the services of the cluster.",
    looksLike: "joining",
  },
  ready: { word: "ready", meaning: "It is as its spec asks.", looksLike: "well" },
};

/** How a host stands. */
export type SipHostState = "broken" | "refused" | "given" | "used" | "standby" | "free";

/** States of hosts, the worst first. */
export const SIP_HOST_STATES: Readonly<Record<SipHostState, KindStateWords>> = {
  broken: {
    word: "in trouble",
    meaning: "A cluster has it, and something is wrong with it.",
    looksLike: "failing",
  },
  refused: {
    word: "refused",
    meaning: "No cluster has it, and none may take it now.",
    looksLike: "notReady",
  },
  given: {
    word: "taken",
    meaning: "A cluster has it, and nothing runs on it yet.",
    looksLike: "joining",
  },
  used: { word: "in use", meaning: "A cluster has it, and a machine uses it.", looksLike: "well" },
  standby: {
    word: "standby",
    meaning: "A cluster has it as a spare host.",
    looksLike: "stopped",
  },
  free: { word: "free", meaning: "A cluster may take it.", looksLike: "foreign" },
};

/** The states of hosts, the worst first. */
export const SIP_HOST_STATE_NAMES: readonly SipHostState[] =
  Object.keys(SIP_HOST_STATES).filter(isSipHostState);

function isSipHostState(text: string): text is SipHostState {
  return Object.hasOwn(SIP_HOST_STATES, text);
}

/** Judges a host. */
export function judgeHost({ cluster, trouble, consumer, standby }: SipHostView): SipHostState {
  if (cluster === undefined) return trouble === undefined ? "free" : "refused";
  if (trouble !== undefined) return "broken";
  if (consumer !== undefined) return "used";
  return standby === true ? "standby" : "given";
}

/** How a cluster looks. One that is ready, and of which there is more to say, does not look well. */
export function toClusterWords({ state, notes }: SipClusterView): KindStateWords {
  const words = SIP_CLUSTER_STATES[state];
  return state === "ready" && notes.length > 0 ? { ...words, looksLike: "differs" } : words;
}

/** Whether an operator should look at a cluster. */
export function isTroubled({ state, notes }: SipClusterView): boolean {
  return state === "failing" || state === "waiting" || notes.length > 0;
}
