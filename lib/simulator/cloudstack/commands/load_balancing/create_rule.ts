/**
 * `createLoadBalancerRule`: what is checked before a rule is made, in the server's order, and its first state.
 * @module
 */
import { parseCidr } from "../../../../core/net/ip.ts";
import { ApiError, toHidden, toInvalid } from "../../replies.ts";
import { isSince } from "../../settings.ts";
import { dropRule, listUsedPorts } from "../../world/addresses.ts";
import type { LoadBalancerRule } from "../../world/load_balancing.ts";
import type { Network, PublicIp } from "../../world/records.ts";
import type { CloudStackState } from "../../world/state.ts";
import { findNamed, needText, type Call, type WantedJob } from "../call.ts";
import { needOwned } from "../owned.ts";
import { checkConflicts, needPort } from "../addresses/ports.ts";
import { opensFirewall, toOpeningRule } from "./open_firewall.ts";
import { toRuleReply } from "./rule_reply.ts";

/** How a rule spreads connections. */
export const ALGORITHMS: ReadonlySet<string> = new Set(["roundrobin", "leastconn", "source"]);
const PROTOCOLS: ReadonlySet<string> = new Set(["tcp", "udp", "tcp-proxy", "ssl"]);

const DNS_PORT = 53;
/** The router shows its statistics there. */
const STATISTICS_PORT = 8081;
const DESCRIPTION_CHARS_MAX = 4_096;

/** Makes a rule. The router gets it when it has a member. */
export function createRule(call: Call): WantedJob {
  const { parameters, state } = call;
  const wanted = readRule(call);
  const ip = needReadyIp(call);
  const network = needNetwork(call, ip);
  const opens = opensFirewall(call, ip);
  const place = toPlace(ip, network, { state, port: wanted.publicPort });
  checkConflicts(state, ip, wanted.publicPort);
  if (wanted.publicPort === STATISTICS_PORT || !isBalanced(place, wanted.protocol)) {
    throw new ApiError(431, "LB service provider cannot support this rule");
  }
  const opening = opens ? toOpeningRule(call, place, { ip, port: wanted.publicPort }) : undefined;
  // An address of a VPC is bound to a tier by its first rule.
  ip.networkId = place.id;
  const rule: LoadBalancerRule = {
    ...wanted,
    id: state.nextId("load_balancer"),
    ipId: ip.id,
    networkId: place.id,
    accountId: ip.accountId ?? "",
    state: "Add",
    members: [],
    ...(opening && { firewallRuleId: opening.id }),
  };
  state.loadBalancerRules.set(rule.id, rule);
  if (opening !== undefined) state.firewallRules.set(opening.id, opening);
  return {
    instanceType: "FirewallRule",
    instanceId: rule.id,
    serialKey: `network/${parameters.get("networkid")?.toLowerCase() ?? place.id}`,
    run: () => {
      // What deletes it or releases its address may have had its turn before.
      if (!state.loadBalancerRules.has(rule.id)) {
        throw new ApiError(530, "Failed to create load balancer rule");
      }
      return { loadbalancer: toRuleReply(rule, state) };
    },
    undo: () => dropRule(state, rule.id),
  };
}

type WantedRule = Pick<
  LoadBalancerRule,
  "name" | "description" | "publicPort" | "privatePort" | "algorithm" | "protocol" | "cidrList"
>;

function readRule({ parameters, settings }: Call): WantedRule {
  const name = needText(parameters, "name");
  const algorithm = needText(parameters, "algorithm");
  const description = parameters.get("description");
  const protocol = parameters.get("protocol");
  const cidrs = parameters.list("cidrlist");
  const publicPort = needPort(parameters, "publicport", "publicPort");
  const privatePort = needPort(parameters, "privateport", "privatePort");
  if (!ALGORITHMS.has(algorithm)) throw toInvalid(`Invalid algorithm: ${algorithm}`);
  if ((description?.length ?? 0) > DESCRIPTION_CHARS_MAX) {
    throw toInvalid(
      `Invalid value of parameter description: longer than ${DESCRIPTION_CHARS_MAX} characters`,
    );
  }
  if (cidrs.length > 0 && !isSince(settings, "4.18")) {
    const text = "if you need to open firewall rule for the specific CIDR, please refer to";
    throw new ApiError(431, `Parameter cidrList is deprecated; ${text} createFirewallRule command`);
  }
  const wrong = cidrs.find((cidr) => !isSource(cidr));
  if (wrong !== undefined) throw new ApiError(431, `CIDR [${wrong}] is invalid.`);
  return {
    name,
    algorithm,
    publicPort,
    privatePort,
    ...(description !== undefined && { description }),
    ...(protocol !== undefined && { protocol }),
    ...(cidrs.length > 0 && { cidrList: cidrs.join(" ") }),
  };
}

/** Whether what balances the load of a network takes a protocol; any does when there is none. */
export function isBalanced({ balancer }: Network, protocol: string = "tcp"): boolean {
  return PROTOCOLS.has(protocol) && !(balancer === "HAProxy" && protocol === "udp");
}

/** Whether a text is a network or an address. */
export function isSource(text: string): boolean {
  return parseCidr(text) !== undefined;
}

function needReadyIp(call: Call): PublicIp {
  const ip = needOwned(call, "publicipid", call.state.publicIps);
  if (ip.state === "Allocated") return ip;
  throw toInvalid("Unable to create load balancer rule, invalid IP address ID");
}

/** The network that the request names; without one, the address's own. */
function needNetwork({ parameters, state }: Call, ip: PublicIp): Network {
  const named = findNamed(parameters, "networkid", state.networks);
  const network = named ?? state.networks.get(ip.networkId ?? "");
  if (network !== undefined) return network;
  throw toInvalid(`IP address ID=${ip.id} is not associated with any network`);
}

/**
 * Where the rule will be: in the network that the address leads to, even if the request names another one. An address
 * of a VPC that leads nowhere yet serves the tier that the request names.
 */
function toPlace(
  ip: PublicIp,
  network: Network,
  { state, port }: { readonly state: CloudStackState; readonly port: number },
): Network {
  if (port === DNS_PORT && ip.isSourceNat && network.services.includes("Dns")) {
    const text =
      "Error adding load balancer rule, cannot add port 53 with network service offering";
    throw new ApiError(431, `${text} having DNS service and Source NAT.`);
  }
  if (ip.staticNatVmId !== undefined) {
    throw new ApiError(537, `Can't do load balance on ip address: ${ip.address}`);
  }
  const isOfTier = ip.vpcId !== undefined && ip.vpcId === network.vpcId;
  const place = ip.networkId === undefined ? network : state.networks.get(ip.networkId);
  if (place === undefined || (ip.networkId === undefined && !isOfTier)) {
    const text = `Ip address ${ip.address} is not assigned to the network ${network.name}`;
    throw new ApiError(431, text);
  }
  if (ip.isSourceNat && ip.vpcId !== undefined) {
    // The usual offerings of tiers have no conserve mode: an address has one purpose.
    throw toInvalid(`The IP ${ip.address} is already used as SourceNat rather than Lb.`);
  }
  if (!place.services.includes("Lb")) {
    throw new ApiError(431, "LB service is not supported in specified network id");
  }
  checkVpc(ip, state);
  return place;
}

/** An address of a VPC serves either load balancers or port forwardings. */
function checkVpc({ id, vpcId }: PublicIp, state: CloudStackState): void {
  if (vpcId === undefined) return;
  const used = listUsedPorts(state, id);
  if (used.some((one) => state.portForwardings.has(one.id))) throw toHidden();
}
