/**
 * The addresses of the machines of a Vino: requests, and answers.
 * @module
 */
import type { ReadMacs } from "./macs.ts";
import type { GuestInterface } from "../guest/types.ts";
import type { Vino, VinoInterface, VinoSpec } from "../resource/vino.ts";

/** A machine that needs addresses. */
export interface MachineRequest {
  readonly name: string;
  readonly interfaces: readonly VinoInterface[];
}

/** An address that a machine has and no pool listed any more: it is in the pool again. */
export interface RestoredAddress {
  /** Name of the IPPool. */
  readonly pool: string;
  readonly ip: string;
  /** Whether the IPPool did not exist any more. */
  readonly isPoolNew: boolean;
}

/** Which machine got what. */
export interface Addresses {
  /** By name of the machine, in the order of its interfaces. Machines with a problem are missing. */
  readonly machines: ReadonlyMap<string, readonly GuestInterface[]>;
  /** Why a machine gets nothing, by its name; sentences without a full stop. */
  readonly problems: ReadonlyMap<string, string>;
  /** Machines whose problem is that they have other addresses than the spec gives them. @default {none} */
  readonly differing?: ReadonlySet<string>;
  /** Addresses that are in a pool again after a user removed them. @default {none} */
  readonly restored?: readonly RestoredAddress[];
  /** What a person should know about addresses in use; sentences without a full stop. */
  readonly notices: readonly string[];
}

/** Gives addresses to machines. */
export interface AddressAllocator {
  /**
   * Gives machines their addresses. The same machine always gets the same. Asks nothing if all have theirs.
   *
   * @param readMacs Called only if a network with few MAC addresses must give one
   * @throws {IpPoolError} and {KubeError} if Kubernetes refuses, and as `readMacs`
   */
  assign(
    vino: Vino,
    spec: VinoSpec,
    machines: readonly MachineRequest[],
    readMacs: ReadMacs,
    signal: AbortSignal,
  ): Promise<Addresses>;
  /** Names of the machines of a Vino that have an address. @throws {IpPoolError} and {KubeError} as `assign` */
  listHolders(vino: Vino, signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** Takes back the addresses of machines that are proven gone. @throws {IpPoolError} and {KubeError} as `assign` */
  release(vino: Vino, machines: ReadonlySet<string>, signal: AbortSignal): Promise<void>;
}
