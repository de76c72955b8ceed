/**
 * What a specification means in its pool.
 * @module
 */
import type { MachineProblem } from "../../../../../cloud/capabilities/machines.ts";
import type { Template } from "../../look/view.ts";

/** A disk to have. */
export interface WantedDisk {
  readonly name: string;
  readonly sizeBytes: number;
  /** Absent: it could not be found. */
  readonly storageId?: string;
  /** Its place in the template. Absent: it is made. */
  readonly position?: string;
}

/** A network interface to have. */
export interface WantedInterface {
  readonly name: string;
  readonly device: string;
  readonly networkId: string;
  readonly mac: string;
  readonly mtu?: number;
  /** ID of another VM in the pool that has its MAC address. */
  readonly takenBy?: string;
}

/** What a specification means in a pool. What could not be found is missing, and has a problem. */
export interface Wanted {
  readonly template?: Template;
  readonly disks: readonly WantedDisk[];
  readonly interfaces: readonly WantedInterface[];
  /** Devices of the template that must go. */
  readonly dropped: readonly string[];
  readonly problems: readonly MachineProblem[];
}
