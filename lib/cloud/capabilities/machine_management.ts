/**
 * What a listener for management controllers (BMCs) needs of machines: power, and what a machine starts from. It knows
 * no protocol. A controller makes it from the capability of a cloud.
 * @module
 */
import type {
  BootDevice,
  MachineInterface,
  MachineReading,
  PowerAction,
  PowerRefusal,
} from "./machine_power.ts";

/** A user name and its password. */
export interface MachineCredentials {
  readonly username: string;
  readonly password: string;
}

/** What a machine starts from instead of its own order, and how often. */
export interface BootOverride {
  readonly duration: "never" | "once" | "always";
  /** Absent: nothing is overridden. */
  readonly device?: BootDevice;
}

/** What is wanted of an override; what is absent stays. */
export interface BootOverrideChange {
  readonly duration?: BootOverride["duration"];
  /** `none` ends the override. */
  readonly device?: BootDevice | "none";
  readonly firmware?: "bios" | "uefi";
}

/** A machine as a management controller shows it. */
export interface ManagedReading extends Omit<MachineReading, "bootOrder"> {
  /** The firmwares that it may have. */
  readonly firmwares: readonly ("bios" | "uefi")[];
  readonly boot: BootOverride;
}

/** What is in the drive of a machine. */
export interface ManagedMedia {
  /** Of the image. Absent: nothing is in it. */
  readonly name?: string;
  /** Where it was copied from. Absent: not known. */
  readonly url?: string;
}

/** The drives of machines. After the answer `busy`, ask again: an image is being copied. */
interface MediaManagement {
  read(id: string, signal: AbortSignal): Promise<ManagementAnswer<ManagedMedia>>;
  /** Puts an image from a URL into the drive. Resolves when it is there. */
  insert(id: string, url: string, signal: AbortSignal): Promise<ManagementAnswer<void>>;
  /** Empties the drive. */
  eject(id: string, signal: AbortSignal): Promise<ManagementAnswer<void>>;
}

/**
 * Why a change is refused. `firmware`: the machine keeps its own. `incomplete`: the change says only a part. `image`:
 * Landfall cannot have it.
 */
export type ManagementRefusal = PowerRefusal | "firmware" | "image" | "incomplete";

/** An answer. `silent`: the cloud or the API server does not answer; a change may have been done all the same. */
export type ManagementAnswer<T> =
  | { readonly kind: "done"; readonly value: T }
  | {
      readonly kind: "refused";
      readonly refusal: ManagementRefusal;
      /** For the client: what is wrong and what to do; no full stop, no secret. */
      readonly message: string;
    }
  | { readonly kind: "silent"; readonly message: string };

/** The machines of a controller, each with its own user and password. */
export interface MachineManagement {
  /** Absent: machines have no virtual media. */
  readonly media?: MediaManagement | undefined;
  /** Whether this process may act. Another one answers if not. */
  isLeading(): boolean;
  /**
   * The IDs of the machines whose user and password these are, in order. None: no machine has them. Only machines that
   * the cloud shows under their ID: what is asked for next is about the same machine.
   *
   * @param askedId A machine that is left out only if it has others now, or the cloud does not show it. @default {none}
   */
  findSystems(
    credentials: MachineCredentials,
    signal: AbortSignal,
    askedId?: string,
  ): Promise<ManagementAnswer<readonly string[]>>;
  /** Reads a machine now; `undefined` if it is not one of those that may be shown. */
  read(id: string, signal: AbortSignal): Promise<ManagementAnswer<ManagedReading | undefined>>;
  /** Reads the network interfaces of a machine; `undefined` if it is not one of those that may be shown. */
  readInterfaces(
    id: string,
    signal: AbortSignal,
  ): Promise<ManagementAnswer<readonly MachineInterface[] | undefined>>;
  /** Changes the power. Resolves when it has begun. What is so already is done. */
  reset(id: string, action: PowerAction, signal: AbortSignal): Promise<ManagementAnswer<void>>;
  /** Changes what the machine starts from. What was done is not lost when this process ends. */
  setBoot(
    id: string,
    change: BootOverrideChange,
    signal: AbortSignal,
  ): Promise<ManagementAnswer<void>>;
}
