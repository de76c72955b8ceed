/**
 * Plans what to do for one BareMetalHost of a machine. Pure and total. After a plan is applied and the host is as the
 * plan made it, the next one has no change.
 *
 * No plan deletes or changes a host that is not the Vino's by its UID, that is paused, or, if it must go, that is used.
 * @module
 */
import { quote } from "../../../core/text/printable.ts";
import type { HostState } from "../resource/vino_machine.ts";
import { explainLostLabel, type HostFacts } from "./host_facts.ts";
import { isNetworkLabel } from "./labels.ts";
import type { HostOutcome, WantedHost } from "./types.ts";
import { PUBLISH_AGAIN, VINO_NAME } from "./words.ts";
import type { GuestInterface } from "../guest/types.ts";

/** Labels to write; `null` removes one. */
type LabelChanges = Readonly<Record<string, string | null>>;

/** What to change of a host. At least one member is there. */
export interface HostPatch {
  readonly labels?: LabelChanges;
  /** Keys of recorded labels, as they are then. */
  readonly record?: ReadonlySet<string>;
  /** Whether the annotations with the machine are missing. */
  readonly namesMachine?: true;
  /** Whether the details of the hardware are wrong, and metal3 has not read them yet. */
  readonly describesMachine?: true;
  /** Whether it gets the management controller that is wanted, and with the first one `online`, too. */
  readonly bmc?: "first" | "other";
}

/** One change of the API server. */
type HostChange =
  | { readonly kind: "create" }
  | { readonly kind: "patch"; readonly patch: HostPatch }
  | { readonly kind: "delete" };

/** What to do for a host, and how far it is then. */
export interface HostPlan extends HostOutcome {
  readonly change?: HostChange;
  /** Whether its Secrets must be as wanted, too. */
  readonly hasSecrets: boolean;
}

/** What is known besides the host itself. */
export interface HostSurroundings {
  /** Of the Vino. */
  readonly vinoUid: string;
  /** Whether it was deleted while it was paused, so that it is in another cluster now. @default {false} */
  readonly isMoved?: boolean;
}

const WAY_BACK = `set the annotation ${PUBLISH_AGAIN}=true on the Vino`;

function describeMove(name: string): string {
  return `BareMetalHost ${name} was deleted while it was paused, as clusterctl move does`;
}

/** Plans what to do for a host that must exist. @param live Absent if no host has the name */
export function planHost(
  wanted: WantedHost,
  live: HostFacts | undefined,
  { vinoUid, isMoved = false }: HostSurroundings,
): HostPlan {
  const { name } = wanted;
  const what = `BareMetalHost ${name}`;
  if (live === undefined) {
    if (isMoved)
      return toPlan(name, "Moved", `${describeMove(name)}. To have it again, ${WAY_BACK}`);
    const plan = toPlan(name, "Publishing", `${what} is being made`, wanted.labels.notices);
    return { ...plan, change: { kind: "create" }, hasSecrets: true };
  }
  if (live.vinoUid !== vinoUid) return toPlan(name, "NameTaken", describeForeign(live));
  if (live.isPaused) return toPlan(name, "Paused", `${what} is paused`);
  if (live.isDeleting)
    return toPlan(name, "Publishing", `${what} is being deleted, and is made again then`);
  if (live.machineId !== undefined && live.machineId !== wanted.machineId)
    return planReplacement(wanted, live);
  return planUpdate(wanted, live);
}

/** Plans how to take back a host that is not wanted any more. */
export function planRemoval(
  name: string,
  live: HostFacts | undefined,
  { vinoUid, isMoved = false }: HostSurroundings,
): HostPlan {
  const what = `BareMetalHost ${name}`;
  if (live === undefined || live.vinoUid !== vinoUid) {
    const lost = live && explainLostLabel(live, vinoUid);
    if (lost !== undefined) return toPlan(name, "NameTaken", lost);
    if (!isMoved) return toPlan(name, "Gone");
    const why = `${describeMove(name)}, and the other cluster may use its machine`;
    return toPlan(name, "Moved", `${why}. If it does not, ${WAY_BACK}`);
  }
  if (live.isPaused) {
    const why = `${what} is paused, and is not deleted: end the move, or remove the annotation that pauses it`;
    return toPlan(name, "Paused", why);
  }
  if (live.isDeleting) return toPlan(name, "Removing", `${what} is being deleted`);
  if (live.use !== undefined) {
    const way = live.wayOut === undefined ? "" : `: ${live.wayOut}`;
    return toPlan(name, "InUse", `${what} ${live.use}${way}`);
  }
  const plan = toPlan(name, "Removing", `${what} is being deleted`);
  return { ...plan, change: { kind: "delete" } };
}

