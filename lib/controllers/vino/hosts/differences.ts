/**
 * What differs in a BareMetalHost and cannot be changed there: metal3 forbids it. Pure.
 * @module
 */
import type { HostFacts } from "./host_facts.ts";
import type { WantedHost } from "./types.ts";

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
