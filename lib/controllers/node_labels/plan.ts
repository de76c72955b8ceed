/**
 * Plans the labels of an initialised Node after its machine. Pure and total. After a plan is applied, the next one is
 * empty.
 * @module
 */
import type { Presence, Provider } from "../../cloud/provider.ts";
import { joinFew } from "../../core/text/printable.ts";
import type { EventOptions } from "../../kube/events/events.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { isKubeletReporting, isUninitialized } from "../identity.ts";
import { planTagLabels, type TagLabelPlan, toInstanceLabels } from "../instance_labels.ts";
import { toEvent } from "../../kube/events/words.ts";
import { TOPOLOGY_LABELS } from "../words.ts";
import { EVENT_WORDS } from "./words.ts";

/** How many labels or tags a warning names. */
const SHOWN_MAX = 5;

/** Labels by key. */
export type Labels = Readonly<Record<string, string>>;

/** What Landfall knows besides the Node and its instance. */
interface LabelKnowledge {
  /** The value that the cloud last reported for each label; empty before the first report. */
  readonly reported: Labels;
  /** `Provider.originLabels`. */
  readonly origins: Labels;
  /** `Provider.unmanaged`. @default {nothing} */
  readonly unmanaged?: Provider["unmanaged"];
}

/** The changes of one reconcile of a Node's labels. */
export interface LabelPlan {
  /** Labels to set; empty if nothing differs. */
  readonly set: Labels;
  /** Changes to labels from tags; absent without changes. */
  readonly tags?: TagLabelPlan;
  /** Whether the plan only restores labels that another program or a user changed. */
  readonly isRepair: boolean;
  /** Events to record after the labels are written: how the machine changed. */
  readonly events: readonly EventOptions[];
  /** A warning about the place of the machine; the same at each look. */
  readonly caution?: EventOptions;
  /** Warnings about tags that become no labels; the same at each look. */
  readonly tagWarnings?: readonly EventOptions[];
  /** The next {@linkcode LabelKnowledge.reported}, once the labels are written. */
  readonly reported: Labels;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface Move {
  readonly from: string;
  readonly to: string;
}

/**
 * Plans the labels of one Node. If the cloud does not report a value now (a halted VM has no host), the label stays.
 * While the kubelet reports, the Node does not follow a machine that is off elsewhere: see {@linkcode isOffElsewhere}.
 *
 * A machine has moved if the cloud reports another value than before. Before its first report to this process, an old
 * label counts as the cloud's last report if at least two labels of its kind agree: a user rarely edits more than one.
 */
export function planNodeLabels(
  node: Node,
  presence: Presence,
  { reported: before, origins, unmanaged }: LabelKnowledge,
): LabelPlan {
  const kinds = listKinds(unmanaged);
  const reported = unmanaged?.has("zone") ? omit(before, TOPOLOGY_LABELS.zone) : before;
  // Another controller initialised a Node without a provider ID.
  const isOurs = !isUninitialized(node) && node.spec?.providerID && presence.kind !== "foreign";
  if (isTooEarly(presence) || !isOurs) return { set: {}, isRepair: false, events: [], reported };
  const actual = node.metadata.labels ?? {};
  const isOwn =
    presence.kind === "present" && !isOffElsewhere(node, presence, { reported, origins });
  const wanted = isOwn ? toWanted(presence, reported) : {};
  const findMove = (key: string): Move | undefined => {
    const to = wanted[key];
    const from = reported[key] ?? findTrusted(key, actual, wanted, origins);
    return to === undefined || from === undefined || from === to ? undefined : { from, to };
  };
  const differing = { ...pickDiffering(actual, wanted), ...planTwins(actual, wanted, kinds) };
  const first = planOrigins(actual, origins, findMove);
  const isReported = (key: string): boolean =>
    wanted[key] === undefined || wanted[key] === reported[key];
  const tags = isOwn ? planTagLabels(node, presence.instance) : undefined;
  return {
    set: { ...differing, ...first },
    ...(tags && hasChanges(tags) && { tags }),
    isRepair:
      Object.keys(first).length === 0 &&
      Object.keys(differing).every(isReported) &&
      tags?.isRepair !== false,
    events: listEvents(differing, findMove, keepsOldPlace(node, presence) ? OLD_PLACE : ""),
    ...(presence.kind === "present" &&
      presence.caution && { caution: toEvent(EVENT_WORDS.outOfScope, presence.caution) }),
    ...toTagWarnings(presence, tags),
    reported: { ...reported, ...wanted },
  };
}

function listKinds(unmanaged: Provider["unmanaged"]): readonly (readonly [string, string])[] {
  const { instanceType, zone, region } = TOPOLOGY_LABELS;
  return unmanaged?.has("zone") ? [instanceType, region] : [instanceType, zone, region];
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
    const what = `Landfall did not set these labels and leaves them: ${joinFew(conflicts, SHOWN_MAX)}`;
    const message = `${what}. To use the value of the tag, remove the label. To keep the label, remove the tag`;
    tagWarnings.push(toEvent(EVENT_WORDS.tagConflict, message));
  }
  if (refused.length > 0) {
    tagWarnings.push(
      toEvent(EVENT_WORDS.tagRefused, `${joinFew(refused, SHOWN_MAX)}. Correct these tags`),
    );
  }
  return tagWarnings.length > 0 ? { tagWarnings } : {};
}