/** The host is about a machine that does not exist any more: its management controller has another address. */
function planReplacement({ name, machineId }: WantedHost, live: HostFacts): HostPlan {
  const what = `BareMetalHost ${name} is for machine ${live.machineId}, and the machine is ${machineId} now`;
  if (live.use !== undefined) return toPlan(name, "InUse", `${what}, but the host ${live.use}`);
  const plan = toPlan(name, "Publishing", `${what}: it is made again`);
  return { ...plan, change: { kind: "delete" } };
}

function planUpdate(wanted: WantedHost, live: HostFacts): HostPlan {
  const { name, bmc, bmcProblem } = wanted;
  const labels = planLabels(wanted, live);
  const notices = [...wanted.labels.notices, ...labels.conflicts.map((one) => `${name}: ${one}`)];
  const patch: { -readonly [Key in keyof HostPatch]: HostPatch[Key] } = {};
  if (Object.keys(labels.changes).length > 0) patch.labels = labels.changes;
  if (!isSameSet(labels.record, live.record)) patch.record = labels.record;
  if (live.machineId === undefined || live.machineName !== wanted.machineName)
    patch.namesMachine = true;
  if (hasWrongDetails(wanted, live)) patch.describesMachine = true;
  if (bmc !== undefined && live.bmcAddress === undefined) patch.bmc = "first";
  else if (bmc !== undefined && live.bmcAddress !== bmc.address) {
    if (live.isBmcOpen) patch.bmc = "other";
  } else if (bmc === undefined && live.bmcAddress !== undefined && bmcProblem === undefined) {
    notices.push(`${name}: it has a management controller, which Landfall does not serve now`);
  }
  const differences = listHostDifferences(wanted, live);
  const published = toPlan(name, "Published", undefined, notices);
  const plan = { ...published, differences, hasSecrets: true };
  return Object.keys(patch).length > 0 ? { ...plan, change: { kind: "patch", patch } } : plan;
}

/** What metal3 has read is its own: only an annotation that is still there is put right. */
function hasWrongDetails(wanted: WantedHost, { hardwareDetails }: HostFacts): boolean {
  const isKnown = wanted.isBuilt && wanted.hardware.areDisksKnown;
  if (!isKnown || hardwareDetails === undefined) return false;
  const right = formatHardwareDetails(wanted);
  return right !== undefined && right !== hardwareDetails;
}

/**
 * Plans the labels of a host. A label from the spec or a tag is ours if the record has it. One that something else set
 * first is never changed. What Landfall knows by itself has keys of its own; a label for a network comes and goes with
 * the interface.
 */
function planLabels(
  { labels: { values, unknown, recorded }, isBuilt }: WantedHost,
  live: HostFacts,
): {
  readonly changes: LabelChanges;
  readonly record: ReadonlySet<string>;
  readonly conflicts: readonly string[];
} {
  const changes: Record<string, string | null> = {};
  const record = new Set<string>();
  const conflicts: string[] = [];
  for (const [key, value] of Object.entries(values)) {
    const now = live.labels[key];
    const isTheirs = recorded.has(key) && !live.record.has(key) && now !== undefined;
    if (isTheirs) {
      if (now !== value) conflicts.push(`label ${key} was not set by Landfall, and stays`);
      continue;
    }
    if (recorded.has(key)) record.add(key);
    const isKept = unknown.has(key) && now !== undefined;
    const isEarly = !isBuilt && !recorded.has(key) && isNetworkLabel(key);
    if (isEarly) continue;
    if (now !== value && !isKept) changes[key] = value;
  }
  const gone = isBuilt ? Object.keys(live.labels).filter(isNetworkLabel) : [];
  for (const key of gone) if (!(key in values)) changes[key] = null;
  for (const key of live.record) {
    if (key in values) continue;
    if (live.labels[key] === undefined) continue;
    if (!unknown.has(key)) changes[key] = null;
    else if (recorded.has(key)) record.add(key);
  }
  return { changes, record, conflicts };
}

