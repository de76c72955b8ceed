/**
 * Whom a router lets in, worked out from the records of CloudStack alone.
 * @module
 */
import type { LoadBalancerRule } from "../../../../lib/simulator/cloudstack/world/load_balancing.ts";
import type { CloudStackState } from "../../../../lib/simulator/cloudstack/world/state.ts";

/** A client of each block that stories name, and one of none of them. */
export const CLIENTS: readonly string[] = ["10.1.2.3", "192.168.1.1", "172.16.5.5", "203.0.113.99"];

/** What is compared of rules: ports and packets. */
interface Filter {
  readonly protocol: string;
  readonly startPort?: number | undefined;
  readonly endPort?: number | undefined;
  readonly cidrs: readonly string[];
}

/** The clients that reach a backend by a rule now. */
export function listClients(state: CloudStackState, rule: LoadBalancerRule): string[] {
  const { applied, ipId, publicPort, networkId } = rule;
  if (applied === undefined || applied.backends.length === 0) return [];
  const network = state.networks.get(networkId);
  const protocol = applied.protocol === "udp" ? "udp" : "tcp";
  const packet = { protocol, port: publicPort };
  const firewall = [...state.firewallRules.values()].filter((one) => one.ipId === ipId);
  const items = [...state.aclItems.values()]
    .filter(({ listId, trafficType }) => listId === network?.aclId && trafficType === "Ingress")
    .toSorted((one, two) => one.number - two.number);
  return CLIENTS.filter((client) => {
    if (!isAmong(client, toList(applied.cidrList))) return false;
    const isOf = (one: Filter): boolean => fits(one, { ...packet, client });
    if (network?.services.includes("Firewall")) return firewall.some(isOf);
    if (!network?.services.includes("NetworkACL")) return true;
    return items.find(isOf)?.action === "Allow";
  });
}

/** Whether an address is in one of these blocks of IPv4. */
export function isAmong(client: string, cidrs: readonly string[]): boolean {
  return cidrs.some((cidr) => {
    const [first = "", length = "32"] = cidr.split("/");
    const size = 2 ** (32 - Number(length));
    return Math.floor(toNumber(client) / size) === Math.floor(toNumber(first) / size);
  });
}

/** The blocks of the list of a rule, which has blanks or commas. Without one, everybody may connect. */
function toList(text: string | undefined): readonly string[] {
  const list = (text ?? "").split(/[ ,]+/).filter((one) => one !== "");
  return list.length === 0 ? ["0.0.0.0/0"] : list;
}

function fits(
  { protocol, startPort, endPort, cidrs }: Filter,
  packet: { readonly protocol: string; readonly port: number; readonly client: string },
): boolean {
  if (protocol !== "all" && protocol !== packet.protocol) return false;
  if (startPort !== undefined && packet.port < startPort) return false;
  if (endPort !== undefined && packet.port > endPort) return false;
  return isAmong(packet.client, cidrs);
}

function toNumber(ip: string): number {
  return ip.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}
