/**
 * What Landfall asks CloudStack about load balancers and what belongs to them.
 * @module
 */
import * as v from "valibot";
import { CloudError } from "../../../cloud/errors.ts";
import { decode, findNameless } from "../../../cloud_http/decode.ts";
import { parseJson, parseUuid } from "../../../core/text/values.ts";
import type {
  AclItem,
  FirewallRule,
  Network,
  PublicAddress,
  Rule,
  StickinessMethod,
  StickinessPolicy,
  Unreadable,
} from "../load_balancers/observation.ts";
import type { ObjectList } from "../session/lists.ts";
import type { Body } from "../session/reply.ts";
import type { CloudStackSession } from "../session/session.ts";
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
} from "./schema.ts";
import { parseIp } from "../../../core/net/ip.ts";

/** A whole list: what can be read of it, and the rest. */
export interface WholeList<T> {
  readonly objects: readonly T[];
  readonly unreadable: readonly Unreadable[];
}

/** A question for a list. */
interface Question<T> {
  readonly command: string;
  readonly key: string;
  readonly schema: Field<T>;
  readonly params: Readonly<Record<string, string>>;
}

/** A list that changes while it is read is read again, so often in all. */
const TRIES_MAX = 3;

/**
 * Questions about everything that load balancers are made of.
 *
 * Every method throws {@linkcode CloudError} when there is no usable answer. So do those that do not say otherwise when
 * a list is not whole: what it lacks would look as if it were absent.
 */
export class LoadBalancingApi {
  readonly #session: Pick<CloudStackSession, "list">;

  constructor(session: Pick<CloudStackSession, "list">) {
    this.#session = session;
  }

