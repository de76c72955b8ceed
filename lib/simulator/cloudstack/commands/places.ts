/**
 * The commands about zones, networks and other places, and about the server itself.
 * @module
 */
import { toScope } from "../access/scope.ts";
import { HAPROXY_METHODS, toCapabilityText } from "../world/load_balancing.ts";
import type { Network, Zone } from "../world/records.ts";
import type { CloudStackState } from "../world/state.ts";
import {
  type Call,
  type Command,
  createTagFilter,
  findNamed,
  isSame,
  type List,
  matches,
  toList,
  toOwner,
  toTagsReply,
} from "./call.ts";

/** The commands. */
export const PLACE_COMMANDS: Readonly<Record<string, Command>> = {
  listZones: { kind: "list", run: listZones },
  listNetworks: { kind: "list", run: listNetworks },
};

function listZones({ caller, parameters, state }: Call): List {
  const wanted = findNamed(parameters, "id", state.zones);
  const zones = [...state.zones.values()].filter(
    (zone) =>
      (zone.isEnabled || caller.account.type === "admin") &&
      (wanted === undefined || wanted === zone) &&
      isSame(parameters.get("name"), zone.name) &&
      matches(parameters, zone.name),
  );
  return toList("zone", zones, toZoneReply);
}

function toZoneReply({ id, name, isEnabled }: Zone): object {
  return {
    id,
    name,
    networktype: "Advanced",
    securitygroupsenabled: false,
    allocationstate: isEnabled ? "Enabled" : "Disabled",
    dhcpprovider: "VirtualRouter",
    localstorageenabled: false,
    type: "Core",
    tags: [],
  };
}

/** What a service can do, as far as it says so. */
const CAPABILITIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Lb: {
    SupportedLbAlgorithms: "roundrobin,leastconn,source",
    SupportedProtocols: "tcp, udp, tcp-proxy",
    LbSchemes: "Public",
  },
  Firewall: {
    TrafficStatistics: "per public ip",
    SupportedProtocols: "tcp,udp,icmp",
    SupportedEgressProtocols: "tcp,udp,icmp, all",
    SupportedTrafficDirection: "ingress, egress",
    MultipleIps: "true",
  },
  NetworkACL: { SupportedProtocols: "tcp,udp,icmp" },
};

/** Networks of the caller, and those of every account. */
function listNetworks({ caller, parameters, state }: Call): List {
  const isOwned = toScope(caller.account, parameters, state);
  const wanted = findNamed(parameters, "id", state.networks);
  const zone = findNamed(parameters, "zoneid", state.zones);
  const vpc = findNamed(parameters, "vpcid", state.vpcs);
  const isTagged = createTagFilter(parameters, state);
  const networks = [...state.networks.values()].filter(
    (network) =>
      (network.accountId === "" || isOwned(network.accountId)) &&
      (wanted === undefined || wanted === network) &&
      (zone === undefined || zone.id === network.zoneId) &&
      (vpc === undefined || vpc.id === network.vpcId) &&
      isSame(parameters.get("type"), network.type) &&
      matches(parameters, network.name) &&
      isTagged(network.id),
  );
  return toList("network", networks, (network) => toNetworkReply(network, state));
}

/** A network. */
function toNetworkReply(network: Network, state: CloudStackState): object {
  const { id, name, type, zoneId, prefix, services, vpcId } = network;
  return {
    id,
    name,
    displaytext: name,
    type,
    cidr: `${prefix}0/24`,
    gateway: `${prefix}1`,
    netmask: "255.255.255.0",
    traffictype: "Guest",
    zoneid: zoneId,
    zonename: state.zones.get(zoneId)?.name,
    state: type === "Shared" ? "Setup" : "Implemented",
    // Tiers of a VPC cannot have it.
    networkofferingconservemode: vpcId === undefined,
    ...toOwner(network.accountId, state),
    ...(vpcId !== undefined && toTierFields(network, state)),
    service: services.map((service) => ({
      name: service,
      capability: toCapabilities(service, network),
    })),
    tags: toTagsReply(state, id),
  };
}

function toTierFields({ vpcId = "", aclId = "" }: Network, state: CloudStackState): object {
  const list = state.aclLists.get(aclId);
  return {
    vpcid: vpcId,
    vpcname: state.vpcs.get(vpcId)?.name,
    ...(list && { aclid: list.id, aclname: list.name }),
  };
}

function toCapabilities(service: string, { stickiness = HAPROXY_METHODS }: Network): object[] {
  const capabilities = CAPABILITIES[service] ?? {};
  const methods = service === "Lb" && stickiness.length > 0 && toCapabilityText(stickiness);
  const all = { ...capabilities, ...(methods && { SupportedStickinessMethods: methods }) };
  return Object.entries(all).map(([name, value]) => ({
    name,
    value,
    canchooseservicecapability: false,
  }));
}

/** The commands. */
export const SERVER_COMMANDS: Readonly<Record<string, Command>> = {
  listCapabilities: { kind: "answer", run: listCapabilities },
  listProjects: { kind: "list", run: listProjects },
};

function listCapabilities({ caller: { account }, settings }: Call): object {
  const { throttling } = settings;
  const capability = {
    securitygroupsenabled: false,
    dynamicrolesenabled: true,
    cloudstackversion: settings.version,
    userpublictemplateenabled: true,
    supportELB: "false",
    projectinviterequired: false,
    allowusercreateprojects: true,
    customdiskofferingminsize: 1,
    customdiskofferingmaxsize: 1024,
    regionsecondaryenabled: false,
    kvmsnapshotenabled: false,
    ...(throttling && {
      apilimitinterval: Math.round(throttling.intervalMs / 1_000),
      apilimitmax: throttling.max,
    }),
    allowuserviewdestroyedvm: account.type !== "user" || account.seesDestroyed === true,
    allowuserexpungerecovervm: account.type !== "user",
    kubernetesserviceenabled: true,
    defaultuipagesize: 20,
  };
  return { capability };
}

function listProjects({ caller: { account }, parameters, state }: Call): List {
  const wanted = findNamed(parameters, "id", state.projects);
  const seesAll = account.type !== "user" && parameters.isTrue("listall");
  const projects = [...state.projects.values()].filter(
    (project) =>
      (seesAll || project.memberIds.includes(account.id)) &&
      (wanted === undefined || wanted === project) &&
      isSame(parameters.get("name"), project.name) &&
      isSame(parameters.get("state"), project.state) &&
      matches(parameters, project.name),
  );
  return toList("project", projects, (project) => ({
    id: project.id,
    name: project.name,
    displaytext: project.name,
    domainid: project.domainId,
    domain: state.domains.get(project.domainId)?.name,
    owner: project.memberIds.slice(0, 1).map((id) => ({ account: state.accounts.get(id)?.name })),
    projectaccountname: state.accounts.get(project.accountId)?.name,
    state: project.state,
    tags: [],
  }));
}
