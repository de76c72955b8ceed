/**
 * The state of a load balancer in one word, and what it means.
 * @module
 */
import type { LoadBalancerState } from "../../load_balancers/views.ts";
import type { KindStateWords } from "../state.ts";

/** A state as the pages show it. */
interface LoadBalancerWords extends KindStateWords {
  /** Whether an operator should look at it. */
  readonly isTrouble: boolean;
}

/** All states, the worst first. */
export const LOAD_BALANCER_STATES: Readonly<Record<LoadBalancerState, LoadBalancerWords>> = {
  failing: {
    word: "failing",
    meaning: "The last attempt failed. Landfall tries again, at least every five minutes.",
    looksLike: "failing",
    isTrouble: true,
  },
  waiting: {
    word: "waiting",
    meaning:
      "Something prevents it. Landfall tries again when it changes, and at least every minute.",
    looksLike: "notReady",
    isTrouble: true,
  },
  working: {
    word: "working",
    meaning: "Landfall changes it, or waits for its turn.",
    looksLike: "joining",
    isTrouble: false,
  },
  ready: {
    word: "ready",
    meaning: "It is as the Service asks.",
    looksLike: "well",
    isTrouble: false,
  },
};

/** The states, the worst first. */
export const LOAD_BALANCER_STATE_NAMES: readonly LoadBalancerState[] =
  Object.keys(LOAD_BALANCER_STATES).filter(isLoadBalancerState);

/** Whether a text names a state. */
export function isLoadBalancerState(text: string): text is LoadBalancerState {
  return Object.hasOwn(LOAD_BALANCER_STATES, text);
}
