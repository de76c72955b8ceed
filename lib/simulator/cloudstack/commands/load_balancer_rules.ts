/**
 * The commands about load-balancer rules and their members.
 * @module
 */
import { parseCidr } from "../../../core/net/ip.ts";
import { toScope } from "../access/scope.ts";
import type { Parameters } from "../parameters.ts";
import { ApiError, toHidden, toInvalid, toUnknownEntity } from "../replies.ts";
import { isSince } from "../settings.ts";
import { dropRule, listUsedPorts } from "../world/addresses.ts";
import { type FirewallRule, isInConflict, toFirewallRule } from "../world/firewall.ts";
import {
  applyRule,
  type LoadBalancerRule,
  type Member,
  toNumber,
} from "../world/load_balancing.ts";
import type { Network, PublicIp, Vm } from "../world/records.ts";
import type { CloudStackState } from "../world/state.ts";
import {
  type Call,
  type Command,
  createTagFilter,
  findNamed,
  isSame,
  type List,
  matches,
  needOwned,
  needText,
  toList,
  toOwner,
  toTagsReply,
  type WantedJob,
} from "./call.ts";
import { checkConflicts, needPort } from "./port_forwardings.ts";
import { toVmReply, toVmView } from "./virtual_machines.ts";

/** The commands. */
export const LOAD_BALANCING_COMMANDS: Readonly<Record<string, Command>> = {
  listLoadBalancerRules: { kind: "list", run: listRules },
  listLoadBalancerRuleInstances: { kind: "list", run: listRuleInstances },
  createLoadBalancerRule: { kind: "create", run: createRule },
  updateLoadBalancerRule: { kind: "job", run: updateRule },
  deleteLoadBalancerRule: { kind: "job", run: deleteRule },
  assignToLoadBalancerRule: { kind: "job", run: assign },
  removeFromLoadBalancerRule: { kind: "job", run: remove },
};

/** How a rule spreads connections. */
const ALGORITHMS: ReadonlySet<string> = new Set(["roundrobin", "leastconn", "source"]);
const PROTOCOLS: ReadonlySet<string> = new Set(["tcp", "udp", "tcp-proxy", "ssl"]);

const DNS_PORT = 53;
/** The router shows its statistics there. */
const STATISTICS_PORT = 8081;
const DESCRIPTION_CHARS_MAX = 4_096;

