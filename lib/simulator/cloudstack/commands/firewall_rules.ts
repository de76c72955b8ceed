/**
 * The commands about firewall rules of public addresses, and the checks of ports and sources that other rules share.
 * @module
 */
import { toScope } from "../access/scope.ts";
import { ApiError, toHidden, toInvalid } from "../replies.ts";
import type { Settings } from "../settings.ts";
import { unbindIfUnused } from "../world/addresses.ts";
import { type FirewallRule, isInConflict } from "../world/firewall.ts";
import type { Network, PublicIp } from "../world/records.ts";
import type { CloudStackState } from "../world/state.ts";
import {
  type Call,
  checkOwner,
  type Command,
  createTagFilter,
  findNamed,
  type List,
  needNamed,
  needOwned,
  needText,
  readNumber,
  toList,
  toTagsReply,
  type WantedJob,
} from "./call.ts";
import { isIP } from "node:net";

/** The commands. */
export const FIREWALL_COMMANDS: Readonly<Record<string, Command>> = {
  createFirewallRule: { kind: "create", run: createFirewallRule },
  deleteFirewallRule: { kind: "job", run: deleteFirewallRule },
  listFirewallRules: { kind: "list", run: listFirewallRules },
};

/** What a router filters on the way in. */
const PROTOCOLS: ReadonlySet<string> = new Set(["tcp", "udp", "icmp"]);

function createFirewallRule(call: Call): WantedJob {
  const { state, settings } = call;
  const wanted = readRule(call);
  const rule = { ...wanted, id: state.nextId("firewall") };
  for (const other of state.firewallRules.values()) {
    if (isInConflict(rule, other)) throw toConflict(rule, other);
  }
  state.firewallRules.set(rule.id, rule);
  return {
    instanceType: "FirewallRule",
    instanceId: rule.id,
    serialKey: `network/${rule.networkId}`,
    run: () => {
      // What deletes it or releases its address may have had its turn before.
      if (!state.firewallRules.has(rule.id)) {
        throw new ApiError(530, "Failed to create firewall rule");
      }
      if (rule.state === "Add") rule.state = "Active";
      return { firewallrule: toRuleReply(rule, state, settings) };
    },
    undo: () => state.removeFirewallRule(rule.id),
  };
}

/** The rule that is asked for, checked in the server's order. */
function readRule(call: Call): Omit<FirewallRule, "id"> {
  const { parameters, state } = call;
  const protocol = needText(parameters, "protocol").trim().toLowerCase();
  const startPort = readNumber(parameters, "startport");
  const endPort = readNumber(parameters, "endport") ?? startPort;
  const given = parameters.list("cidrlist");
  const cidrs = given.length === 0 ? ["0.0.0.0/0"] : given;
  checkCidrs(cidrs, "Source cidrs formatting error");
  const ip = needNamed(parameters, "ipaddressid", state.publicIps);
  const network = findNetwork(ip, state);
  checkPorts(startPort, endPort);
  checkOwner(call, ip.accountId ?? "", ip.id);
  // The server hides why: the exception is not one that it shows to users.
  if (!network.services.includes("Firewall")) throw toHidden();
  if (!PROTOCOLS.has(protocol)) {
    throw toInvalid(`Protocol ${protocol} is not supported in zone ${network.zoneId}`);
  }
  const icmpType = readNumber(parameters, "icmptype");
  const icmpCode = readNumber(parameters, "icmpcode");
  checkIcmp(protocol, icmpType !== undefined || icmpCode !== undefined, [startPort, endPort]);
  return {
    ipId: ip.id,
    networkId: network.id,
    accountId: ip.accountId ?? "",
    protocol,
    ...(startPort !== undefined && { startPort }),
    ...(endPort !== undefined && { endPort }),
    ...(protocol === "icmp" && { icmpType: icmpType ?? -1, icmpCode: icmpCode ?? -1 }),
    cidrs,
    state: "Add",
  };
}

function findNetwork({ id, networkId }: PublicIp, { networks }: CloudStackState): Network {
  const network = networks.get(networkId ?? "");
  if (network !== undefined) return network;
  throw toInvalid(
    `Unable to create firewall rule for the IP address ID=${id} as IP is not associated with any network and no ` +
      "networkId is passed in",
  );
}

function checkPorts(start: number | undefined, end: number | undefined): void {
  if (start !== undefined && !isPort(start)) {
    throw toInvalid(`publicPort is an invalid value: ${start}`);
  }
  if (end !== undefined && !isPort(end)) {
    throw toInvalid(`Public port range is an invalid value: ${end}`);
  }
  checkRange(start, end);
}

