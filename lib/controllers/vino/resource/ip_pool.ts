/**
 * IPPools: which addresses of a subnet machines have.
 * @module
 */
import type { Kind, KubeObject } from "../../../kube/kinds/resource.ts";

/** The first and the last address, both included. */
export interface AddressRange {
  readonly start: string;
  readonly stop: string;
}

/** A part of the subnet that has one owner. */
export interface AllocatedRange extends AddressRange {
  readonly allocatedTo: string;
}

/** An address that has an owner. */
export interface AllocatedIp {
  readonly ip: string;
  /** Six pairs of hexadecimal digits with colons. */
  readonly mac: string;
  /** The same owner gets the same address again. */
  readonly allocatedTo: string;
}

/** How many addresses of a pool can have owners: an object has a limited size. */
export const ALLOCATED_MAX = 8192;
/** How many ranges a pool can have. */
export const RANGES_MAX = 64;

/** The addresses of a subnet. */
export interface IpPoolSpec {
  /** In CIDR form: `192.0.2.0/24`, `2001:db8::/64`. */
  readonly subnet: string;
  /** From which addresses are given out. Absent counts as none. */
  readonly ranges?: readonly AddressRange[];
  /** Of old pools: parts of the subnet for the DHCP servers of hosts. No address of them is given out. */
  readonly allocatedRanges?: readonly AllocatedRange[];
  readonly allocatedIPs?: readonly AllocatedIp[];
  /** The first MAC address, as six pairs of hexadecimal digits with colons. */
  readonly macPrefix?: string;
  /** Of old pools: the MAC address that comes next. */
  readonly nextMAC?: string;
}

/** A pool. It has no status. */
export interface IpPool extends KubeObject {
  readonly spec?: IpPoolSpec;
}

/** IPPools. */
export const IP_POOLS: Kind<IpPool> = {
  apiVersion: "airship.airshipit.org/v1",
  kind: "IPPool",
  plural: "ippools",
  namespaced: true,
  isAlwaysWhole: true,
};
