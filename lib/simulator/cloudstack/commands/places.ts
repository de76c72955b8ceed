/**
 * Where virtual machines run, and what they have: zones, networks and service offerings.
 * @module
 */
import type { Offering, Zone } from "../world/records.ts";
import { findNamed, isSame, matches, toList, type Call, type Command, type List } from "./call.ts";
import { listNetworks } from "./networks/networks.ts";
import { listVpcs } from "./networks/vpcs.ts";

/** The commands. */
export const PLACE_COMMANDS: Readonly<Record<string, Command>> = {
  listZones: { kind: "list", run: listZones },
  listNetworks: { kind: "list", run: listNetworks },
  listVPCs: { kind: "list", run: listVpcs },
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
