/**
 * What a BareMetalHost says about who may have it. Pure.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { type Key, toKey } from "../../../kube/cache/store.ts";
import { type Assigned, type HostFacts, LATE } from "../schedule/types.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE, NODE_TYPE, STANDBY, WITHOUT_METAL3 } from "../words.ts";
import {
  type BareMetalHost,
  DETACHED,
  NODE_REUSE,
  PAUSED,
  UNHEALTHY,
  VINO_UID,
} from "../../../kube/kinds/bare_metal_host.ts";

type Labels = HostFacts["labels"];

const NO_LABELS: Labels = Object.freeze({});

/** State of a host without management controller. */
const UNMANAGED = "unmanaged";
/** State of a host that another program provisioned. */
const EXTERNAL = "externally provisioned";
/** States in which an image is on the host, or is being written or removed. */
const IN_USE: ReadonlySet<string> = new Set([
  "provisioning",
  "provisioned",
  EXTERNAL,
  "deprovisioning",
]);

/** States of a host that metal3 can install now. The second is the old name of the first. */
const READY: ReadonlySet<string> = new Set(["available", "ready"]);
/**
 * States that metal3 never leaves to install a host, with why it is refused: it has no management controller, or the
 * image of another program.
 */
const OUTSIDE: ReadonlyMap<string, string> = new Map([
  [UNMANAGED, "unmanaged (not for Cluster API)"],
  [EXTERNAL, "externally provisioned (not for Cluster API)"],
]);
/** Without a state, no operator of metal3 has seen the host: an inventory of hosts needs none. */
const isUsable = (state: string): boolean => state === "" || READY.has(state) || OUTSIDE.has(state);

/** States with a word of their own: what is left is not known. */
const UNUSABLE: ReadonlyMap<string, string> = new Map([
  ["registering", "registering"],
  ["match profile", "being prepared"],
  ["inspecting", "inspecting"],
  ["preparing", "being prepared"],
  ["provisioning", "provisioned"],
  ["provisioned", "provisioned"],
  ["deprovisioning", "being deprovisioned"],
  ["powering off before delete", "being deleted"],
  ["deleting", "being deleted"],
]);

/**
 * The cluster that the labels name. Who may write the host may write them: they do not say who has it.
 *
 * @returns `undefined` if they name none, or not completely; see {@linkcode isLabelled}
 */
export function findLabelled(labels: Labels = NO_LABELS): Key | undefined {
  const namespace = labels[CLUSTER_NAMESPACE] ?? "";
  const name = labels[CLUSTER_NAME] ?? "";
  return namespace === "" || name === "" ? undefined : `${namespace}/${name}`;
}

/** Whether labels are those of a host with this assignment. Another value of standby than `true` confuses selectors. */
export function isLabelledAs(labels: Labels, { cluster, role, standby }: Assigned): boolean {
  return (
    findLabelled(labels) === cluster &&
    labels[NODE_TYPE] === role &&
    labels[STANDBY] === (standby ? "true" : undefined)
  );
}

/** Whether a host has the label of a cluster, which other programs read as a claim: it cannot be taken. */
export function isLabelled(labels: Labels = NO_LABELS): boolean {
  return labels[CLUSTER_NAME] !== undefined;
}

/** Whether some object uses the host. A reference without fields counts, too. */
export function hasConsumer({ spec }: BareMetalHost): boolean {
  return spec?.consumerRef !== undefined && spec.consumerRef !== null;
}

/** Whether metal3 has an image on the host, or is to put one there. Its state may not say so yet. */
function hasImage({ spec }: BareMetalHost): boolean {
  return Boolean(spec?.image?.url || spec?.customDeploy?.method);
}

/**
 * Whether a cluster that is being deleted waits for a host: something uses it, or metal3 installed it. One that another
 * program provisioned has that state for ever.
 */
export function holdsDeletion(host: BareMetalHost): boolean {
  const state = toState(host);
  return hasConsumer(host) || (state !== EXTERNAL && (IN_USE.has(state) || hasImage(host)));
}

/** What uses a host, as one text; empty if nothing does. */
export function findUser({ spec = {} }: BareMetalHost): string {
  const { consumerRef, image, customDeploy } = spec;
  const used = [consumerRef, image?.url, customDeploy?.method];
  return used.some(Boolean) ? JSON.stringify(used) : "";
}

