/**
 * Port forwardings, as far as they get in the way of load balancers: made, listed and deleted.
 * @module
 */
import { toScope } from "../access/scope.ts";
import type { Parameters } from "../parameters.ts";
import { ApiError, toInvalid } from "../replies.ts";
import { dropPortForwarding, listUsedPorts, toSerialKey } from "../world/addresses.ts";
import { type PortForwarding, toNumber } from "../world/load_balancing.ts";
import type { PublicIp } from "../world/records.ts";
import type { CloudStackState } from "../world/state.ts";
import {
  type Call,
  findNamed,
  type List,
  needNamed,
  needOwned,
  readNumber,
  throwMissing,
  toList,
  toTagsReply,
  type WantedJob,
} from "./call.ts";
import { isPort } from "./firewall_rules.ts";

/** Lists port forwardings. */
export function listPortForwardings({ caller, parameters, state }: Call): List {
  const isOwned = toScope(caller.account, parameters, state);
  const wanted = findNamed(parameters, "id", state.portForwardings);
  const ip = findNamed(parameters, "ipaddressid", state.publicIps);
  const network = findNamed(parameters, "networkid", state.networks);
  const found = [...state.portForwardings.values()].filter(
    (one) =>
      isOwned(one.accountId) &&
      (wanted === undefined || wanted === one) &&
      (ip === undefined || ip.id === one.ipId) &&
      (network === undefined || network.id === one.networkId),
  );
  return toList("portforwardingrule", found, (one) => toReply(one, state));
}

/** Makes a port forwarding. It conflicts with a load-balancer rule on the same port, of any protocol. */
export function createPortForwarding(call: Call): WantedJob {
  const { parameters, state } = call;
  const ip = needOwned(call, "ipaddressid", state.publicIps);
  const vm = needNamed(parameters, "virtualmachineid", state.vms);
  const publicPort = needPort(parameters, "publicport", "publicPort");
  const privatePort = needPort(parameters, "privateport", "privatePort");
  const networkId = ip.networkId ?? findNamed(parameters, "networkid", state.networks)?.id;
  const protocol = parameters.get("protocol")?.toLowerCase();
  if (networkId === undefined) throw toInvalid("Ip address is not assigned to any network");
  if (protocol !== "tcp" && protocol !== "udp") throw toInvalid("Invalid protocol");
  const publicEndPort = parameters.get("publicendport")
    ? needPort(parameters, "publicendport", "publicEndPort")
    : publicPort;
  checkConflicts(state, ip, publicPort, publicEndPort);
  if (ip.networkId === undefined) ip.networkId = networkId;
  const made: PortForwarding = {
    id: state.nextId("port_forwarding"),
    ipId: ip.id,
    networkId,
    accountId: ip.accountId ?? "",
    protocol,
    publicPort,
    publicEndPort,
    privatePort,
    privateEndPort: privatePort + publicEndPort - publicPort,
    vmId: vm.id,
  };
  state.portForwardings.set(made.id, made);
  return {
    instanceType: "FirewallRule",
    instanceId: made.id,
    serialKey: toSerialKey(ip),
    run: () => ({ portforwardingrule: toReply(made, state) }),
    undo: () => dropPortForwarding(state, made.id),
  };
}

/** Deletes a port forwarding. */
export function deletePortForwarding(call: Call): WantedJob {
  const { state } = call;
  const { id, networkId } = needOwned(call, "id", state.portForwardings);
  return {
    instanceType: "FirewallRule",
    instanceId: id,
    serialKey: `network/${networkId}`,
    run: () => {
      dropPortForwarding(state, id);
      return { success: true };
    },
  };
}

function toReply(one: PortForwarding, state: CloudStackState): object {
  const vm = state.vms.get(one.vmId);
  return {
    id: one.id,
    privateport: String(one.privatePort),
    privateendport: String(one.privateEndPort),
    protocol: one.protocol,
    publicport: String(one.publicPort),
    publicendport: String(one.publicEndPort),
    virtualmachineid: one.vmId,
    virtualmachinename: vm?.name,
    ipaddressid: one.ipId,
    ipaddress: state.publicIps.get(one.ipId)?.address,
    networkid: one.networkId,
    state: "Active",
    tags: toTagsReply(state, one.id),
    fordisplay: true,
  };
}

/** The port that a parameter must name. @throws {ApiError} 431 when it is none; `label` is its name in the text */
export function needPort(parameters: Parameters, name: string, label: string): number {
  const port = readNumber(parameters, name) ?? throwMissing(parameters, name);
  if (!isPort(port)) throw toInvalid(`${label} is an invalid value: ${port}`);
  return port;
}

/**
 * Refuses ports that another rule of the address has, even if their protocols differ.
 *
 * @throws {ApiError} 537
 */
export function checkConflicts(
  state: CloudStackState,
  ip: PublicIp,
  from: number,
  to: number = from,
): void {
  const other = listUsedPorts(state, ip.id).find(
    (used) => used.publicPort <= to && used.publicEndPort >= from,
  );
  if (other === undefined) return;
  const range = `${other.publicPort}-${other.publicEndPort}`;
  const text = `The range specified, ${from}-${to}, conflicts with rule ${toNumber(other.id)} which has ${range}`;
  throw new ApiError(537, text);
}
