/**
 * What the simulated CloudStack has for a Service: its addresses, and what reaches which VMs through them.
 * @module
 */
import { TAG_KEYS } from "../../../../providers/cloudstack/load_balancers/words.ts";
import type { CloudStackSimulator } from "../../../../simulator/cloudstack/mod.ts";

/** The objects of a CloudStack. */
export type CloudStackState = CloudStackSimulator["state"];
/** A load-balancer rule, as CloudStack has it. */
type BalancerRule = NonNullable<ReturnType<CloudStackState["loadBalancerRules"]["get"]>>;
type PublicIp = NonNullable<ReturnType<CloudStackState["publicIps"]["get"]>>;

/** A public IP address that is tagged for a Service. */
export interface Balancer {
  readonly ip: PublicIp;
  /** By port. */
  readonly ports: readonly BalancerPort[];
}

/** A port of a Service on its address. */
export interface BalancerPort {
  readonly rule: BalancerRule;
  /** Names of the VMs to which the router sends traffic, sorted. */
  readonly vms: readonly string[];
  /** CIDRs of the clients that the firewall lets in, sorted. */
  readonly sources: readonly string[];
}

/** The addresses that are tagged for a Service. @param service Namespace and name: `default/web` */
export function listBalancers(state: CloudStackState, service: string): Balancer[] {
  const isTagged = ({ id }: PublicIp): boolean =>
    state.tags.of(id).some(({ key, value }) => key === TAG_KEYS.service && value === service);
  return [...state.publicIps.values()].filter(isTagged).map((ip) => {
    const rules = [...state.loadBalancerRules.values()].filter(({ ipId }) => ipId === ip.id);
    const sorted = rules.toSorted((one, other) => one.publicPort - other.publicPort);
    return { ip, ports: sorted.map((rule) => toPort(state, rule)) };
  });
}

/** The firewall rules for the port of a rule. */
export function listDoors(
  { firewallRules }: CloudStackState,
  { ipId, publicPort }: BalancerRule,
): { readonly id: string; readonly cidrs: readonly string[] }[] {
  return [...firewallRules.values()].filter(
    (one) => one.ipId === ipId && one.startPort === publicPort && one.endPort === publicPort,
  );
}

/** Says it, a line for the address and one for each port. */
export function describeBalancer({ ip, ports }: Balancer, service: string): string[] {
  return [
    `${ip.address} is tagged ${service}`,
    ...ports.map(
      ({ rule, vms, sources }) =>
        `${rule.protocol} ${rule.publicPort} from ${sources.join(", ") || "nowhere"} ` +
        `to ${vms.join(", ") || "no VM"}`,
    ),
  ];
}

function toPort(state: CloudStackState, rule: BalancerRule): BalancerPort {
  const served = new Set(rule.applied?.backends);
  const vms = rule.members
    .filter(({ ip }) => served.has(ip))
    .map(({ vmId }) => state.vm(vmId).name);
  const sources = listDoors(state, rule).flatMap(({ cidrs }) => cidrs);
  return { rule, vms: vms.toSorted(), sources: sources.toSorted() };
}
