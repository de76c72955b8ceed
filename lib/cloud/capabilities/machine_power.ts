/**
 * Power and boot order of single machines: what a management controller (BMC) of a machine does.
 * @module
 */
import { CloudError } from "../errors.ts";
import type { MachineMedia } from "./machine_media.ts";
import type { Fence } from "../../core/fence.ts";

/** Whether a machine runs. */
export type MachinePowerState = "running" | "stopped" | "paused" | "suspended" | "unknown";

/** What starts a machine. At first it is what its template has. */
export type MachineFirmware = "bios" | "uefi" | "unknown";

/** What a machine starts from first. */
export type BootDevice = "disk" | "network" | "cd";

/** What to do with the power of a machine. `off` is hard; the graceful ones ask the guest. */
export type PowerAction =
  "on" | "off" | "gracefulOff" | "restart" | "gracefulRestart" | "cycle" | "pause" | "resume";

/** A machine as its management controller shows it. */
export interface MachineReading {
  readonly id: string;
  readonly name: string;
  readonly power: MachinePowerState;
  /** Whether the guest can be asked to stop. */
  readonly isGraceful: boolean;
  /** In the order of the attempts; empty: not known. */
  readonly bootOrder: readonly BootDevice[];
  /**
   * When it was started or restarted last, by the cloud's clock: it only tells one start from another. Absent: not
   * known.
   */
  readonly startedAtMs?: number;
  readonly firmware: MachineFirmware;
  readonly cpus: number;
  readonly memoryBytes: number;
}

/** The network interfaces of a machine, in the order of its slots. */
export interface MachineInterfaces {
  /** Its name, by which the caller knows that the ID is not that of another machine. */
  readonly name: string;
  readonly interfaces: readonly MachineInterface[];
}

/** A network interface. */
export interface MachineInterface {
  readonly mac: string;
  readonly network?: string;
}

/** Why a machine's power or boot order did not change. */
export type PowerRefusal =
  /** Its state does not allow this, for example a restart of a machine that is off. */
  | "state"
  /** The guest cannot be asked. */
  | "notGraceful"
  /** Another operation runs: try again later. */
  | "busy"
  /** A person blocked this operation. */
  | "blocked"
  /** The user of the cloud has no right to it. */
  | "denied"
  /** No host, or no storage, has room for it. */
  | "noRoom"
  /** It is not one of our complete machines, or does not exist. */
  | "notOurs"
  /** This cloud cannot do it. */
  | "unsupported";

/** The cloud refused to change the power or the boot order. */
export class RefusedPowerError extends CloudError {
  readonly refusal: PowerRefusal;

  /** @param message What was refused and why, and what to do; no full stop, no secret */
  constructor(refusal: PowerRefusal, message: string, options: ErrorOptions = {}) {
    super("protocol", message, options);
    this.refusal = refusal;
  }
}

/** Power and boot order. Only for machines that have our mark of a complete one. */
export interface MachinePower {
  /** Images of CDs. Absent: the cloud has none. */
  readonly media?: MachineMedia;
  /**
   * Reads a machine now.
   *
   * @returns `undefined` if it does not exist, or is not one of our complete machines
   * @throws {CloudError} when the cloud cannot answer
   */
  read(id: string, signal: AbortSignal): Promise<MachineReading | undefined>;
  /**
   * Reads the name of a machine. It may be as old as the last inventory.
   *
   * @returns `undefined` if it does not exist, or is not one of our complete machines
   * @throws {CloudError} when the cloud cannot answer
   */
  readName(id: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Reads the network interfaces of a machine now. Whether it is one of ours may be as old as the last inventory.
   *
   * @returns `undefined` if it does not exist, or is not one of our complete machines
   * @throws {CloudError} when the cloud cannot answer
   */
  readInterfaces(id: string, signal: AbortSignal): Promise<MachineInterfaces | undefined>;
  /**
   * Changes the power. Repeating it is no error: a machine that is off already is off. Resolves when the cloud has
   * begun or done it; graceful ones may take minutes after that.
   *
   * @throws {RefusedPowerError} if it cannot be done
   * @throws {CloudError} when the cloud cannot answer; it may have been done all the same
   */
  act(id: string, action: PowerAction, fence: Fence, signal: AbortSignal): Promise<void>;
  /**
   * Sets what the machine starts from, for good, with the others behind.
   *
   * @throws {RefusedPowerError} if it cannot be done
   * @throws {CloudError} when the cloud cannot answer; it may have been done all the same
   */
  setBootOrder(
    id: string,
    order: readonly BootDevice[],
    fence: Fence,
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Gives a machine that is off another firmware. What is on its disks may not start any more.
   *
   * @throws {RefusedPowerError} if it cannot be done
   * @throws {CloudError} when the cloud cannot answer; it may have been done all the same
   */
  setFirmware(
    id: string,
    firmware: Exclude<MachineFirmware, "unknown">,
    fence: Fence,
    signal: AbortSignal,
  ): Promise<void>;
}

/** The MAC address of a network interface, of ours or of others. */
export interface MachineMac {
  /** Six pairs of hexadecimal digits in lower case with colons. */
  readonly mac: string;
  /** Absent: it is of something else than one of our machines. */
  readonly machine?: {
    readonly name: string;
    /** Its place among the interfaces, from 0 on. */
    readonly device: number;
  };
}
