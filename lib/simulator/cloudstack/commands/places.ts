/**
 * Where virtual machines run, and what they have: zones, networks and service offerings.
 * @module
 */
import { toScope } from "../access/scope.ts";
import type { Network, Offering, Zone } from "../world/records.ts";
import type { CloudStackState } from "../world/state.ts";
import { findNamed, isSame, matches, toList, type Call, type Command, type List } from "./call.ts";
import { createTagFilter, toTagsReply } from "./tag_reply.ts";
import { toOwner } from "./owner_reply.ts";

/** The commands. */
export const PLACE_COMMANDS: Readonly<Record<string, Command>> = {
  listZones: { kind: "list", run: listZones },
  listNetworks: { kind: "list", run: listNetworks },
  listServiceOfferings: { kind: "list", run: listOfferings },
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

function listNetworks({ caller, parameters, state }: Call): List {
  const isOwned = toScope(caller.account, parameters, state);
  const wanted = findNamed(parameters, "id", state.networks);
  const zone = findNamed(parameters, "zoneid", state.zones);
  const isTagged = createTagFilter(parameters, state);
  const networks = [...state.networks.values()].filter(
    (network) =>
      isTagged(network.id) &&
      (network.accountId === "" || isOwned(network.accountId)) &&
      (wanted === undefined || wanted === network) &&
      (zone === undefined || zone.id === network.zoneId) &&
      isSame(parameters.get("type"), network.type) &&
      matches(parameters, network.name),
  );
  return toList("network", networks, (network) => toNetworkReply(network, state));
}

function toNetworkReply(network: Network, state: CloudStackState): object {
  const { id, name, type, zoneId, prefix, services } = network;
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
    networkofferingconservemode: true,
    ...toOwner(network.accountId, state),
    service: services.map((service) => ({ name: service, capability: toCapabilities(service) })),
    tags: toTagsReply(state, id),
  };
}

function toCapabilities(service: string): object[] {
  if (service !== "Lb") return [];
  const values = {
    SupportedLbAlgorithms: "roundrobin,leastconn,source",
    SupportedProtocols: "tcp, udp, tcp-proxy",
    LbSchemes: "Public",
  };
  return Object.entries(values).map(([name, value]) => ({
    name,
    value,
    canchooseservicecapability: false,
  }));
}

function listOfferings({ parameters, state }: Call): List {
  const wanted = findNamed(parameters, "id", state.offerings);
  const offerings = [...state.offerings.values()].filter(
    (offering) =>
      (wanted === undefined || wanted === offering) &&
      isSame(parameters.get("name"), offering.name) &&
      matches(parameters, offering.name),
  );
  return toList("serviceoffering", offerings, toOfferingReply);
}

function toOfferingReply({ id, name, cpus, speedMhz, memoryMib }: Offering): object {
  return {
    id,
    name,
    displaytext: name,
    cpunumber: cpus,
    cpuspeed: speedMhz,
    memory: memoryMib,
    issystem: false,
    iscustomized: false,
  };
}