  /** Lists the public addresses that the account or project has taken. */
  async listAddresses(
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<WholeList<PublicAddress>> {
    const query = {
      command: "listPublicIpAddresses",
      key: "publicipaddress",
      schema: LB_SCHEMAS.address,
      params: toAll(projectId),
    };
    const list = await this.#list(query, signal);
    return toWhole(list, "address", (one) => ({ name: toText(one["ipaddress"]) }));
  }

  /** Lists all load-balancer rules. */
  async listRules(projectId: string | undefined, signal: AbortSignal): Promise<WholeList<Rule>> {
    const query = {
      command: "listLoadBalancerRules",
      key: "loadbalancerrule",
      schema: LB_SCHEMAS.rule,
      params: toAll(projectId),
    };
    const list = await this.#list(query, signal);
    return toWhole(list, "rule", (one) => ({
      name: toText(one["name"]),
      addressId: toId(one["publicipid"]),
    }));
  }

  /** Lists the IDs of the rules that a VM is behind. */
  async listRulesOf(
    vmId: string,
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const query = {
      command: "listLoadBalancerRules",
      key: "loadbalancerrule",
      schema: LB_SCHEMAS.identified,
      params: { ...toAll(projectId), virtualmachineid: vmId },
    };
    const list = await this.#list(query, signal);
    const flaw = findFlaw(list);
    if (flaw !== undefined) throw toGapError(flaw);
    return new Set(list.objects.map(({ id }) => id));
  }

  /** Lists the IDs of the VMs behind a rule; `undefined` if the answer does not say all of them. */
  async listMembers(ruleId: string, signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    const query = {
      command: "listLoadBalancerRuleInstances",
      key: "loadbalancerruleinstance",
      schema: LB_SCHEMAS.identified,
      params: { id: ruleId },
    };
    const list = await this.#list(query, signal);
    return findFlaw(list) === undefined ? new Set(list.objects.map(({ id }) => id)) : undefined;
  }

  /** Lists the stickiness policies of a rule; `undefined` if the answer does not say all of them. */
  async listPolicies(
    ruleId: string,
    signal: AbortSignal,
  ): Promise<readonly StickinessPolicy[] | undefined> {
    const query = {
      command: "listLBStickinessPolicies",
      key: "stickinesspolicies",
      schema: LB_SCHEMAS.stickiness,
      params: { lbruleid: ruleId },
    };
    const list = await this.#list(query, signal);
    if (findFlaw(list) !== undefined) return undefined;
    return list.objects.flatMap(({ id, policies }) => (id === ruleId ? policies : []));
  }

  /** Lists all firewall rules of public addresses. */
  async listFirewallRules(
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<WholeList<FirewallRule>> {
    const query = {
      command: "listFirewallRules",
      key: "firewallrule",
      schema: LB_SCHEMAS.firewallRule,
      params: toAll(projectId),
    };
    const list = await this.#list(query, signal);
    return toWhole(list, "firewallRule", (one) => ({ addressId: toId(one["ipaddressid"]) }));
  }

  /** Lists all networks. */
  async listNetworks(
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<WholeList<Network>> {
    const query = {
      command: "listNetworks",
      key: "network",
      schema: LB_SCHEMAS.network,
      params: toAll(projectId),
    };
    const list = await this.#list(query, signal);
    return toWhole(list, "network", (one) => ({ name: toText(one["name"]) }));
  }

  /** Reads the name of a list of network ACLs; `undefined` if the server does not show the list. */
  async readAclListName(
    listId: string,
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const query = {
      command: "listNetworkACLLists",
      key: "networkacllist",
      schema: LB_SCHEMAS.aclList,
      params: { ...toAll(projectId), id: listId },
    };
    const { objects } = await this.#list(query, signal);
    return objects.find(({ id }) => id === listId)?.name;
  }

  /** Lists the items of a list of network ACLs. */
  async listAclItems(
    listId: string,
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<WholeList<AclItem>> {
    const query = {
      command: "listNetworkACLs",
      key: "networkacl",
      schema: LB_SCHEMAS.aclItem,
      params: { ...toAll(projectId), aclid: listId },
    };
    const list = await this.#list(query, signal);
    return toWhole(list, "aclItem", (one) => ({ name: toText(one["reason"]), listId }));
  }

  async #list<T extends { readonly id: string }>(
    query: Question<T>,
    signal: AbortSignal,
  ): Promise<ObjectList<T>> {
    for (let tries = 1; ; tries += 1) {
      const list = await this.#session.list(query, signal);
      if (list.gap === undefined || tries === TRIES_MAX) return list;
    }
  }
}

/** What an object that cannot be read says all the same. */
interface Said {
  readonly name?: string | undefined;
  readonly addressId?: string | undefined;
  readonly listId?: string | undefined;
}

function toWhole<T>(
  { objects, unreadable = [], undecodable, gap }: ObjectList<T>,
  kind: Unreadable["kind"],
  findSaid: (raw: Body) => Said,
): WholeList<T> {
  const describe = (raw: Body): Unreadable => {
    const { name, addressId, listId } = findSaid(raw);
    const id = toId(raw["id"]);
    return {
      kind,
      ...(id !== undefined && { id }),
      ...(name !== undefined && { name }),
      ...(addressId !== undefined && { addressId }),
      ...(listId !== undefined && { listId }),
      problem: undecodable.get(id ?? "") ?? findNameless(undecodable) ?? "it cannot be read",
    };
  };
  if (gap !== undefined) throw toGapError(gap);
  return { objects, unreadable: unreadable.map(describe) };
}

/** Why a list does not say everything; `undefined` if it does. */
function findFlaw({ undecodable, gap }: ObjectList<unknown>): string | undefined {
  const [problem = gap] = undecodable.values();
  return problem;
}

function toGapError(gap: string): CloudError {
  return new CloudError("protocol", `CloudStack's list is not whole: ${gap}`);
}

/** Without `listall`, an administrator is shown only what the own account has. */
function toAll(projectid: string | undefined): Readonly<Record<string, string>> {
  return { listall: "true", ...(projectid !== undefined && { projectid }) };
}

function toText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function toId(value: unknown): string | undefined {
  return typeof value === "string" ? parseUuid(value) : undefined;
}

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

/** A service of a network, as CloudStack shows it. */
export interface NetworkService {
  readonly name: string;
  readonly capability?:
    | readonly { readonly name: string; readonly value?: string | null | undefined }[]
    | null
    | undefined;
}

/** The part of a network that its services say. */
type Offered = Pick<
  Network,
  | "hasLoadBalancers"
  | "hasFirewall"
  | "hasNetworkAcl"
  | "hasDns"
  | "algorithms"
  | "protocols"
  | "stickiness"
>;

/** Reads the services of a network. What a network does not say, or not in a known form, is absent. */
export function readServices(services: readonly NetworkService[]): Offered {
  const find = (name: string): NetworkService | undefined =>
    services.find((one) => one.name.toLowerCase() === name);
  const loadBalancers = find("lb");
  const say = (name: string): string =>
    loadBalancers?.capability?.find((one) => one.name.toLowerCase() === name)?.value ?? "";
  const algorithms = toWords(say("supportedlbalgorithms"));
  const protocols = toWords(say("supportedprotocols"));
  const stickiness = parseStickinessMethods(say("supportedstickinessmethods"));
  return {
    hasLoadBalancers: loadBalancers !== undefined,
    hasFirewall: find("firewall") !== undefined,
    hasNetworkAcl: find("networkacl") !== undefined,
    hasDns: find("dns") !== undefined,
    ...(algorithms.size > 0 && { algorithms }),
    ...(protocols.size > 0 && { protocols }),
    ...(stickiness.length > 0 && { stickiness }),
  };
}

function toWords(text: string): ReadonlySet<string> {
  return new Set(
    text
      .toLowerCase()
      .split(/[\s,]+/)
      .filter((one) => one !== ""),
  );
}

const METHODS = v.array(
  v.object({
    methodname: v.string(),
    paramlist: v.nullish(
      v.array(
        v.object({ paramname: v.string(), required: v.nullish(FLAG), isflag: v.nullish(FLAG) }),
      ),
    ),
  }),
);

/** JSON within a text of JSON. */
function parseStickinessMethods(text: string): readonly StickinessMethod[] {
  const decoded = decode(METHODS, parseJson(text));
  if ("problem" in decoded) return [];
  return decoded.value.map(({ methodname, paramlist }) => ({
    name: methodname,
    params: new Map(
      (paramlist ?? []).map(({ paramname, required, isflag }) => [
        paramname,
        { isRequired: required ?? false, isFlag: isflag ?? false },
      ]),
    ),
  }));
}