/** Makes a rule. The router gets it when it has a member. */
function createRule(call: Call): WantedJob {
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
function isBalanced({ balancer }: Network, protocol: string = "tcp"): boolean {
  return PROTOCOLS.has(protocol) && !(balancer === "HAProxy" && protocol === "udp");
}

/** Whether a text is a network or an address. */
function isSource(text: string): boolean {
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

/**
 * Whether a firewall rule is asked for: outside of a VPC by default, and never in one.
 *
 * @throws {ApiError} 431 when it is asked for in a VPC
 */
function opensFirewall({ parameters }: Call, { vpcId }: PublicIp): boolean {
  const isAsked = parameters.get("openfirewall")?.toLowerCase() !== "false";
  if (vpcId === undefined) return isAsked;
  if (!parameters.isTrue("openfirewall")) return false;
  throw toInvalid("Can't have openFirewall=true when IP address belongs to VPC");
}

/**
 * A firewall rule that lets every source reach a port by TCP, even if the load balancer carries UDP.
 *
 * @throws {ApiError} 530 without a firewall, 537 when another rule is in the way
 */
function toOpeningRule(
  { state }: Call,
  network: Network,
  { ip, port }: { readonly ip: PublicIp; readonly port: number },
): FirewallRule {
  if (!network.services.includes("Firewall")) throw toHidden();
  const made = toFirewallRule({ ip: { ...ip, networkId: network.id }, startPort: port });
  const rule = { ...made, id: state.nextId("firewall") };
  const other = [...state.firewallRules.values()].find((one) => isInConflict(rule, one));
  if (other === undefined) return rule;
  const there = `conflicts with rule ${toNumber(other.id)} which has ${other.startPort}-${other.endPort}`;
  throw new ApiError(537, `The range specified, ${port}-${port}, ${there}`);
}

/**
 * Changes a rule. The router gets the rule only if the algorithm or the sources change: another protocol or name is
 * stored, and not sent. The change stays if the router does not take it, and so does the state `Add`.
 */
function updateRule(call: Call): WantedJob {
  const { state } = call;
  const rule = needOwned(call, "id", state.loadBalancerRules);
  let isSent = false;
  const job = toRuleJob(rule, () => {
    // The answer has the state from before the router took it.
    const reply = toRuleReply(rule, state);
    if (isSent && state.loadBalancerRules.has(rule.id)) applyRule(rule, state.stickinessPolicies);
    return { loadbalancer: reply };
  });
  return {
    ...job,
    begin: () => {
      if (!state.loadBalancerRules.has(rule.id)) {
        throw toInvalid(`Unable to find lb rule by id=${rule.id}`);
      }
      const { algorithm, cidrList } = rule;
      const changes = readChanges(call);
      checkBalancer(changes, state.networks.get(rule.networkId));
      Object.assign(rule, changes);
      isSent = rule.algorithm !== algorithm || rule.cidrList !== cidrList;
      if (isSent) rule.state = "Add";
    },
  };
}

/** Deletes a rule. An address of a VPC whose last rule it was leads nowhere from then on. */
function deleteRule(call: Call): WantedJob {
  const { state } = call;
  const rule = needOwned(call, "id", state.loadBalancerRules);
  const setRevoked = (isRevoked: boolean): void => {
    for (const member of rule.members) member.isRevoked = isRevoked;
  };
  let before = rule.state;
  const job = toRuleJob(rule, () => {
    dropRule(state, rule.id);
    return { success: true };
  });
  return {
    ...job,
    begin: () => {
      if (!state.loadBalancerRules.has(rule.id)) {
        throw toInvalid(`Unable to find load balancer rule ${rule.id}`);
      }
      before = rule.state;
      rule.state = "Revoke";
      setRevoked(true);
    },
    undo: () => {
      rule.state = before;
      setRevoked(false);
    },
  };
}

function toRuleJob({ id, networkId }: LoadBalancerRule, run: WantedJob["run"]): WantedJob {
  const serialKey = `network/${networkId}`;
  return { instanceType: "FirewallRule", instanceId: id, serialKey, run };
}

function checkBalancer({ protocol }: Changes, network: Network | undefined): void {
  if (network !== undefined && !isBalanced(network, protocol)) {
    throw toInvalid("Modifications in lb rule are not supported.");
  }
}

type Changes = Partial<
  Pick<LoadBalancerRule, "name" | "description" | "algorithm" | "protocol" | "cidrList">
>;

/** What the request changes; before 4.22 the server does not know the parameter for sources. */
function readChanges({ parameters, settings }: Call): Changes {
  const [name, description] = [parameters.get("name"), parameters.get("description")];
  const [algorithm, protocol] = [parameters.get("algorithm"), parameters.get("protocol")];
  const cidrs = isSince(settings, "4.22") ? parameters.list("cidrlist") : [];
  if (algorithm !== undefined && !ALGORITHMS.has(algorithm)) {
    throw toInvalid(`Invalid algorithm: ${algorithm}`);
  }
  if (cidrs.some((cidr) => !isSource(cidr))) {
    throw toInvalid(`Invalid CIDR list: ${cidrs.join(",")}`);
  }
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(algorithm !== undefined && { algorithm }),
    ...(protocol !== undefined && { protocol }),
    ...(cidrs.length > 0 && { cidrList: cidrs.join(",") }),
  };
}

/**
 * Adds members and sends the rule to the router. One machine that is a member already, or that cannot be one, fails the
 * whole call.
 */
function assign(call: Call): WantedJob {
  const { state } = call;
  const rule = needOwned(call, "id", state.loadBalancerRules);
  const named = readNamed(call);
  let added: Member[] = [];
  return {
    ...toJob(rule),
    begin: () => {
      if (!state.loadBalancerRules.has(rule.id)) {
        const text = `Failed to assign to load balancer ${toNumber(rule.id)}`;
        throw toRefused(`${text}, the load balancer was not found.`);
      }
      added = named.map((vm) => toMember(vm, rule, state));
      rule.members = [...rule.members, ...added];
    },
    run: () => toApplied(rule, state),
    undo: () => {
      rule.members = rule.members.filter((member) => !added.includes(member));
    },
  };
}

/** Takes members away and sends the rule to the router. A machine that is no member is no error. */
function remove(call: Call): WantedJob {
  const { state } = call;
  const rule = needOwned(call, "id", state.loadBalancerRules);
  const named = readNamed(call);
  let revoked: Member[] = [];
  return {
    ...toJob(rule),
    begin: () => {
      if (!state.loadBalancerRules.has(rule.id)) {
        throw toInvalid(`Invalid load balancer value: ${toNumber(rule.id)}`);
      }
      revoked = rule.members.filter(({ vmId }) => named.some((vm) => vm.id === vmId));
      for (const member of revoked) member.isRevoked = true;
    },
    run: () => toApplied(rule, state),
    undo: () => {
      for (const member of revoked) member.isRevoked = false;
    },
  };
}

function toJob({ id, networkId }: LoadBalancerRule): Omit<WantedJob, "run"> {
  return { instanceType: "FirewallRule", instanceId: id, serialKey: `network/${networkId}` };
}

/** A rule may be gone by the end of the job, with its address. */
function toApplied(rule: LoadBalancerRule, state: CloudStackState): object {
  if (state.loadBalancerRules.has(rule.id)) applyRule(rule, state.stickinessPolicies);
  return { success: true };
}

function readNamed({ parameters, state }: Call): Vm[] {
  const ids = parameters.list("virtualmachineids");
  if (ids.length === 0) throw toInvalid("Both instanceids and vmidipmap  can't be null");
  return [...new Set(ids.map((id) => needVm(parameters, id, state)))];
}

/** An expunged machine is known by its ID; the job says that it is gone. */
function needVm({ command }: Parameters, id: string, { vms }: CloudStackState): Vm {
  const vm = vms.get(id.toLowerCase());
  if (vm === undefined) throw toUnknownEntity(command, "virtualmachineids", id);
  return vm;
}

function toMember(vm: Vm, rule: LoadBalancerRule, state: CloudStackState): Member {
  if (vm.isRemoved || vm.state === "Destroyed" || vm.state === "Expunging") {
    throw toRefused("Invalid instance id specified");
  }
  if (vm.accountId !== rule.accountId) {
    throw toRefused(`New rule ${rule.name} and vm id=${vm.name} belong to different accounts`);
  }
  const nic = vm.nics.find(({ networkId }) => networkId === rule.networkId);
  if (nic === undefined) {
    throw toRefused(
      "VM with id specified cannot be added because it doesn't belong in the same network.",
    );
  }
  const ip = nic.ipAddress ?? "";
  if (rule.members.some(({ vmId }) => vmId === vm.id)) {
    const number = [...state.vms.keys()].indexOf(vm.id) + 1;
    throw toRefused(`VM ${number} with ${ip} is already mapped to load balancer.`);
  }
  return { vmId: vm.id, ip, isRevoked: false };
}

/** For any reason, the job fails with an internal error. */
function toRefused(reason: string): ApiError {
  return new ApiError(530, `Failed to assign load balancer rule due to: ${reason}`);
}

/** Members in these states are left out of the list of a rule's members. */
const HIDDEN: ReadonlySet<string> = new Set(["Destroyed", "Expunging", "Error", "Unknown"]);

/** Lists rules; `keyword` is any part of the name or the description. */
function listRules({ caller, parameters, state }: Call): List {
  const isOwned = toScope(caller.account, parameters, state);
  const isTagged = createTagFilter(parameters, state);
  const wanted = findNamed(parameters, "id", state.loadBalancerRules);
  const ip = findNamed(parameters, "publicipid", state.publicIps);
  const network = findNamed(parameters, "networkid", state.networks);
  const zone = findNamed(parameters, "zoneid", state.zones);
  const vm = findNamed(parameters, "virtualmachineid", state.vms);
  const rules = [...state.loadBalancerRules.values()].filter(
    (rule) =>
      isOwned(rule.accountId) &&
      isTagged(rule.id) &&
      (wanted === undefined || wanted === rule) &&
      (ip === undefined || ip.id === rule.ipId) &&
      (network === undefined || network.id === rule.networkId) &&
      (zone === undefined || zone.id === state.publicIps.get(rule.ipId)?.zoneId) &&
      (vm === undefined || rule.members.some(({ vmId }) => vmId === vm.id)) &&
      isSame(parameters.get("name"), rule.name) &&
      matches(parameters, rule.name, rule.description ?? ""),
  );
  return toList("loadbalancerrule", rules, (rule) => toRuleReply(rule, state));
}

/** Lists the members of a rule, those that a job takes away included. */
function listRuleInstances(call: Call): List {
  const { caller, parameters, state } = call;
  const rule = needOwned(call, "id", state.loadBalancerRules);
  // Machines that are not members are never found, as on the server.
  const isApplied = parameters.get("applied")?.toLowerCase() !== "false";
  const view = toVmView(state, caller.account, []);
  const vms = isApplied ? listMembers(call, rule) : [];
  return toList("loadbalancerruleinstance", vms, (vm) => toVmReply(vm, view));
}

function listMembers({ state }: Call, { members }: LoadBalancerRule): Vm[] {
  const ids = new Set(members.map(({ vmId }) => vmId));
  return [...state.vms.values()].filter((vm) => ids.has(vm.id) && !HIDDEN.has(vm.state));
}

/** Shows a rule. Its ports are text. */
function toRuleReply(rule: LoadBalancerRule, state: CloudStackState): object {
  const ip = state.publicIps.get(rule.ipId);
  return {
    id: rule.id,
    name: rule.name,
    ...(rule.description !== undefined && { description: rule.description }),
    publicipid: rule.ipId,
    publicip: ip?.address,
    publicport: String(rule.publicPort),
    privateport: String(rule.privatePort),
    algorithm: rule.algorithm,
    cidrlist: rule.cidrList ?? "",
    ...toOwner(rule.accountId, state),
    state: rule.state,
    zoneid: ip?.zoneId,
    zonename: state.zones.get(ip?.zoneId ?? "")?.name,
    ...(rule.protocol !== undefined && { protocol: rule.protocol }),
    networkid: rule.networkId,
    fordisplay: true,
    tags: toTagsReply(state, rule.id),
  };
}
