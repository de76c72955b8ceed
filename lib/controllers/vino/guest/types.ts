/**
 * The networks of a machine as its guest must set them up. From this one model come the network data of its host, in
 * the form of OpenStack, and the network configuration of cloud-init.
 * @module
 */

/** A static address of an interface. */
export interface GuestAddress {
  /** Canonical form. */
  readonly ip: string;
  readonly prefixLength: number;
}

/** A route of an interface. */
export interface GuestRoute {
  /** In CIDR form without bits of hosts; `0.0.0.0/0` and `::/0` are default routes. */
  readonly to: string;
  /** An address. */
  readonly via: string;
}

/** A network interface of a guest. */
export interface GuestInterface {
  /** As the Vino names it: `oam`. */
  readonly name: string;
  /** Name of the network in the Vino. It is the ID by which services of SIPClusters find addresses. */
  readonly network: string;
  /** In lower case. */
  readonly mac: string;
  /** In bytes. @default {that of the network} */
  readonly mtu?: number;
  /** Empty: it gets its address from a DHCP server. */
  readonly addresses: readonly GuestAddress[];
  /** The family of the address from the DHCP server. @default {4} */
  readonly dhcp?: 4 | 6;
  readonly routes: readonly GuestRoute[];
  readonly dnsServers: readonly string[];
}
