/**
 * Decides which labels of an initialised Node have to follow its machine: pure and total, and nothing once it was
 * applied.
 * @module
 */
import type { Presence } from "../../cloud/provider.ts";
import type { EventOptions } from "../../kube/events.ts";
import type { Node } from "../../kube/resource.ts";
import { isUninitialized } from "../identity.ts";
import { toInstanceLabels } from "../instance_labels.ts";
import { type EventWord, TOPOLOGY_LABELS } from "../words.ts";
import { EVENTS } from "./words.ts";

/** Labels by key. */
export type Labels = Readonly<Record<string, string>>;

/** What is known beside the Node and its instance. */
export interface LabelKnowledge {
  /** What the cloud last told of the labels that moves are seen by; absent before it told anything. */
  readonly told: Labels | undefined;
  /** `Provider.originLabels`. */
  readonly origins: Labels;
}

/** What one reconcile of a Node's labels does. */
export interface LabelPlan {
  /** Labels to set; empty when nothing differs. */
  readonly set: Labels;
  /** To be written after the labels: what became of the machine. */
  readonly events: readonly EventOptions[];
  /** What to remember as {@linkcode LabelKnowledge.told} once the labels stand. */
  readonly told: Labels | undefined;
}

/**
 * Plans the labels of one Node. What the cloud does not tell now (a halted VM has no host) stays as it is.
 *
 * A machine has moved when the cloud tells another value than before. Before the cloud told anything to this process,
 * an old label counts as the cloud's word if a second label of ours agrees with it: a hand rarely
 * edits both.
 */
export function planNodeLabels(
  node: Node,
  presence: Presence,
  { told, origins }: LabelKnowledge,
): LabelPlan {
  const nothing = { set: {}, events: [], told };
  // A Node without a provider ID was initialised by somebody else.
  if (isUninitialized(node) || !node.spec?.providerID || presence.kind === "foreign")
    return nothing;
  const actual = node.metadata.labels ?? {};
  const wanted = presence.kind === "present" ? toWanted(presence.instance) : {};
  const set: Record<string, string> = {};
  for (const [key, value] of Object.entries(wanted)) if (actual[key] !== value) set[key] = value;
  Object.assign(set, planTwins(actual, wanted));

  const findMove = (key: string): Move | undefined => {
    const to = wanted[key];
    const from = told?.[key] ?? findCorroborated(actual, wanted, key);
    return to === undefined || from === undefined || from === to ? undefined : { from, to };
  };
  for (const [key, origin] of Object.entries(origins)) {
    const move = findMove(key);
    if (move && !actual[origin]) set[origin] = move.from;
  }
  return {
    set,
    events: listEvents(set, findMove),
    told: presence.kind === "present" ? { ...told, ...pick(wanted, origins) } : told,
  };
}

interface Move {
  readonly from: string;
  readonly to: string;
}

function toWanted(instance: (Presence & { kind: "present" })["instance"]): Labels {
  const { topology, additional } = toInstanceLabels(instance);
  return { ...additional, ...topology };
}

/**
 * Where the cloud tells nothing, the stable label follows its beta twin, which is the one that counts (contract of
 * `k8s.io/cloud-provider`). A beta label that is absent changes nothing.
 */
function planTwins(actual: Labels, wanted: Labels): Record<string, string> {
  const set: Record<string, string> = {};
  for (const [stable, beta] of Object.values(TOPOLOGY_LABELS)) {
    const value = actual[beta];
    if (wanted[stable] !== undefined || value === undefined) continue;
    if (actual[stable] !== value) set[stable] = value;
  }
  return set;
}

/**
 * The value of a label, if another label of the same kind has it too, and none of another kind: the Go controller for
 * Xen Orchestra calls the pool of a halted VM its zone and its host.
 */
function findCorroborated(actual: Labels, wanted: Labels, key: string): string | undefined {
  const value = actual[key];
  if (!value) return undefined;
  const sharing = Object.keys(wanted).filter((other) => other !== key && actual[other] === value);
  const isTrusted = sharing.length > 0 && sharing.every((other) => wanted[other] === wanted[key]);
  return isTrusted ? value : undefined;
}

const TOLD_EVENTS: readonly (readonly [keyof typeof TOPOLOGY_LABELS, EventWord, string])[] = [
  ["region", EVENTS.regionChanged, "region"],
  ["zone", EVENTS.zoneChanged, "zone"],
  ["instanceType", EVENTS.instanceTypeChanged, "instance type"],
];

function listEvents(set: Labels, findMove: (key: string) => Move | undefined): EventOptions[] {
  const events: EventOptions[] = [];
  for (const [kind, { type, reason }, what] of TOLD_EVENTS) {
    const [stable, beta] = TOPOLOGY_LABELS[kind];
    const move = findMove(stable);
    if (!move || (set[stable] === undefined && set[beta] === undefined)) continue;
    const message = `The ${what} of the machine changed: old=${move.from}, new=${move.to}`;
    events.push({ type, reason, message });
  }
  return events;
}

/** The labels that moves are seen by: the stable ones of the topology, and those whose first value is kept. */
function pick(wanted: Labels, origins: Labels): Record<string, string> {
  const keys = [
    ...Object.values(TOPOLOGY_LABELS).map(([stable]) => stable),
    ...Object.keys(origins),
  ];
  const picked: Record<string, string> = {};
  for (const key of keys) if (wanted[key] !== undefined) picked[key] = wanted[key];
  return picked;
}