/**
 * Reads the facts of a host.
 *
 * @param assigned What it is for. Absent: no cluster has it
 * @param isDoubtful Whether the record of the cluster may be out of date
 */
export function toHostFacts(
  host: BareMetalHost,
  assigned?: Assigned,
  isDoubtful: boolean = false,
): HostFacts {
  const { labels = NO_LABELS } = host.metadata;
  const trouble = findTrouble(host, labels, assigned) ?? (isDoubtful ? TROUBLES.doubt : undefined);
  // A host that moves to another management cluster is paused, and then also deleted.
  const isPaused = PAUSED in (host.metadata.annotations ?? {});
  const state = toState(host);
  const outside = findOutside(host);
  // What a host of a cluster goes through does not count.
  const isUnready = assigned === undefined && !READY.has(state);
  const late = NODE_REUSE in labels ? LATE.reserved : isUnready ? LATE.unready : undefined;
  return {
    key: toKey(host),
    labels,
    ...(assigned && { assigned }),
    ...(trouble && { trouble }),
    ...((isPaused || isDoubtful) && { isUntouchable: true }),
    ...(isDoubtful && { isDoubtful }),
    isInUse: hasConsumer(host) || IN_USE.has(state) || hasImage(host),
    ...(late !== undefined && { late }),
    ...(outside && { outside }),
  };
}

/** Whether two states of a host have the same facts. */
export function hasSameFacts(one: HostFacts, other: HostFacts): boolean {
  return isDeepStrictEqual(one, other);
}

/** Whether two maps have the same labels. */
export function hasSameLabels(one: Labels, other: Labels): boolean {
  if (one === other) return true;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => one[key] === other[key]);
}

/** The trouble of a host of which metal3 reports an error. */
export const IN_ERROR = "in error";

/** Why a host may not be taken, in the words of reports. */
const TROUBLES = {
  deleting: "being deleted",
  paused: "paused",
  detached: "detached",
  unhealthy: "unhealthy",
  error: IN_ERROR,
  labels: "labelled for a SIPCluster that does not have it",
  consumer: "used by another consumer",
  image: "provisioned",
  unknown: "in an unknown state",
  doubt: "in doubt",
  tooLarge: "too large to be kept in memory",
} as const;

function findTrouble(
  host: BareMetalHost,
  labels: Labels,
  assigned: Assigned | undefined,
): string | undefined {
  const { deletionTimestamp, annotations = {} } = host.metadata;
  const { operationalStatus, errorMessage = "" } = host.status ?? {};
  if (deletionTimestamp !== undefined) return TROUBLES.deleting;
  if (PAUSED in annotations) return TROUBLES.paused;
  if (assigned === undefined && isLabelled(labels)) return TROUBLES.labels;
  if (DETACHED in annotations || operationalStatus === "detached") return TROUBLES.detached;
  if (UNHEALTHY.some((key) => key in annotations)) return TROUBLES.unhealthy;
  if (operationalStatus === "error" || errorMessage !== "") return TROUBLES.error;
  // A host of a cluster has the consumer and goes through the states that it was taken for.
  if (assigned !== undefined) return undefined;
  if (host.metadata.isStub) return TROUBLES.tooLarge;
  if (hasConsumer(host)) return TROUBLES.consumer;
  const state = toState(host);
  if (!isUsable(state)) return UNUSABLE.get(state) ?? TROUBLES.unknown;
  if (hasImage(host) && state !== EXTERNAL) return TROUBLES.image;
  return WITHOUT_METAL3 in labels ? undefined : OUTSIDE.get(findOutside(host) ?? "");
}

/** The state of a host that Cluster API can never use. A Vino makes such hosts on purpose. */
function findOutside(host: BareMetalHost): string | undefined {
  const state = toState(host);
  return OUTSIDE.has(state) && !(VINO_UID in (host.metadata.labels ?? {})) ? state : undefined;
}

/** The state of a host; of one that metal3 has not seen yet, the one that it will say and never leave. */
function toState({ metadata, spec = {}, status }: BareMetalHost): string {
  const state = status?.provisioning?.state ?? "";
  if (state !== "" || metadata.isStub === true) return state;
  if (spec.externallyProvisioned === true) return EXTERNAL;
  return spec.bmc === undefined ? UNMANAGED : "";
}
