/**
 * Reads the objects that load balancers are made of, as lists and as results of jobs show them. Other fields are
 * dropped.
 * @module
 */
import * as v from "valibot";
import { parseIp } from "../../../core/net/ip.ts";
import type {
  AclItem,
  FirewallRule,
  Network,
  PublicAddress,
  Rule,
  StickinessPolicy,
} from "../load_balancers/observation.ts";
import {
  CIDRS,
  type Field,
  FLAG,
  ID,
  NAME,
  PORT,
  REFERENCE,
  TEXT,
  WHOLE_NUMBER,
} from "./fields.ts";
import { readServices } from "./network_services.ts";

/** The policies of one rule. */
interface RulePolicies {
  /** Of the rule. */
  readonly id: string;
  readonly policies: readonly StickinessPolicy[];
}

/** A list of network ACLs. */
interface AclList {
  readonly id: string;
  readonly name: string;
}

/** Something of which only the ID matters. */
interface Identified {
  readonly id: string;
}

const WORD = v.pipe(
  v.string(),
  v.transform((one) => one.toLowerCase()),
);
const TAGS: Field<ReadonlyMap<string, string>> = v.pipe(
  v.nullish(v.array(v.object({ key: v.string(), value: NAME })), []),
  v.transform((tags) => new Map(tags.map(({ key, value }) => [key, value]))),
);
const IP = v.pipe(
  v.string(),
  v.check((one) => parseIp(one) !== undefined, "an IP address"),
  v.transform((one) => parseIp(one)?.text ?? ""),
);
/** Flags of stickiness have no value. */
const VALUE = v.nullish(v.union([v.string(), v.number(), v.boolean()]));

const policy = v.pipe(
  v.object({
    id: ID,
    name: NAME,
    methodname: NAME,
    description: TEXT,
    state: NAME,
    params: v.nullish(v.record(v.string(), VALUE)),
  }),
  v.transform(({ id, name, methodname, description, state, params }): StickinessPolicy => {
    const entries = Object.entries(params ?? {});
    return {
      id,
      name,
      method: methodname,
      params: new Map(entries.map(([key, value]) => [key, String(value ?? "")])),
      ...(description && { description }),
      state,
    };
  }),
);

function toAllocated(allocated: string): Pick<PublicAddress, "allocatedAtMs"> {
  const allocatedAtMs = Date.parse(allocated);
  return Number.isNaN(allocatedAtMs) ? {} : { allocatedAtMs };
}

/** Readers by kind of object. Texts of CloudStack keep their case. */
export const LB_SCHEMAS: {
  readonly address: Field<PublicAddress>;
  readonly rule: Field<Rule>;
  readonly firewallRule: Field<FirewallRule>;
  readonly aclItem: Field<AclItem>;
  readonly aclList: Field<AclList>;
  readonly network: Field<Network>;
  readonly stickiness: Field<RulePolicies>;
  readonly identified: Field<Identified>;
} = {
  address: v.pipe(
    v.object({
      id: ID,
      ipaddress: IP,
      state: NAME,
      allocated: TEXT,
      associatednetworkid: REFERENCE,
      vpcid: REFERENCE,
      issourcenat: v.nullish(FLAG),
      isstaticnat: v.nullish(FLAG),
      hasrules: v.nullish(FLAG),
      tags: TAGS,
    }),
    v.transform((one): PublicAddress => ({
      id: one.id,
      ip: one.ipaddress,
      state: one.state,
      ...toAllocated(one.allocated ?? ""),
      ...(one.associatednetworkid && { networkId: one.associatednetworkid }),
      ...(one.vpcid && { vpcId: one.vpcid }),
      isSourceNat: one.issourcenat ?? false,
      isStaticNat: one.isstaticnat ?? false,
      ...(typeof one.hasrules === "boolean" && { hasRules: one.hasrules }),
      tags: one.tags,
    })),
  ),
  rule: v.pipe(
    v.object({
      id: ID,
      name: v.string(),
      description: TEXT,
      publicipid: ID,
      publicip: NAME,
      networkid: ID,
      publicport: PORT,
      privateport: PORT,
      protocol: NAME,
      algorithm: NAME,
      cidrlist: CIDRS,
      state: NAME,
    }),
    v.transform((one): Rule => ({
      id: one.id,
      name: one.name,
      ...(one.description && { description: one.description }),
      addressId: one.publicipid,
      ip: one.publicip,
      networkId: one.networkid,
      publicPort: one.publicport,
      privatePort: one.privateport,
      protocol: one.protocol,
      algorithm: one.algorithm,
      ...(one.cidrlist && { cidrs: one.cidrlist }),
      state: one.state,
    })),
  ),
  firewallRule: v.pipe(
    v.object({
      id: ID,
      ipaddressid: ID,
      protocol: WORD,
      startport: v.nullish(PORT),
      endport: v.nullish(PORT),
      cidrlist: CIDRS,
      state: NAME,
    }),
    v.transform((one): FirewallRule => ({
      id: one.id,
      addressId: one.ipaddressid,
      protocol: one.protocol,
      ...toPorts(one),
      ...(one.cidrlist && { cidrs: one.cidrlist }),
      state: one.state,
    })),
  ),
  aclItem: v.pipe(
    v.object({
      id: ID,
      aclid: ID,
      protocol: WORD,
      startport: v.nullish(PORT),
      endport: v.nullish(PORT),
      cidrlist: CIDRS,
      traffictype: v.pipe(WORD, v.picklist(["ingress", "egress"])),
      action: v.pipe(WORD, v.picklist(["allow", "deny"])),
      number: WHOLE_NUMBER,
      reason: TEXT,
      state: NAME,
    }),
    v.transform((one): AclItem => ({
      id: one.id,
      listId: one.aclid,
      protocol: one.protocol,
      ...toPorts(one),
      ...(one.cidrlist && { cidrs: one.cidrlist }),
      isIngress: one.traffictype === "ingress",
      isAllow: one.action === "allow",
      number: one.number,
      ...(one.reason && { reason: one.reason }),
      state: one.state,
    })),
  ),
  aclList: v.object({ id: ID, name: v.string() }),
  network: v.pipe(
    v.object({
      id: ID,
      name: NAME,
      zoneid: REFERENCE,
      vpcid: REFERENCE,
      aclid: REFERENCE,
      aclname: TEXT,
      service: v.array(
        v.object({
          name: v.string(),
          capability: v.nullish(v.array(v.object({ name: v.string(), value: TEXT }))),
        }),
      ),
    }),
    v.transform((one): Network => ({
      id: one.id,
      name: one.name,
      ...(one.zoneid && { zoneId: one.zoneid }),
      ...(one.vpcid && { vpcId: one.vpcid }),
      ...(one.aclid && { aclListId: one.aclid }),
      ...(one.aclname && { aclListName: one.aclname }),
      ...readServices(one.service),
    })),
  ),
  stickiness: v.pipe(
    v.object({ lbruleid: ID, stickinesspolicy: v.nullish(v.array(policy)) }),
    v.transform(({ lbruleid, stickinesspolicy }) => ({
      id: lbruleid,
      policies: stickinesspolicy ?? [],
    })),
  ),
  identified: v.object({ id: ID }),
};

function toPorts({
  startport,
  endport,
}: {
  readonly startport?: number | null | undefined;
  readonly endport?: number | null | undefined;
}): Pick<FirewallRule, "startPort" | "endPort"> {
  return {
    ...(typeof startport === "number" && { startPort: startport }),
    ...(typeof endport === "number" && { endPort: endport }),
  };
}