/** Whether Landfall has no inventory for the Node yet, and so must not plan. */
export function isTooEarly(presence: Presence): boolean {
  return presence.kind === "unknown" && presence.reason === "noInventory";
}

/**
 * Whether the cloud shows a machine that is off, in another place than before, although the kubelet reports. The
 * machine of the Node runs then. So this one is a copy, or the cloud is behind: the Node has not moved.
 */
function isOffElsewhere(
  node: Node,
  { instance }: Presence & { kind: "present" },
  { reported, origins }: Pick<LabelKnowledge, "origins" | "reported">,
): boolean {
  if (instance.state !== "stopped" || !isKubeletReporting(node)) return false;
  const { topology, additional } = toInstanceLabels(instance);
  const shown: Labels = { ...additional, ...topology };
  const before: Labels = { ...node.metadata.labels, ...reported };
  const places = [...TOPOLOGY_LABELS.region, ...TOPOLOGY_LABELS.zone, ...Object.keys(origins)];
  return places.some((key) => (shown[key] ?? before[key]) !== (before[key] ?? shown[key]));
}

/** A machine that is off keeps the last known values. */
function toWanted({ instance }: Presence & { kind: "present" }, reported: Labels): Labels {
  const { topology, additional } = toInstanceLabels(instance);
  return { ...(instance.state === "stopped" && reported), ...additional, ...topology };
}

function pickDiffering(actual: Labels, wanted: Labels): Labels {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => actual[key] !== value));
}

/**
 * If the cloud reports no value, copies the beta label to the stable label, as `k8s.io/cloud-provider` does. An absent
 * beta label changes nothing.
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

/** Plans the labels that keep the place before the first move of a machine. Never changes existing ones. */
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
 * Returns the value of a label if it may count as the cloud's last report: all labels of the same kind have this value,
 * and no label of another kind has it. For a halted VM, the Go controller for Xen Orchestra writes the pool as zone and
 * host.
 */
function findTrusted(
  key: string,
  actual: Labels,
  wanted: Labels,
  origins: Labels,
): string | undefined {
  const value = actual[key];
  // A cloud that names places by UUID never reported a value that is not a UUID.
  if (!value || (UUID.test(wanted[key] ?? "") && !UUID.test(value))) return undefined;
  let agreeing = 0;
  for (const other of [...Object.values(TOPOLOGY_LABELS).flat(), ...Object.keys(origins)]) {
    if (other === key || wanted[other] === undefined) continue;
    // Labels are of the same kind if the cloud gives them the same value, for example a zone that is a host, and that
    // host.
    if (wanted[other] !== wanted[key]) {
      const places = [actual[other], wanted[other], actual[origins[other] ?? ""]];
      if (places.includes(value)) return undefined;
    } else if (actual[other] !== undefined) {
      if (actual[other] !== value) return undefined;
      agreeing += 1;
    }
  }
  return agreeing > 0 ? value : undefined;
}

/** Whether the provider ID of a Node still names the region where its machine was before. It can never change. */
function keepsOldPlace({ spec }: Node, presence: Presence): boolean {
  return presence.kind === "present" && presence.instance.providerId !== spec?.providerID;
}

/** For people with a CSI driver, such as xenorchestra-csi-driver. */
const OLD_PLACE =
  "; the provider ID cannot change and still names the old one, which a CSI driver may use while the labels name the " +
  "new one, so replace the Node when you can (drain it, delete it, restart its kubelet)";

const MOVE_EVENTS = [
  { kind: "region", word: EVENT_WORDS.regionChanged, what: "region" },
  { kind: "zone", word: EVENT_WORDS.zoneChanged, what: "zone" },
  { kind: "instanceType", word: EVENT_WORDS.instanceTypeChanged, what: "instance type" },
] as const;

/** Lists the Events of moves. If another program has written the labels already, there is no Event. */
function listEvents(
  set: Labels,
  findMove: (key: string) => Move | undefined,
  ofRegion: string,
): EventOptions[] {
  const events: EventOptions[] = [];
  for (const { kind, word, what } of MOVE_EVENTS) {
    const [stable, beta] = TOPOLOGY_LABELS[kind];
    const move = findMove(stable);
    if (!move || (set[stable] === undefined && set[beta] === undefined)) continue;
    const change = `The ${what} of the machine changed: old=${move.from}, new=${move.to}`;
    const message = kind === "region" ? change + ofRegion : change;
    events.push(toEvent(word, message));
  }
  return events;
}
