/**
 * The MAC addresses that the cloud shows: of others, and of our machines, from an earlier process. Pure.
 * @module
 */
import type { MachineMac } from "../../../cloud/capabilities/machine_power.ts";

/** Reads the MAC addresses that a cloud shows. @throws {CloudError} if it does not show all of the Vino's pool */
export type ReadMacs = () => Promise<readonly MachineMac[]>;

/** MAC addresses that exist. */
export interface SeenMacs {
  /** All of them. */
  readonly all: ReadonlySet<string>;
  /** That of an interface of one of our machines. @param device Its place, from 0 on */
  find(machine: string, device: number): string | undefined;
}

/** Sorts what a cloud shows. An address that two interfaces have is that of no machine. */
export function toSeenMacs(macs: readonly MachineMac[]): SeenMacs {
  const all = new Set<string>();
  const twice = new Set<string>();
  const own = new Map<string, string>();
  for (const { mac, machine } of macs) {
    if (all.has(mac)) twice.add(mac);
    all.add(mac);
    if (machine !== undefined) own.set(toKey(machine.name, machine.device), mac);
  }
  return {
    all,
    find: (machine, device) => {
      const mac = own.get(toKey(machine, device));
      return mac === undefined || twice.has(mac) ? undefined : mac;
    },
  };
}

function toKey(machine: string, device: number): string {
  return `${machine} ${device}`;
}