function toConflict(rule: FirewallRule, other: FirewallRule): ApiError {
  if (rule.protocol === "icmp") {
    return toInvalid(`New rule conflicts with existing rule: ${other.id}`);
  }
  if (rule.startPort === undefined) {
    const text = `There is already a firewall rule specified with protocol = ${rule.protocol} and no ports`;
    return new ApiError(537, text);
  }
  const [wanted, there] = [rule, other].map((one) => `${one.startPort}-${one.endPort}`);
  const text = `The range specified, ${wanted}, conflicts with rule ${other.id} which has ${there}`;
  return new ApiError(537, text);
}

function deleteFirewallRule(call: Call): WantedJob {
  const { state } = call;
  const rule = needOwned(call, "id", state.firewallRules);
  return {
    instanceType: "FirewallRule",
    instanceId: rule.id,
    serialKey: `network/${rule.networkId}`,
    begin: () => {
      if (!state.firewallRules.has(rule.id)) {
        throw toInvalid(`Unable to find ${rule.id} having purpose Firewall`);
      }
      rule.state = "Revoke";
    },
    run: () => {
      state.removeFirewallRule(rule.id);
      unbindIfUnused(state, rule.ipId);
      return { success: true };
    },
  };
}

/** The newest rules come first. */
function listFirewallRules(call: Call): List {
  const { caller, parameters, state, settings } = call;
  const ip = findNamed(parameters, "ipaddressid", state.publicIps);
  if (ip !== undefined) checkReady(call, ip);
  const isOwned = toScope(caller.account, parameters, state);
  const wanted = findNamed(parameters, "id", state.firewallRules);
  const network = findNamed(parameters, "networkid", state.networks);
  const isTagged = createTagFilter(parameters, state);
  const rules = [...state.firewallRules.values()].filter(
    (rule) =>
      isOwned(rule.accountId) &&
      (ip === undefined || ip.id === rule.ipId) &&
      (wanted === undefined || wanted === rule) &&
      (network === undefined || network.id === rule.networkId) &&
      isTagged(rule.id),
  );
  return toList("firewallrule", rules.toReversed(), (rule) => toRuleReply(rule, state, settings));
}

function checkReady(call: Call, ip: PublicIp): void {
  if (ip.state !== "Allocated") {
    throw toInvalid(`Ip address id=${ip.id} not ready for firewall rules yet`);
  }
  checkOwner(call, ip.accountId ?? "", ip.id);
}

function toRuleReply(
  rule: FirewallRule,
  state: CloudStackState,
  { sendsPortsAsText }: Settings,
): object {
  const { id, protocol, startPort, endPort, icmpType, icmpCode, ipId, networkId, cidrs } = rule;
  const toPort = (port: number): number | string => (sendsPortsAsText ? String(port) : port);
  return {
    id,
    protocol,
    ...(startPort !== undefined && { startport: toPort(startPort) }),
    ...(endPort !== undefined && { endport: toPort(endPort) }),
    ipaddressid: ipId,
    networkid: networkId,
    ipaddress: state.publicIps.get(ipId)?.address,
    state: rule.state === "Revoke" ? "Deleting" : rule.state,
    cidrlist: cidrs.join(","),
    ...(icmpType !== undefined && { icmptype: icmpType, icmpcode: icmpCode }),
    traffictype: "Ingress",
    tags: toTagsReply(state, id),
    fordisplay: true,
  };
}

/** Whether traffic can have this port. */
export function isPort(port: number): boolean {
  return port > 0 && port <= 65_535;
}

/** Refuses an end before the start. @throws {ApiError} 431 */
export function checkRange(start: number | undefined, end: number | undefined): void {
  if (start !== undefined && end !== undefined && start > end) {
    throw toInvalid("Start port can't be bigger than end port");
  }
}

/** Refuses sources that are no networks: a bare address is none. @throws {ApiError} 431 */
export function checkCidrs(cidrs: readonly string[], text: string): void {
  const wrong = cidrs.find((cidr) => !isCidr(cidr));
  if (wrong !== undefined) throw new ApiError(431, `${text} ${wrong}`);
}

function isCidr(text: string): boolean {
  const [, address = "", bits = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128);
}

/** Refuses a message type with another protocol, and ports with ICMP. @throws {ApiError} 431 */
export function checkIcmp(
  protocol: string,
  hasIcmp: boolean,
  ports: readonly (number | undefined)[],
): void {
  const isIcmp = protocol.toLowerCase() === "icmp";
  if (!isIcmp && hasIcmp) {
    throw toInvalid("Can specify icmpCode and icmpType for ICMP protocol only");
  }
  if (isIcmp && ports.some((port) => port !== undefined)) {
    throw toInvalid("Can't specify start/end port when protocol is ICMP");
  }
}