/** Says why a host with the name of a wanted one is not the Vino's. */
export function describeForeign({ name, vinoUid, machineName, labels }: HostFacts): string {
  const what = `BareMetalHost ${name}`;
  if (vinoUid === undefined) return `${what} exists, and was not made for this Vino`;
  const machine = machineName === undefined ? "" : `, for machine ${machineName}`;
  const vino = labels[VINO_NAME];
  const named = vino === undefined ? "" : `, ${quote(vino)}`;
  return `${what} was made for another Vino${named}${machine}`;
}

function toPlan(
  name: string,
  state: HostState,
  message?: string,
  notices: readonly string[] = [],
): HostPlan {
  return { name, state, ...(message !== undefined && { message }), notices, hasSecrets: false };
}

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((key) => other.has(key));
}

const MEBIBYTE = 1_048_576;

/**
 * The value of the annotation.
 *
 * @returns `undefined` if metal3 inspects the host itself: it can start it, and is to install it
 */
export function formatHardwareDetails(host: WantedHost): string | undefined {
  if (host.bmc !== undefined && !host.isExternallyProvisioned) return undefined;
  return JSON.stringify(toHardwareDetails(host));
}

/** metal3 refuses fields that it does not know. */
function toHardwareDetails({
  hardware,
  interfaces,
  bootMac,
  machineId,
  rootDeviceName,
  name,
}: WantedHost): object {
  const storage = hardware.disks.map(({ sizeBytes }, at) => ({
    name: at === 0 ? rootDeviceName : toDeviceName(at),
    rotational: false,
    sizeBytes,
  }));
  return {
    systemVendor: { manufacturer: "Xen", productName: "HVM domU", serialNumber: machineId },
    ramMebibytes: Math.floor(hardware.memoryBytes / MEBIBYTE),
    nics: interfaces.flatMap((one) => toNics(one, bootMac)),
    // Older versions of metal3 want the field, also while the disks are not known.
    storage,
    cpu: { arch: "x86_64", count: hardware.cpus },
    hostname: name,
  };
}

/** metal3 has one entry for each address of an interface. */
function toNics({ name, mac, addresses }: GuestInterface, bootMac: string | undefined): object[] {
  const nic = { name, mac, pxe: mac === bootMac };
  return addresses.length === 0 ? [nic] : addresses.map(({ ip }) => ({ ...nic, ip }));
}

/** As the driver of Xen names disks. A machine has at most 16. */
function toDeviceName(at: number): string {
  return `/dev/xvd${(at + 10).toString(36)}`;
}

type Wanted = Pick<WantedHost, "bmc" | "bootMac" | "interfaces" | "isBuilt" | "name">;
type Live = Pick<HostFacts, "bmcAddress" | "bootMac" | "isBmcOpen" | "use">;

/** @returns Sentences without a full stop, each with the host, its value, the right one, and what a person can do */
export function listHostDifferences(wanted: Wanted, live: Live): string[] {
  return [...listWrongMac(wanted, live), ...listWrongAddress(wanted, live)];
}

function listWrongMac(
  { name, isBuilt, interfaces, bootMac }: Wanted,
  { bootMac: has, use }: Live,
): string[] {
  if (!isBuilt || has === undefined || interfaces.some(({ mac }) => mac === has)) return [];
  const what = `BareMetalHost ${name} has the bootMACAddress ${has}, and no interface of its machine has it`;
  return [`${what}: ${toWay(use, bootMac === undefined ? "without one" : `with ${bootMac}`)}`];
}

function listWrongAddress(
  { name, bmc }: Wanted,
  { bmcAddress: has, isBmcOpen, use }: Live,
): string[] {
  if (!bmc || has === undefined || has === bmc.address || isBmcOpen) return [];
  const what = `BareMetalHost ${name} has the bmc.address ${has}, and metal3 does not let it change`;
  return [`${what}: ${toWay(use, `with ${bmc.address}`)}`];
}

function toWay(use: string | undefined, how: string): string {
  const way = `delete the BareMetalHost, then Landfall makes it again ${how}`;
  return use === undefined ? way : `it ${use}: take it from there first, then ${way}`;
}
