/**
 * Decides which Nodes may get traffic of load balancers. Pure.
 * @module
 */
import type {
  LoadBalancerBackend,
  LoadBalancerProblem,
} from "../../cloud/capabilities/load_balancers.ts";
import type { Instance } from "../../cloud/instance.ts";
import { NODE_SELECTOR } from "../../cloud/node_selector.ts";
import type { Presence, UnknownReason } from "../../cloud/provider.ts";
import {
  LABEL_SELECTOR_FORM,
  type LabelSelector,
  matchesLabels,
  parseLabelSelector,
} from "../../core/text/label.ts";
import { joinFew, quote } from "../../core/text/printable.ts";
import { parseBool } from "../../core/text/values.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { isReady } from "../identity.ts";
import { EVENT_WORDS, EXCLUDED_NODE, TO_BE_DELETED_TAINT } from "./words.ts";
import type { Service } from "../../kube/kinds/service.ts";

/** A Node that may get traffic. */
interface Member {
  readonly nodeName: string;
  /** Absent if it is not of this cloud. */
  readonly backend?: LoadBalancerBackend;
  /** Its machine, if the cloud shows it. */
  readonly instance?: Instance;
  /** Why the load balancer cannot use it, and what to do; no full stop. Only of a Ready Node. */
  readonly why?: string;
}

/** A Node, and what load balancers may do with it. */
export interface Candidate {
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The instance that its provider ID names. */
  readonly namedId?: string;
  /** Absent if it must get no traffic of any Service. */
  readonly member?: Member;
  /** Whether its label is the reason for that. */
  readonly isLabelled: boolean;
}

/** The Nodes for a load balancer, by their names. */
export interface NodeSet {
  readonly members: readonly Member[];
  readonly backends: readonly LoadBalancerBackend[];
  /** The cloud's IDs of their instances, as far as they are known. */
  readonly instanceIds: ReadonlySet<string>;
  /** The cloud's IDs of the instances of Nodes that must get no traffic. */
  readonly excludedIds: ReadonlySet<string>;
  /** Which Nodes the label excludes, or that none is chosen; no full stop. Absent: neither. */
  readonly exclusion?: string;
}

/** The Nodes for a Service, or why they cannot be known: the field and its value, without full stop. */
export type NodeReading = NodeSet | { readonly problem: string };

/** What a Node lacks, not its cloud. */
const OWN_REASONS: ReadonlySet<UnknownReason> = new Set([
  "notListed",
  "notFound",
  "ambiguous",
  "undecodable",
  "malformedProviderId",
  "noIdentity",
]);
const NAMES_MAX = 5;
/** Each has a sentence, and an Event is short. */
const REASONS_MAX = 3;

/**
 * Whether a Node may get traffic: it is not excluded and not about to be removed. Whether it is Ready does not matter:
 * health checks decide that.
 */
export function isBackendNode(node: Node): boolean {
  const isLeaving = node.spec?.taints?.some(({ key }) => key === TO_BE_DELETED_TAINT) ?? false;
  return node.metadata.deletionTimestamp === undefined && !isExcluded(node) && !isLeaving;
}

/**
 * Whether a change of a Node may change load balancers: a new or deleted Node, another exclusion, provider ID or
 * InternalIP. Readiness, taints and other labels do not count.
 */
export function changesBackends(before: Node | undefined, after: Node | undefined): boolean {
  if (before === undefined || after === undefined) return before !== after;
  return toInputs(before) !== toInputs(after);
}

/** What a backend needs to know about instances. */
interface InstanceLookup {
  /** Reads an instance ID from a provider ID; `undefined` if it is not one of this cloud. */
  readonly toInstanceId: ((providerId: string) => string | undefined) | undefined;
  readonly findPresence: (node: Node) => Presence;
}

/** Lists all Nodes by their names. */
export function toCandidates(
  nodes: Iterable<Node>,
  { toInstanceId, findPresence }: InstanceLookup,
): readonly Candidate[] {
  const candidates = Array.from(nodes, (node): Candidate => {
    const { name: nodeName, labels } = node.metadata;
    const { providerID } = node.spec ?? {};
    const namedId = providerID ? toInstanceId?.(providerID) : undefined;
    return {
      nodeName,
      labels: labels ?? {},
      isLabelled: isExcluded(node),
      ...(namedId !== undefined && { namedId }),
      ...(isBackendNode(node) && { member: toMember(node, findPresence(node), namedId) }),
    };
  });
  return candidates.sort((a, b) => (a.nodeName < b.nodeName ? -1 : 1));
}

