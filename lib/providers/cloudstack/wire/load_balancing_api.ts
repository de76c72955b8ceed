/**
 * What Landfall asks CloudStack about load balancers and what belongs to them.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import { findNameless } from "../../../cloud_http/decode.ts";
import { parseUuid } from "../../../core/text/values.ts";
import type { StickinessPolicy, Unreadable } from "../load_balancers/observation.ts";
import type { ObjectList } from "../session/lists.ts";
import type { Body } from "../session/reply.ts";
import type { CloudStackSession } from "../session/session.ts";
import {
  ACL_LISTS,
  type Identified,
  type Listing,
  MEMBERS,
  type ObjectKind,
  POLICIES,
  RULE_IDS,
} from "./objects.ts";

/** A whole list: what can be read of it, and the rest. */
export interface WholeList<T> {
  readonly objects: readonly T[];
  readonly unreadable: readonly Unreadable[];
}

type Params = Readonly<Record<string, string>>;

/** A list that changes while it is read is read again, so often in all. */
const TRIES_MAX = 3;
/** The fields that name an object which cannot be read: the first that its kind has. */
const NAMING: readonly string[] = ["name", "ip", "reason"];

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

  /**
   * Lists all objects of a kind: what of them can be read, and what cannot.
   *
   * @param more Parameters besides. @default {none}
   */
  async listAll<T extends Identified>(
    { kind, names, ...listing }: ObjectKind<T>,
    projectId: string | undefined,
    signal: AbortSignal,
    more: Params = {},
  ): Promise<WholeList<T>> {
    const params = { ...toAll(projectId), ...more };
    const {
      objects,
      unreadable = [],
      undecodable,
      gap,
    } = await this.#list(listing, params, signal);
    if (gap !== undefined) throw toGapError(gap);
    const naming = NAMING.find((field) => names.has(field)) ?? "";
    const describe = (raw: Body): Unreadable => {
      const read = (field: string): string | undefined => toText(raw[names.get(field) ?? ""]);
      const name = read(naming);
      const id = parseUuid(read("id") ?? "");
      const addressId = parseUuid(read("addressId") ?? "");
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

  /** Lists the IDs of the rules that a VM is behind. */
  async listRulesOf(
    vmId: string,
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const params = { ...toAll(projectId), virtualmachineid: vmId };
    const list = await this.#list(RULE_IDS, params, signal);
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

  /** Reads the name of a list of network ACLs; `undefined` if the server does not show the list. */
  async readAclListName(
    listId: string,
    projectId: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { objects } = await this.#list(ACL_LISTS, { ...toAll(projectId), id: listId }, signal);
    return objects.find(({ id }) => id === listId)?.name;
  }

  async #list<T extends Identified>(
    listing: Listing<T>,
    params: Params,
    signal: AbortSignal,
  ): Promise<ObjectList<T>> {
    for (let tries = 1; ; tries += 1) {
      const list = await this.#session.list({ ...listing, params }, signal);
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
