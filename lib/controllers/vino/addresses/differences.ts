/**
 * What is said about a machine that has an address which the spec does not give it. Pure.
 * @module
 */
import { overlaps, parseCidr } from "../../../core/net/ip.ts";
import type { VinoNetwork } from "../resource/vino.ts";
import type { AddressProblem } from "./problems.ts";
import { parseSubnet } from "./subnets.ts";

/** Which interface of which machine. */
interface InterfacePlace {
  readonly machine: string;
  /** Of the interface. */
  readonly name: string;
}

/** What an interface has. */
export interface HeldAddress {
  readonly ip: string;
  /** Name of the IPPool that lists it. Absent: it was deleted. */
  readonly pool?: string;
  /** The subnet of that IPPool. */
  readonly subnet?: string;
}

/**
 * An interface has an address of another subnet than that of its network. Either the interface changed its network, or
 * the network its subnet, or the IPPool its subnet.
 *
 * @param network Where the spec puts the interface
 * @param networks All networks of the Vino
 */
export function toMoved(
  network: VinoNetwork,
  place: InterfacePlace,
  { ip, pool, subnet }: HeldAddress,
  networks: readonly VinoNetwork[],
): AddressProblem {
  const who = toWho(place);
  if (pool !== undefined && isIn(ip, network)) {
    const what = `IPPool ${pool} lists ${ip} of ${who}, and has the subnet ${subnet} now`;
    return toDifference(network, `${what}. Set its spec.subnet back to ${network.subnet}`);
  }
  const other = networks.find((one) => one.name !== network.name && isIn(ip, one));
  if (other !== undefined) {
    const what = `${who} has ${ip} of network ${other.name}, but the spec puts it into network ${network.name}`;
    const advice = `Set the name and the network of the interface back to ${place.name} and ${other.name}`;
    return toDifference(network, `${what}. ${advice}, or remove the machine`);
  }
  const what = `${who} has ${ip}, but the subnet of network ${network.name} is ${network.subnet} now`;
  const back = subnet === undefined ? "" : ` to ${subnet}`;
  return toDifference(network, `${what}. Set the subnet back${back}, or remove the machine`);
}

/** An interface has an address that the IPPool lists for another owner. */
export function toTaken(
  network: VinoNetwork,
  place: InterfacePlace,
  ip: string,
  owner: string,
): AddressProblem {
  const what = `${toWho(place)} has ${ip}, but the IPPool of network ${network.name} lists that for ${owner}`;
  return toDifference(network, `${what}. Correct the IPPool, or remove one of the machines`);
}

function toWho({ machine, name }: InterfacePlace): string {
  return `interface ${name} of ${machine}`;
}

function toDifference({ name }: VinoNetwork, message: string): AddressProblem {
  return { network: name, message, isDifference: true };
}

function isIn(ip: string, { subnet = "" }: VinoNetwork): boolean {
  const [address, block] = [parseCidr(ip), parseSubnet(subnet)?.block];
  return address !== undefined && block !== undefined && overlaps(address, block);
}
