/**
 * VinoMachines: what was decided about each machine of a Vino, how far it is, and what Landfall must know about it
 * after a restart. Only Landfall writes them.
 * @module
 */
import type { MachinePart } from "../../../cloud/capabilities/machines.ts";
import type { MachinePowerState } from "../../../cloud/capabilities/machine_power.ts";
import type { Kind, KubeObject } from "../../../kube/kinds/resource.ts";
import type { Condition } from "../../kinds/conditions.ts";

/** How far a machine is. */
export const MACHINE_STATES = [
  "Absent",
  "Unknown",
  "Creating",
  "Unfinished",
  "Ready",
  "Removing",
  "Blocked",
] as const;

/**
 * How far the BareMetalHost of a machine is. `Paused`: something else works on it. `Moved`: it was deleted while it was
 * paused, as `clusterctl move` does. `NameTaken`: something else has its name. `InUse`: it should go, and is in use.
 * `Gone`: it should go, and does not exist any more.
 */
export const HOST_STATES = [
  "Publishing",
  "Published",
  "Paused",
  "Moved",
  "NameTaken",
  "Refused",
  "InUse",
  "Removing",
  "Gone",
] as const;
/** One of {@linkcode HOST_STATES}. */
export type HostState = (typeof HOST_STATES)[number];

/** A disk of a machine. */
export interface MachineDiskSpec {
  readonly name: string;
  readonly sizeBytes: number;
  /** ID or name of the storage repository. */
  readonly storage?: string;
}

/** A network interface of a machine. */
export interface MachineInterfaceSpec {
  readonly name: string;
  /** ID or name of the network in the cloud. */
  readonly network: string;
  readonly mac: string;
  /** Absent: it gets them from a DHCP server. */
  readonly addresses?: readonly string[];
}

/** What the spec of a Vino makes of one machine. Absent as a whole until its addresses and its host are known. */
export interface MachineFormSpec {
  readonly template?: string;
  readonly cpus?: number;
  readonly memoryBytes?: number;
  readonly disks?: readonly MachineDiskSpec[];
  readonly interfaces?: readonly MachineInterfaceSpec[];
}

/** What was decided about a machine. */
export interface VinoMachineSpec extends MachineFormSpec {
  readonly vinoName: string;
  readonly vinoUid: string;
  /** In the cloud. */
  readonly machineName: string;
  readonly role: string;
  readonly index: number;
  /** ID of the host in the cloud where it starts. */
  readonly host?: string;
  /** The name of that host, for people. Absent: the cloud has not shown the host yet. */
  readonly hostDisplayName?: string;
}

/** How many disks, interfaces and differences an object lists at most. */
export const PARTS_MAX = 64;

/** How far a machine is. */
export interface VinoMachineStatus {
  readonly conditions?: readonly Condition[];
  readonly state?: (typeof MACHINE_STATES)[number];
  /** What it waits for. */
  readonly message?: string;
  /** When Landfall tries again after a failure: RFC 3339, UTC. */
  readonly retryTime?: string;
  /** Its ID in the cloud. */
  readonly machineId?: string;
  /** Of its interface for booting, otherwise of the first one with an address. */
  readonly address?: string;
  readonly power?: MachinePowerState;
  /**
   * How far its BareMetalHost is, which has the name of the object. After a restart it says which hosts were moved to
   * another cluster. Absent: it has none yet.
   */
  readonly bareMetalHost?: HostState;
  /** Parts of a complete machine that are not as the spec says. */
  readonly differences?: readonly MachinePart[];
  /** What the cloud must know about it after a restart; at most 1 KiB. */
  readonly record?: string;
}

/** A machine of a Vino. */
export interface VinoMachine extends KubeObject {
  readonly spec?: VinoMachineSpec;
  readonly status?: VinoMachineStatus;
}

/** VinoMachines. */
export const VINO_MACHINES: Kind<VinoMachine> = {
  apiVersion: "airship.airshipit.org/v1",
  kind: "VinoMachine",
  plural: "vinomachines",
  namespaced: true,
  isAlwaysWhole: true,
  metadata: ["finalizers"],
};

/** What is known of a machine from its object, or will be written there. */
export interface MachineEntry extends Pick<
  VinoMachineStatus,
  "address" | "bareMetalHost" | "machineId" | "message" | "record"
> {
  /** In the cloud. */
  readonly name: string;
  readonly role: string;
  readonly index: number;
  readonly host?: string;
  readonly hostDisplayName?: string;
  readonly state: (typeof MACHINE_STATES)[number];
}

/** Which machine of a Vino. */
export type MachineKey = Pick<MachineEntry, "index" | "role">;

/** What an object of a machine says. */
export function toEntry(
  { status = {} }: Pick<VinoMachine, "status">,
  { machineName: name, role, index, host, hostDisplayName }: VinoMachineSpec,
): MachineEntry {
  const { record, state = record === undefined ? "Absent" : "Creating" } = status;
  const { address, bareMetalHost, machineId, message } = status;
  return dropAbsent({
    name,
    role,
    index,
    host,
    hostDisplayName,
    machineId,
    address,
    state,
    bareMetalHost,
    message,
    record,
  });
}

/** An object whose fields without a value are not there. */
type Present<T> = {
  readonly [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key];
} & {
  readonly [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/** Leaves out the fields that have no value. */
export function dropAbsent<T extends object>(value: T): Present<T> {
  const present = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(present) as Present<T>;
}