/** The Nodes that a Service chooses. A Node of another cloud is no backend. */
export function selectNodes(candidates: readonly Candidate[], selector: LabelSelector): NodeSet {
  const chosen = candidates.filter(({ labels }) => matchesLabels(selector, labels));
  const isChosen = new Set(chosen);
  const isOut = (one: Candidate): boolean =>
    one.member === undefined || (one.member.backend !== undefined && !isChosen.has(one));
  const members = chosen.flatMap(({ member }) => member ?? []);
  const backends = members.flatMap(({ backend }) => backend ?? []);
  const exclusion =
    candidates.length > 0 && chosen.length === 0
      ? `no Node has the labels that the annotation ${NODE_SELECTOR} asks for: label one, or change it`
      : explainLabel(chosen);
  return {
    members,
    backends,
    instanceIds: new Set(backends.flatMap(({ instanceId }) => instanceId ?? [])),
    excludedIds: new Set(candidates.filter(isOut).flatMap(({ namedId }) => namedId ?? [])),
    ...(exclusion !== undefined && { exclusion }),
  };
}

/** Whether a load balancer that has the Nodes of one set must be planned again with those of another. */
export function needsUpdate(before: NodeSet, now: NodeReading | undefined): boolean {
  return now !== undefined && "members" in now && before.members !== now.members;
}

/** Says that no Node may get traffic, and which Ready Nodes a load balancer cannot use, each with the reason. */
export function checkNodes({ members, backends, exclusion }: NodeSet): LoadBalancerProblem[] {
  const problems: LoadBalancerProblem[] = [];
  if (backends.length === 0) {
    const what = "There are no available nodes for LoadBalancer";
    const message = exclusion === undefined ? what : `${what}: ${exclusion}`;
    problems.push({ reason: EVENT_WORDS.noNodes.reason, message, isWaiting: false });
  }
  const told = members.flatMap(({ nodeName, why }) =>
    why === undefined ? [] : `${nodeName}: ${why}`,
  );
  if (told.length === 0) return problems;
  const count = told.length === 1 ? "1 Ready Node" : `${told.length} Ready Nodes`;
  const message = `The load balancer cannot use ${count}: ${joinFew(told, REASONS_MAX)}`;
  const { reason } = EVENT_WORDS.absentNodes;
  return [...problems, { reason, message, isWaiting: false, isOnce: true }];
}

/** The InternalIPs of a Node, in its order. */
export function listInternalIps({ status }: Node): readonly string[] {
  return (status?.addresses ?? [])
    .filter(({ type }) => type === "InternalIP")
    .map(({ address }) => address);
}

/** Whether the label excludes a Node: every value but a boolean that is false, also an empty one. */
function isExcluded({ metadata }: Node): boolean {
  const label = metadata.labels?.[EXCLUDED_NODE];
  return label !== undefined && parseBool(label) !== false;
}

/** A text, because each report of a kubelet makes it twice. No part holds a space. */
function toInputs(node: Node): string {
  return [isExcluded(node), node.spec?.providerID ?? "", ...listInternalIps(node)].join(" ");
}

function toMember(node: Node, presence: Presence, namedId: string | undefined): Member {
  const { name: nodeName } = node.metadata;
  const instance = presence.kind === "present" ? presence.instance : undefined;
  const why = isReady(node) ? (presence.otherMachine ?? explainAbsence(presence)) : undefined;
  const instanceId = namedId ?? instance?.id;
  const backend = {
    nodeName,
    ...(instanceId !== undefined && { instanceId }),
    internalIps: listInternalIps(node),
  };
  return {
    nodeName,
    ...(presence.kind !== "foreign" && { backend }),
    ...(instance && { instance }),
    ...(why !== undefined && { why }),
  };
}

function explainAbsence(presence: Presence): string | undefined {
  if (presence.kind === "foreign" && presence.isUnselected !== true) {
    return presence.message ?? "its provider ID is of another cloud";
  }
  const isOwn = presence.kind === "unknown" && OWN_REASONS.has(presence.reason);
  return isOwn ? presence.message : undefined;
}

function explainLabel(chosen: readonly Candidate[]): string | undefined {
  const names = chosen.flatMap(({ nodeName, isLabelled }) => (isLabelled ? nodeName : []));
  if (names.length === 0) return undefined;
  return `the label ${EXCLUDED_NODE} excludes ${joinFew(names, NAMES_MAX)}`;
}

/** Parsing a longer one would take too long. */
const CHARS_MAX = 500;
/** Every Node is compared with every one of them. */
const PARTS_MAX = 10;

/** The text of the selector, without spaces around it; empty without one. */
export function readSelectorText({ metadata }: Service): string {
  return metadata.annotations?.[NODE_SELECTOR]?.trim() ?? "";
}

/** Parses such a text, or says what is wrong with it. Without a text, the selector matches every Node. */
export function parseNodeSelector(
  text: string,
): { readonly selector: LabelSelector } | { readonly problem: string } {
  if (text === "") return { selector: [] };
  const field = `annotation ${NODE_SELECTOR}`;
  if (text.length > CHARS_MAX)
    return { problem: `${field}: has more than ${CHARS_MAX} characters` };
  const selector = parseLabelSelector(text);
  if (selector === undefined) {
    return { problem: `${field}: ${quote(text)} is not ${LABEL_SELECTOR_FORM}` };
  }
  if (selector.length <= PARTS_MAX) return { selector };
  return { problem: `${field}: has more than ${PARTS_MAX} parts` };
}
