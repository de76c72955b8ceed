/**
 * What the BareMetalHost of a machine says to Landfall. Pure.
 * @module
 */
import { toOwnerPrefix } from "../../../cloud/capabilities/machines.ts";
import {
  type BareMetalHost,
  CLUSTER_API_PAUSED,
  HARDWARE_DETAILS,
  LEAVES_CLUSTER,
  PAUSED,
  VINO_UID,
} from "../../../kube/kinds/bare_metal_host.ts";
import { quote } from "../../../core/text/printable.ts";
import { HOST_CLUSTER_NAME } from "../../words.ts";
import type { HostState } from "../resource/vino_machine.ts";
import { LABELS_RECORD, MACHINE_ID, MACHINE_NAME } from "./words.ts";

/** A host that exists. */
export interface HostFacts {
  readonly name: string;
  /** Both absent only if the API server left them out: nothing is written then. */
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** UID of the Vino that it was made for; absent: something else made it. */
  readonly vinoUid: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** Keys of labels that Landfall recorded as its own. */
  readonly record: ReadonlySet<string>;
  readonly machineName: string | undefined;
  readonly machineId: string | undefined;
  /** Details of the hardware that metal3 has not read yet. */
  readonly hardwareDetails: string | undefined;
  /** In lower case. */
  readonly bootMac: string | undefined;
  readonly isPaused: boolean;
  readonly isDeleting: boolean;
  /** What uses it, as the end of a sentence, such as `is used by Metal3Machine "a"`; absent: nothing does. */
  readonly use: string | undefined;
  /** How a user ends that use; no full stop. Absent: nothing uses it. */
  readonly wayOut: string | undefined;
  /** Absent: it has no management controller. */
  readonly bmcAddress: string | undefined;
  /** Whether metal3 lets its management controller change. */
  readonly isBmcOpen: boolean;
  /** What metal3 says is wrong with it; absent: nothing. */
  readonly error: string | undefined;
}

/** What Cluster API takes a host for. */
const METAL3_MACHINE = "Metal3Machine";
/** States in which an image is on the host, or is being written or removed. */
const WITH_IMAGE: ReadonlySet<string> = new Set(["provisioning", "provisioned", "deprovisioning"]);
/** States before metal3 has reached a management controller. */
const UNREGISTERED: ReadonlySet<string> = new Set(["", "unmanaged", "registering"]);

/** Reads a host. */
export function toHostFacts(host: BareMetalHost): HostFacts {
  const { name, uid, resourceVersion, labels = {}, annotations = {} } = host.metadata;
  const { provisioning, operationalStatus, errorMessage = "" } = host.status ?? {};
  const state = provisioning?.state ?? "";
  const isBroken = operationalStatus === "error" || errorMessage !== "";
  return {
    name,
    uid,
    resourceVersion,
    vinoUid: labels[VINO_UID],
    labels,
    record: new Set((annotations[LABELS_RECORD] ?? "").split(",").filter((key) => key !== "")),
    machineName: annotations[MACHINE_NAME],
    machineId: annotations[MACHINE_ID],
    hardwareDetails: annotations[HARDWARE_DETAILS],
    bootMac: host.spec?.bootMACAddress?.toLowerCase(),
    isPaused: isPaused(host),
    isDeleting: host.metadata.deletionTimestamp !== undefined,
    ...findUse(host, state),
    bmcAddress: host.spec?.bmc?.address,
    isBmcOpen: UNREGISTERED.has(state) || operationalStatus === "detached",
    error: isBroken ? errorMessage || "metal3 does not say why" : undefined,
  };
}

/** Whether a host of this state exists, and is the Vino's. */
export function doesExist(state: HostState | undefined): boolean {
  return EXISTING.has(state);
}

const EXISTING: ReadonlySet<HostState | undefined> = new Set([
  "Published",
  "Paused",
  "InUse",
  "Removing",
]);

/** Whether a person or another program must act before a host of this state can go. */
export function isHeld(state: HostState | undefined): boolean {
  return HELD.has(state);
}

const HELD: ReadonlySet<HostState | undefined> = new Set([
  "InUse",
  "Paused",
  "Moved",
  "Refused",
  "NameTaken",
]);

/** What {@linkcode toShownState} reads of a host. */
type ShownHost = Pick<HostFacts, "isDeleting" | "isPaused" | "name" | "use">;

/** How far a host is with which nothing was done. @param isWanted Whether the spec wants its machine */
export function toShownState(
  { isDeleting, isPaused, use }: ShownHost,
  isWanted: boolean,
): HostState {
  if (isDeleting) return "Removing";
  if (isPaused) return "Paused";
  return !isWanted && use !== undefined ? "InUse" : "Published";
}

/**
 * Whether a host names a machine of this Vino and lacks its label: a person removed or changed it, and the host may be
 * in use all the same.
 *
 * @param uid Of the Vino
 */
export function hasLostLabel(
  { vinoUid, machineName = "" }: Pick<HostFacts, "machineName" | "vinoUid">,
  uid: string,
): boolean {
  return vinoUid !== uid && machineName.startsWith(toOwnerPrefix({ uid }));
}

/** Says what to do about a host that lost its label; no full stop. `undefined`: it has not. */
export function explainLostLabel(facts: HostFacts, uid: string): string | undefined {
  if (!hasLostLabel(facts, uid)) return undefined;
  const { name, machineName } = facts;
  const way = `set the label ${VINO_UID}=${uid} again, or delete the host`;
  return `BareMetalHost ${name} is for machine ${machineName}, but lacks its label: ${way}`;
}

/** Whether a user or another program asks that nothing changes the host. */
export function isPaused({ metadata: { annotations = {} } }: BareMetalHost): boolean {
  return [PAUSED, CLUSTER_API_PAUSED, LEAVES_CLUSTER].some((key) => key in annotations);
}

/**
 * What uses a host. A machine from a template is "externally provisioned" for metal3 from the beginning: that alone is
 * no use.
 */
function findUse(
  { metadata, spec }: BareMetalHost,
  state: string,
): Pick<HostFacts, "use" | "wayOut"> {
  const consumer = spec?.consumerRef;
  if (consumer !== undefined && consumer !== null) {
    const { kind = "an object", name = "" } = consumer;
    const what = kind === METAL3_MACHINE ? "its Machine in Cluster API" : "that object";
    return { use: `is used by ${kind} ${quote(name)}`, wayOut: `delete ${what}` };
  }
  const cluster = metadata.labels?.[HOST_CLUSTER_NAME];
  if (cluster !== undefined) {
    const use = `belongs to SIPCluster ${quote(cluster)}`;
    return { use, wayOut: "shrink or delete that SIPCluster" };
  }
  if (!WITH_IMAGE.has(state)) return { use: undefined, wayOut: undefined };
  const wayOut = state === "deprovisioning" ? "wait until metal3 is done" : "remove its spec.image";
  return { use: `is ${state} by metal3`, wayOut };
}
