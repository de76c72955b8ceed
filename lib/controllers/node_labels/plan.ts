/**
 * Decides which labels of an initialised Node have to follow its machine: pure and total, and nothing more once it was
 * applied.
 * @module
 */
import type { Presence, Provider } from "../../cloud/provider.ts";
import type { EventOptions } from "../../kube/events/events.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { isUninitialized } from "../identity.ts";
import { toInstanceLabels } from "../instance_labels.ts";
import { toEvent } from "../../kube/events/words.ts";
import { planTagLabels, type TagLabelPlan } from "../tag_labels.ts";
import { TOPOLOGY_LABELS } from "../words.ts";
import { EVENT_WORDS } from "./words.ts";

/** Labels by key. */
export type Labels = Readonly<Record<string, string>>;

/** What is known beside the Node and its instance. */
export interface LabelKnowledge {
  /** The value that the cloud last gave for each label; empty before the first. */
  readonly told: Labels;
  /** `Provider.originLabels`. */
  readonly origins: Labels;
  /** `Provider.leftAlone`. @default {nothing} */
  readonly leftAlone?: Provider["leftAlone"];
}

/** What one reconcile of a Node's labels does. */
export interface LabelPlan {
  /** Labels to set; empty when nothing differs. */
  readonly set: Labels;
  /** What becomes of labels from tags; absent when nothing does. */
  readonly tags?: TagLabelPlan;
  /** Whether this only restores what another program or a person changed. */
  readonly isRepair: boolean;
  /** To be written after the labels: what became of the machine. */
  readonly events: readonly EventOptions[];
  /** What a person should know of where the machine is; the same at each look. */
  readonly caution?: EventOptions;
  /** What a person should know of tags that become no labels; the same at each look. Absent: nothing. */
  readonly tagWarnings?: readonly EventOptions[];
  /** What to remember as {@linkcode LabelKnowledge.told} once the labels stand. */
  readonly told: Labels;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Move {
  readonly from: string;
  readonly to: string;
}

/**
 * Plans the labels of one Node. What the cloud does not tell now (a halted VM has no host) stays as it is.
 *
 * A machine has moved when the cloud tells another value than before. Before it told anything to this process, an old
 * label counts as the cloud's word if all labels of its kind agree, two at least: a hand rarely edits more than one.
 */
export function planNodeLabels(
  node: Node,
  presence: Presence,
  { told: before, origins, leftAlone }: LabelKnowledge,
): LabelPlan {
  const kinds = listKinds(leftAlone);
  const told = leftAlone?.has("zone") ? omit(before, TOPOLOGY_LABELS.zone) : before;
  // Another controller initialised a Node without a provider ID.
  const isOurs = !isUninitialized(node) && node.spec?.providerID && presence.kind !== "foreign";
  if (isTooEarly(presence) || !isOurs) return { set: {}, isRepair: false, events: [], told };
  const actual = node.metadata.labels ?? {};
  const wanted = presence.kind === "present" ? toWanted(presence, told) : {};
  const findMove = (key: string): Move | undefined => {
    const to = wanted[key];
    const from = told[key] ?? findTrusted(key, actual, wanted, origins);
    return to === undefined || from === undefined || from === to ? undefined : { from, to };
  };
  const differing = { ...pickDiffering(actual, wanted), ...planTwins(actual, wanted, kinds) };
  const first = planOrigins(actual, origins, findMove);
  const isTold = (key: string): boolean => wanted[key] === undefined || wanted[key] === told[key];
  const tags = presence.kind === "present" ? planTagLabels(node, presence.instance) : undefined;
  return {
    set: { ...differing, ...first },
    ...(tags && hasChanges(tags) && { tags }),
    isRepair:
      Object.keys(first).length === 0 &&
      Object.keys(differing).every(isTold) &&
      tags?.isRepair !== false,
    events: listEvents(differing, findMove),
    ...(presence.kind === "present" &&
      presence.caution && { caution: toEvent(EVENT_WORDS.outOfScope, presence.caution) }),
    ...toTagWarnings(presence, tags),
    told: { ...told, ...wanted },
  };
}

function listKinds(leftAlone: Provider["leftAlone"]): readonly (readonly [string, string])[] {
  const { instanceType, zone, region } = TOPOLOGY_LABELS;
  return leftAlone?.has("zone") ? [instanceType, region] : [instanceType, zone, region];
}

function omit(labels: Labels, keys: readonly string[]): Labels {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !keys.includes(key)));
}

function hasChanges({ set, removed, record }: TagLabelPlan): boolean {
  return Object.keys(set).length > 0 || removed.length > 0 || record !== undefined;
}

