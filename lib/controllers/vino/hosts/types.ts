/**
 * A complete machine as it must be published: what its BareMetalHost and the Secrets of it say.
 * @module
 */
import type {
  MachineFirmware,
  MachinePowerState,
} from "../../../cloud/capabilities/machine_power.ts";
import type { GuestInterface } from "../guest/types.ts";
import type { HostState } from "../resource/vino_machine.ts";
import type { HostLabels } from "./labels.ts";

/** How metal3 reaches the management controller of a host. */
export interface HostBmc {
  /** `redfish+https://redfish.metal.svc:8443/redfish/v1/Systems/<ID>`. */
  readonly address: string;
  readonly username: string;
  readonly password: string;
  /** Whether metal3 must not check the certificate. */
  readonly skipsCertificateCheck: boolean;
}

/** What a host has, for metal3, which cannot look inside without a management controller. */
interface HostHardware {
  readonly cpus: number;
  readonly memoryBytes: number;
  /** In the order of the devices. */
  readonly disks: readonly { readonly name: string; readonly sizeBytes: number }[];
  /** Whether it has these disks and no others. If not, they are those of the spec: a template may have more. */
  readonly areDisksKnown: boolean;
}

/** A machine to publish. */
export interface WantedHost {
  /** Name of the BareMetalHost, from `toHostName`. Its namespace is that of the Vino. */
  readonly name: string;
  /** Name of the machine in the cloud. */
  readonly machineName: string;
  /** The cloud's ID of the machine. */
  readonly machineId: string;
  readonly role: string;
  readonly power: MachinePowerState;
  /** From `toHostLabels`. Set at the creation, and kept true: those of the place change when the machine moves. */
  readonly labels: HostLabels;
  readonly interfaces: readonly GuestInterface[];
  /** Of the interface that boots. Absent: the machine has none. */
  readonly bootMac?: string;
  /** `/dev/xvda`. */
  readonly rootDeviceName: string;
  readonly firmware: MachineFirmware;
  readonly hardware: HostHardware;
  /** Whether the machine is known to have these interfaces and disks already, and no others. */
  readonly isBuilt: boolean;
  /** Whether it has an operating system from its template, so that metal3 must install none. */
  readonly isExternallyProvisioned: boolean;
  /** Absent: it has no management controller. */
  readonly bmc?: HostBmc;
  /** Why it has none although it should, as a sentence without a full stop. */
  readonly bmcProblem?: string;
  /** What a person should know about the user and the password of its management controller, in the same form. */
  readonly bmcNotice?: string;
  /** When these may have changed. Absent: they stay. */
  readonly bmcAgainMs?: number;
}

/** How far one host is. */
export interface HostOutcome {
  /** Name of the BareMetalHost. */
  readonly name: string;
  readonly state: HostState;
  /** Why it is not `Published` or `Gone`, as a sentence without a full stop that names the host. */
  readonly message?: string;
  /** Whether it was made now, and not in place of one that Landfall deleted itself. @default {false} */
  readonly isMade?: boolean;
  /** What is worth knowing besides: labels that a user has set otherwise, tags that are missing. */
  readonly notices: readonly string[];
  /** What differs and only a person can change, as sentences without a full stop that name the host. @default {none} */
  readonly differences?: readonly string[];
  /** What metal3 says is wrong with it. Absent: nothing. */
  readonly error?: string;
  /** As {@linkcode WantedHost.bmcProblem} and {@linkcode WantedHost.bmcNotice}. */
  readonly bmcProblem?: string;
  readonly bmcNotice?: string;
}
