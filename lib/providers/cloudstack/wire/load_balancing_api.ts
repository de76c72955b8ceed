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
import type { Field } from "./fields.ts";
import { LB_SCHEMAS } from "./load_balancing.ts";

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