function toTagWarnings(
  presence: Presence,
  tags: TagLabelPlan | undefined,
): Pick<LabelPlan, "tagWarnings"> {
  const refused = presence.kind === "present" ? (presence.instance.tagLabels?.refused ?? []) : [];
  const conflicts = tags?.conflicts ?? [];
  const tagWarnings: EventOptions[] = [];
  if (conflicts.length > 0) {
    const what = `Landfall did not set these labels and leaves them: ${listFew(conflicts)}`;
    const message = `${what}. To use the value of the tag, remove the label. To keep the label, remove the tag`;
    tagWarnings.push(toEvent(EVENT_WORDS.tagConflict, message));
  }
  if (refused.length > 0) {
    tagWarnings.push(toEvent(EVENT_WORDS.tagRefused, `${listFew(refused)}. Correct these tags`));
  }
  return tagWarnings.length > 0 ? { tagWarnings } : {};
}

const SHOWN_MAX = 5;

function listFew(sentences: readonly string[]): string {
  const left = sentences.length - SHOWN_MAX;
  const shown = sentences.slice(0, SHOWN_MAX).join("; ");
  return left > 0 ? `${shown}; and ${left} more` : shown;
}

/** Whether the cloud is still to be asked about a Node: only then is known what it does not tell. */
export function isTooEarly(presence: Presence): boolean {
  return presence.kind === "unknown" && presence.reason === "noInventory";
}

/** A machine that does not run keeps the last known values. */
function toWanted({ instance }: Presence & { kind: "present" }, told: Labels): Labels {
  const { topology, additional } = toInstanceLabels(instance);
  return { ...(instance.state === "stopped" && told), ...additional, ...topology };
}

function pickDiffering(actual: Labels, wanted: Labels): Labels {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => actual[key] !== value));
}

/**
 * Where the cloud tells nothing, the stable label follows its beta twin, which is the one that counts (contract of
 * `k8s.io/cloud-provider`). A beta label that is absent changes nothing.
 */
function planTwins(
  actual: Labels,
  wanted: Labels,
  kinds: readonly (readonly [string, string])[],
): Labels {
  const set: Record<string, string> = {};
  for (const [stable, beta] of kinds) {
    const value = actual[beta];
    if (wanted[stable] !== undefined || value === undefined) continue;
    if (actual[stable] !== value) set[stable] = value;
  }
  return set;
}

/** Where a machine was before its first move. What stands there already is never changed. */
function planOrigins(
  actual: Labels,
  origins: Labels,
  findMove: (key: string) => Move | undefined,
): Labels {
  const set: Record<string, string> = {};
  for (const [key, origin] of Object.entries(origins)) {
    const move = findMove(key);
    if (move && actual[origin] === undefined) set[origin] = move.from;
  }
  return set;
}

/**
 * The value of a label if it may count as the cloud's word: all labels of the same kind have it, and none of another
 * kind. The Go controller for Xen Orchestra calls the pool of a halted VM its zone and its host.
 */
function findTrusted(
  key: string,
  actual: Labels,
  wanted: Labels,
  origins: Labels,
): string | undefined {
  const value = actual[key];
  // What looks like another kind of name was never told by a cloud that names places by UUID.
  if (!value || (UUID.test(wanted[key] ?? "") && !UUID.test(value))) return undefined;
  let witnesses = 0;
  for (const other of [...Object.values(TOPOLOGY_LABELS).flat(), ...Object.keys(origins)]) {
    if (other === key || wanted[other] === undefined) continue;
    // Labels are of one kind when the cloud gives them one value: a zone that is a host, and that host.
    if (wanted[other] !== wanted[key]) {
      const places = [actual[other], wanted[other], actual[origins[other] ?? ""]];
      if (places.includes(value)) return undefined;
    } else if (actual[other] !== undefined) {
      if (actual[other] !== value) return undefined;
      witnesses += 1;
    }
  }
  return witnesses > 0 ? value : undefined;
}

const MOVE_EVENTS = [
  { kind: "region", word: EVENT_WORDS.regionChanged, what: "region" },
  { kind: "zone", word: EVENT_WORDS.zoneChanged, what: "zone" },
  { kind: "instanceType", word: EVENT_WORDS.instanceTypeChanged, what: "instance type" },
] as const;

/** If another writer has set the labels of a move already, there is no Event. */
function listEvents(set: Labels, findMove: (key: string) => Move | undefined): EventOptions[] {
  const events: EventOptions[] = [];
  for (const { kind, word, what } of MOVE_EVENTS) {
    const [stable, beta] = TOPOLOGY_LABELS[kind];
    const move = findMove(stable);
    if (!move || (set[stable] === undefined && set[beta] === undefined)) continue;
    const message = `The ${what} of the machine changed: old=${move.from}, new=${move.to}`;
    events.push(toEvent(word, message));
  }
  return events;
}
