/**
 * What is said about networks whose machines get no addresses, or keep addresses that they should not have. Pure.
 * @module
 */
import type { VinoNetwork } from "../resource/vino.ts";
import type { OwnedNetwork } from "./subnets.ts";

/** What is wrong with the addresses of a network. */
export interface AddressProblem {
  /** Name of the network. */
  readonly network: string;
  /** What is wrong, and what to do. It names the network. No full stop at the end. */
  readonly message: string;
  /** Whether a machine has an address that the spec does not give it. @default {false} */
  readonly isDifference?: boolean;
}

/** How many owners a message names. */
const NAMES_MAX = 3;

/** All addresses have owners. @param counts How many each Vino has, the most first */
export function toExhausted(
  network: VinoNetwork,
  counts: readonly (readonly [vino: string, count: number])[],
): AddressProblem {
  const what = `has no free address from ${network.staticAllocationStart} to ${network.staticAllocationStop}`;
  const named = counts.slice(0, NAMES_MAX).map(([vino, count], at) => {
    const [one, several] = at === 0 ? [" address is in use", " addresses are in use"] : ["", ""];
    return `${count}${count === 1 ? one : several} by Vino ${vino}`;
  });
  const rest = counts.length - NAMES_MAX;
  const more = rest > 0 ? [`the others by ${rest} more ${rest === 1 ? "Vino" : "Vinos"}`] : [];
  const inUse = named.length === 0 ? "" : `. ${[...named, ...more].join(", ")}`;
  const advice = "Widen staticAllocationStart and staticAllocationStop, or remove machines";
  return toProblem(network, `${what}${inUse}. ${advice}`);
}

/** The object has no room for another address. */
export function toFull(network: VinoNetwork): AddressProblem {
  const advice = "Use another subnet for more machines";
  return toProblem(network, `has as many addresses in use as an IPPool can list. ${advice}`);
}

/** All MAC addresses are in use. */
export function toNoMac(network: VinoNetwork): AddressProblem {
  const what = `has no free MAC address that begins as macPrefix ${network.macPrefix}`;
  return toProblem(network, `${what}. Leave more zeros at its end`);
}

/** Its subnet is not clear. */
export function toOverlap(
  network: VinoNetwork,
  { vino, network: other }: OwnedNetwork,
): AddressProblem {
  const whose = `${other.subnet} of network ${other.name} of Vino ${vino}`;
  const what = `has the subnet ${network.subnet}, which overlaps ${whose}`;
  return toProblem(
    network,
    `${what}. Give both networks the same subnet, or subnets without common addresses`,
  );
}

/** Its subnet is not clear, by an old pool. */
export function toPoolOverlap(network: VinoNetwork, pool: string): AddressProblem {
  const what = `has the subnet ${network.subnet}, which overlaps that of IPPool ${pool}`;
  return toProblem(network, `${what}, where machines have addresses. Use the same subnet`);
}

/** Its pool is not clear. */
export function toTwoPools(network: VinoNetwork, pools: readonly string[]): AddressProblem {
  return toProblem(
    network,
    `has ${pools.length} IPPools: ${pools.join(", ")}. Delete those without addresses in use`,
  );
}

/** Its pool cannot be used. @param why Without any secret */
export function toDamaged(network: VinoNetwork, pool: string, why: string): AddressProblem {
  return toProblem(network, `cannot use IPPool ${pool}: ${why}. Correct it`);
}

/** Machines have addresses that the network does not give out any more. */
export function toStrays(
  network: VinoNetwork,
  strays: readonly { readonly ip: string; readonly machine: string }[],
): AddressProblem {
  const names = strays.slice(0, NAMES_MAX).map(({ ip, machine }) => `${ip} of ${machine}`);
  const more = strays.length > NAMES_MAX ? ` and ${strays.length - NAMES_MAX} more` : "";
  const what = `gives out no more ${names.join(", ")}${more}, which stay in use`;
  return toProblem(network, `${what}. Widen the range again, or remove these machines`);
}

/** A machine has the address of something else. */
export function toReserved(
  network: VinoNetwork,
  ip: string,
  machine: string,
  what: string,
): AddressProblem {
  const advice = "Correct the network, or remove the machine";
  return toProblem(
    network,
    `says that ${ip} is ${what}, but ${machine} has this address. ${advice}`,
  );
}

function toProblem({ name }: VinoNetwork, what: string): AddressProblem {
  return { network: name, message: `network ${name} ${what}` };
}
