/**
 * The requests to CloudStack that load balancers need at least.
 * @module
 */

/** What there is. */
interface Balancers {
  readonly services: number;
  /** Of each Service. */
  readonly ports: number;
  readonly nodes: number;
}

/** A change, and one question about its job. */
const CHANGE = 2;
/** Its address is associated and tagged. */
const CHANGES_PER_SERVICE = 2;
/** Its rule is made, gets its VMs, and its firewall is opened. */
const CHANGES_PER_PORT = 3;
/** Of the largest page. */
const PAGE_SIZE = 500;

/** To make them, the look before included, which finds nothing but networks. */
export function toNeededForMaking({ services, ports }: Balancers): number {
  const changes = services * (CHANGES_PER_SERVICE + ports * CHANGES_PER_PORT);
  return changes * CHANGE + toNeededForLook({ services: 0, ports: 0, nodes: 0 }) + 1;
}

/** To take one VM out of all rules, or to add one. */
export function toNeededForNode({ services, ports }: Balancers): number {
  return services * ports * CHANGE;
}

/** To compare all with their Services: pages of rules, addresses and firewall rules, and who is behind the rules. */
export function toNeededForLook({ services, ports, nodes }: Balancers): number {
  const rules = services * ports;
  const pages = Math.max(1, Math.ceil(rules / PAGE_SIZE));
  const addressPages = Math.max(1, Math.ceil(services / PAGE_SIZE));
  return pages + addressPages + pages + Math.min(rules, nodes * pages);
}
