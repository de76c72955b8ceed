/**
 * The state of a Node and its machine in one word, and the reason.
 * @module
 */
import { describeOutOfService } from "../out_of_service.ts";
import type { NodeView } from "../views.ts";
import { countDifferences } from "./differences.ts";
import type { KindState, StateName } from "./model.ts";

/** All states, the worst first: the state of a Node is the worst one that applies. */
export const STATES: Readonly<Record<StateName, KindState>> = {
  missing: {
    name: "missing",
    word: "machine missing",
    looksLike: "missing",
    meaning: "The cloud no longer shows the machine of this Node.",
    isTrouble: true,
  },
  failing: {
    name: "failing",
    word: "failing",
    looksLike: "failing",
    meaning: "The last reconcile of the Node failed.",
    isTrouble: true,
  },
  unmatched: {
    name: "unmatched",
    word: "no match",
    looksLike: "unmatched",
    meaning: "No machine in the cloud clearly matches this Node.",
    isTrouble: true,
  },
  unseen: {
    name: "unseen",
    word: "unknown",
    looksLike: "unseen",
    meaning: "Landfall cannot check the machine now. It does not change or delete the Node.",
    isTrouble: true,
  },
  outOfService: {
    name: "outOfService",
    word: "out of service",
    looksLike: "outOfService",
    meaning: "The Node has the out-of-service taint, so Kubernetes starts no Pods on it.",
    isTrouble: true,
  },
  notReady: {
    name: "notReady",
    word: "not ready",
    looksLike: "notReady",
    meaning: "The machine runs, but its kubelet is not ready or does not report.",
    isTrouble: true,
  },
  stopped: {
    name: "stopped",
    word: "stopped",
    looksLike: "stopped",
    meaning: "The machine exists but does not run.",
    isTrouble: true,
  },
  differs: {
    name: "differs",
    word: "out of sync",
    looksLike: "differs",
    meaning: "Labels, addresses or provider ID differ from the desired values.",
    isTrouble: true,
  },
  conflict: {
    name: "conflict",
    word: "address conflict",
    looksLike: "conflict",
    meaning:
      "Another Node, an address pool or a Service has an address of this Node or its machine.",
    isTrouble: true,
  },
  joining: {
    name: "joining",
    word: "joining",
    looksLike: "joining",
    meaning: "The Node has its taint and waits for initialisation.",
  },
  foreign: {
    name: "foreign",
    word: "foreign",
    looksLike: "foreign",
    meaning: "The Node belongs to another cloud or another Landfall. Landfall does not change it.",
  },
  well: {
    name: "well",
    word: "in sync",
    looksLike: "well",
    meaning: "The machine runs, and the Node has all desired values.",
    isReady: true,
  },
};

/** The same in their order. */
export const NODE_STATES: readonly KindState[] = Object.values(STATES);

/** Whether a text names a state. */
export function isStateName(text: string): text is StateName {
  return Object.hasOwn(STATES, text);
}

/** The state of a Node, and the reason. */
export interface NodeCondition {
  readonly state: StateName;
  /** Sentences for operators; empty if the state says everything. */
  readonly why: string;
}

/** Reasons why a cloud that answered has no single machine for a Node, although the Node waits for one. */
const UNMATCHED: ReadonlySet<string> = new Set([
  "undecodable",
  "ambiguous",
  "malformedProviderId",
  "noIdentity",
  "notFound",
  "otherCloud",
]);
const DELETION_GOES_ON: ReadonlySet<string> = new Set(["waiting", "confirm"]);

/** Judges a Node. */
export function toCondition(node: NodeView): NodeCondition {
  const { presence } = node;
  switch (presence.kind) {
    case "foreign":
      return {
        state: UNMATCHED.has(presence.reason ?? "") ? "unmatched" : "foreign",
        why: presence.message ?? "",
      };
    case "absent":
      return { state: "missing", why: joinReasons(node) };
    case "unknown":
      return { state: toUnknownState(node), why: joinReasons(node) };
    case "present":
      return judgePresent(node);
  }
}

function toUnknownState({ presence, providerId, deletion }: NodeView): StateName {
  const { reason = "" } = presence;
  if (UNMATCHED.has(reason)) return "unmatched";
  if (reason === "notListed") return providerId === undefined ? "unmatched" : "missing";
  return deletion && DELETION_GOES_ON.has(deletion.state) ? "missing" : "unseen";
}

/** What delays a deletion, what the cloud says, and whether the Node is out of service; each only once. */
function joinReasons(node: NodeView): string {
  const { presence, deletion } = node;
  const reasons = [deletion?.message ?? "", presence.message ?? "", ...listService(node)];
  return [...new Set(reasons)].filter(Boolean).join(". ");
}

/** Whether a Node is out of service, unless the same keeps it from being deleted. */
function listService(node: NodeView): string[] {
  const words = describeOutOfService(node);
  if (words === undefined || words.detail === node.deletion?.message) return [];
  return [`Out of service: ${words.answer}. ${words.detail}`];
}

function judgePresent(node: NodeView): NodeCondition {
  const { lastReconcile, instance, ready } = node;
  if (lastReconcile?.error !== undefined) {
    return { state: "failing", why: lastReconcile.error };
  }
  const isStopped = instance?.state === "stopped";
  const power = instance?.details["powerState"];
  const off = [
    ...(isStopped && power !== undefined ? [`The cloud says "${power}"`] : []),
    ...(isStopped && node.presence.message ? [node.presence.message] : []),
  ];
  const service = describeOutOfService(node);
  if (service?.answer === "yes") {
    return { state: "outOfService", why: [...off, service.detail].join(". ") };
  }
  if (isStopped) return { state: "stopped", why: [...off, ...listService(node)].join(". ") };
  const conflict = node.addressConflict ?? "";
  if (node.isUninitialized) return { state: "joining", why: "" };
  if (ready !== "True") {
    return { state: "notReady", why: `The condition Ready is ${ready}` };
  }
  const count = countDifferences(node);
  if (count === 0) return { state: conflict === "" ? "well" : "conflict", why: conflict };
  if (node.providerId === undefined && node.presence.message) {
    return { state: "differs", why: node.presence.message };
  }
  const what = `${count} of its labels and addresses ${count === 1 ? "is" : "are"} out of sync`;
  return { state: "differs", why: conflict === "" ? what : `${what}. ${conflict}` };
}
