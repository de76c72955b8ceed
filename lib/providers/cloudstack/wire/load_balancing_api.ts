/**
 * What Landfall asks CloudStack about load balancers and what belongs to them.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import { findNameless } from "../../../cloud_http/decode.ts";
import { parseUuid } from "../../../core/text/values.ts";
import type {
  AclItem,
  FirewallRule,
  Network,
  PublicAddress,
  Rule,
  StickinessPolicy,
  Unreadable,
} from "../load_balancers/observation.ts";
import type { ObjectList } from "../session/lists.ts";
import type { Body } from "../session/reply.ts";
import type { CloudStackSession } from "../session/session.ts";
import { LB_SCHEMAS } from "./objects.ts";
import type { Field } from "./schema.ts";

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
}

/** A list whose objects that cannot be read are named: by what, besides their ID. */
interface NamedQuestion<T> extends Question<T> {
  readonly kind: Unreadable["kind"];
  /** The fields of the server that say it. */
  readonly said: { readonly [K in "addressId" | "name"]?: string };
}

const ADDRESSES: NamedQuestion<PublicAddress> = {
  command: "listPublicIpAddresses",
  key: "publicipaddress",
  schema: LB_SCHEMAS.address,
  kind: "address",
  said: { name: "ipaddress" },
};
const RULES = { command: "listLoadBalancerRules", key: "loadbalancerrule" } as const;
const NAMED_RULES: NamedQuestion<Rule> = {
  ...RULES,
  schema: LB_SCHEMAS.rule,
  kind: "rule",
  said: { name: "name", addressId: "publicipid" },
};
const FIREWALL_RULES: NamedQuestion<FirewallRule> = {
  command: "listFirewallRules",
  key: "firewallrule",
  schema: LB_SCHEMAS.firewallRule,
  kind: "firewallRule",
  said: { addressId: "ipaddressid" },
};
const NETWORKS: NamedQuestion<Network> = {
  command: "listNetworks",
  key: "network",
  schema: LB_SCHEMAS.network,
  kind: "network",
  said: { name: "name" },
};
const ACL_ITEMS: NamedQuestion<AclItem> = {
  command: "listNetworkACLs",
  key: "networkacl",
  schema: LB_SCHEMAS.aclItem,
  kind: "aclItem",
  said: { name: "reason" },
};
const RULES_OF_VM: Question<Identified> = { ...RULES, schema: LB_SCHEMAS.identified };
const MEMBERS: Question<Identified> = {
  command: "listLoadBalancerRuleInstances",
  key: "loadbalancerruleinstance",
  schema: LB_SCHEMAS.identified,
};
const POLICIES = {
  command: "listLBStickinessPolicies",
  key: "stickinesspolicies",
  schema: LB_SCHEMAS.stickiness,
} as const;
const ACL_LISTS = {
  command: "listNetworkACLLists",
  key: "networkacllist",
  schema: LB_SCHEMAS.aclList,
} as const;

interface Identified {
  readonly id: string;
}
type Params = Readonly<Record<string, string>>;

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
    return await this.#listWhole(ADDRESSES, toAll(projectId), signal);
  }

  /** Lists all load-balancer rules. */
  async listRules(projectId: string | undefined, signal: AbortSignal): Promise<WholeList<Rule>> {
    return await this.#listWhole(NAMED_RULES, toAll(projectId), signal);
  }

  /** Lists the IDs of the rules that a VM is behind. */
  async listRulesOf(
    vmId: string,
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const params = { ...toAll(projectId), virtualmachineid: vmId };
    const list = await this.#list(RULES_OF_VM, params, signal);
    const flaw = findFlaw(list);
    if (flaw !== undefined) throw toGapError(flaw);
    return new Set(list.objects.map(({ id }) => id));
  }

  /** Lists the IDs of the VMs behind a rule; `undefined` if the answer does not say all of them. */
  async listMembers(ruleId: string, signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    const list = await this.#list(MEMBERS, { id: ruleId }, signal);
    return findFlaw(list) === undefined ? new Set(list.objects.map(({ id }) => id)) : undefined;
  }

  /** Lists the stickiness policies of a rule; `undefined` if the answer does not say all of them. */
  async listPolicies(
    ruleId: string,
    signal: AbortSignal,
  ): Promise<readonly StickinessPolicy[] | undefined> {
    const list = await this.#list(POLICIES, { lbruleid: ruleId }, signal);
    if (findFlaw(list) !== undefined) return undefined;
    return list.objects.flatMap(({ id, policies }) => (id === ruleId ? policies : []));
  }

  /** Lists all firewall rules of public addresses. */
  async listFirewallRules(
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<WholeList<FirewallRule>> {
    return await this.#listWhole(FIREWALL_RULES, toAll(projectId), signal);
  }

  /** Lists all networks. */
  async listNetworks(
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<WholeList<Network>> {
    return await this.#listWhole(NETWORKS, toAll(projectId), signal);
  }

  /** Reads the name of a list of network ACLs; `undefined` if the server does not show the list. */
  async readAclListName(
    listId: string,
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { objects } = await this.#list(ACL_LISTS, { ...toAll(projectId), id: listId }, signal);
    return objects.find(({ id }) => id === listId)?.name;
  }

  /** Lists the items of a list of network ACLs. */
  async listAclItems(
    listId: string,
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<WholeList<AclItem>> {
    const { objects, unreadable } = await this.#listWhole(
      ACL_ITEMS,
      { ...toAll(projectId), aclid: listId },
      signal,
    );
    return { objects, unreadable: unreadable.map((one) => ({ ...one, listId })) };
  }

  /** What of it can be read, and what cannot. */
  async #listWhole<T extends { readonly id: string }>(
    query: NamedQuestion<T>,
    params: Params,
    signal: AbortSignal,
  ): Promise<WholeList<T>> {
    const { objects, unreadable = [], undecodable, gap } = await this.#list(query, params, signal);
    if (gap !== undefined) throw toGapError(gap);
    const { kind, said } = query;
    const describe = (raw: Body): Unreadable => {
      const id = toId(raw["id"]);
      const name = toText(raw[said.name ?? ""]);
      const addressId = toId(raw[said.addressId ?? ""]);
      return {
        kind,
        ...(id !== undefined && { id }),
        ...(name !== undefined && { name }),
        ...(addressId !== undefined && { addressId }),
        problem: undecodable.get(id ?? "") ?? findNameless(undecodable) ?? "it cannot be read",
      };
    };
    return { objects, unreadable: unreadable.map(describe) };
  }

  async #list<T extends { readonly id: string }>(
    query: Question<T>,
    params: Params,
    signal: AbortSignal,
  ): Promise<ObjectList<T>> {
    const { command, key, schema } = query;
    for (let tries = 1; ; tries += 1) {
      const list = await this.#session.list({ command, key, schema, params }, signal);
      if (list.gap === undefined || tries === TRIES_MAX) return list;
    }
  }
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
