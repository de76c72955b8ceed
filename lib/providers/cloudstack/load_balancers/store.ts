/**
 * Keeps the last observation of CloudStack, with the changes that this process made since.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { RecordSigner } from "./record.ts";
import {
  type AclItem,
  type FirewallRule,
  listRulesOn,
  type PublicAddress,
  type Rule,
  type StickinessPolicy,
  type Observation,
} from "./observation.ts";
import type { DELETIONS } from "./steps.ts";
import { parseLbName } from "./words.ts";

/** What an observation found, besides what the store adds by itself. */
export type Found = Omit<
  Observation,
  "claims" | "clusterIds" | "endedJobs" | "findHolder" | "listSharingRules" | "recordSigner" | "vms"
>;

/** What an observation was about. */
export interface ObservationScope {
  /** What was known of Nodes: another object as soon as that may have changed. */
  readonly nodes: object;
  /** Networks of Nodes. */
  readonly networkIds: ReadonlySet<string>;
  /** Names of load balancers that have rules, but had no Service. */
  readonly unclaimed: ReadonlySet<string>;
  /** What CloudStack showed; those that this process took since are proven to be its own. */
  readonly addresses: Observation["addresses"];
  /** Addresses about which CloudStack was asked who took them. */
  readonly askedIds: ReadonlySet<string>;
}

/** An observation that is being taken. */
export interface OpenObservation {
  /** Whether the store was invalidated since it began: what it finds may be out of date already. */
  readonly isOutdated: boolean;
}

/** The parts of an observation that change. */
type Shown = Pick<
  Observation,
  "aclItems" | "addresses" | "firewallRules" | "members" | "policies" | "rules"
>;

type Change = (shown: Shown) => Shown;

type Services = Pick<Observation, "claims" | "findHolder" | "listSharingRules">;

interface Opened extends OpenObservation {
  isOutdated: boolean;
  /** Those that ended while the observation was being taken. It may have seen the state before them. */
  readonly changes: Change[];
}

interface Kept {
  readonly found: Found;
  readonly scope: ObservationScope;
}

const NO_IDS: Observation["clusterIds"] = [""];
const NO_VMS: Observation["vms"] = new Map();
const NONE: ReadonlySet<string> = new Set();
const NO_SCOPE: ObservationScope = {
  nodes: {},
  networkIds: NONE,
  unclaimed: NONE,
  addresses: new Map(),
  askedIds: NONE,
};
/** More than Services that are changed at the same time: each has one record. The oldest are forgotten. */
const ENDED_JOBS_MAX = 1_000;

/**
 * The last observation, kept up to date by those who change the cloud.
 *
 * Guarantees: an observation never changes. An observation that was being taken when a change ended does not bring back
 * the state before the change. What is not known stays not known: members of a rule whose members could not be read,
 * for example.
 *
 * Assumptions: changes are reported when the cloud says that they are done; a refusal, or a change whose outcome is not
 * known, with {@linkcode ObservationStore.invalidate}.
 */
export class ObservationStore {
  readonly #open = new Set<Opened>();
  #kept: Kept | undefined;
  #isValid = false;
  #clusterIds = NO_IDS;
  #vms = NO_VMS;
  #recordSigner = new RecordSigner();
  #endedJobs: ReadonlySet<string> = new Set();
  #services: Services = {};
  #observation: Observation | undefined;

  /** The last observation, with all changes since; `undefined` before the first. */
  get observation(): Observation | undefined {
    if (this.#kept === undefined) return undefined;
    this.#observation ??= this.#toObservation(this.#kept);
    return this.#observation;
  }

  /** What the last observation was about. */
  get scope(): ObservationScope {
    return this.#kept?.scope ?? NO_SCOPE;
  }

  /** Whether nothing happened since the last observation that it, or a change, may not show. */
  get isValid(): boolean {
    return this.#isValid;
  }

  /** The IDs of the cluster. */
  get clusterIds(): Observation["clusterIds"] {
    return this.#clusterIds;
  }

  /** Sets the IDs of the cluster for observations from now on. */
  setClusterIds(ids: Observation["clusterIds"]): void {
    this.#clusterIds = ids;
    this.#observation = undefined;
  }

  /** Sets what says which Services may have a load balancer, and where, for observations from now on. */
  setServices({ claims, findHolder, listSharingRules }: Services): void {
    const before = this.#services;
    this.#services = {
      ...(claims && { claims }),
      ...(findHolder && { findHolder }),
      ...(listSharingRules && { listSharingRules }),
    };
    if (!isDeepStrictEqual(before, this.#services)) this.#observation = undefined;
  }

  /** Signs records. Until {@linkcode setSigningKey} is called, nothing that another process wrote counts as signed. */
  get recordSigner(): RecordSigner {
    return this.#recordSigner;
  }

  /** Sets the key that signs records from now on, also those of observations. What was signed before stays valid. */
  setSigningKey(key: Uint8Array): void {
    const signer = this.#recordSigner.withKey(key);
    if (signer !== this.#recordSigner) this.#observation = undefined;
    this.#recordSigner = signer;
  }

  /** Sets the VMs for observations from now on. */
  setVms(vms: Observation["vms"]): void {
    if (vms !== this.#vms) this.#observation = undefined;
    this.#vms = vms;
  }

  /** Begins an observation. Ends with {@linkcode finish} or {@linkcode abandon}. */
  begin(): OpenObservation {
    const open = { isOutdated: false, changes: [] };
    this.#open.add(open);
    return open;
  }

  /**
   * Keeps what an observation found, with the changes that ended meanwhile on top.
   *
   * @param scope What it was about. @default {nothing}
   */
  finish(begun: OpenObservation, found: Found, scope: ObservationScope = NO_SCOPE): void {
    for (const open of this.#open) {
      if (open !== begun) continue;
      this.#open.delete(open);
      const orphans = findOrphans(this.observation, found);
      const unsent = findUnsent(this.observation, found);
      const shown = open.changes.reduce<Shown>((before, change) => change(before), found);
      this.#kept = { found: { ...found, ...shown, orphans, unsent }, scope };
      this.#isValid = !open.isOutdated;
      this.#observation = undefined;
    }
  }

  /** Ends an observation that failed. */
  abandon(begun: OpenObservation): void {
    for (const open of this.#open) if (open === begun) this.#open.delete(open);
  }

  /** Asks for an observation that begins from now on. Until then, the last one stays. */
  invalidate(): void {
    this.#isValid = false;
    for (const open of this.#open) open.isOutdated = true;
  }

  /** Forgets everything, also the observations that are being taken. */
  forget(): void {
    this.#open.clear();
    this.#kept = undefined;
    this.#observation = undefined;
    this.#isValid = false;
  }

  /** Notes that a job is over. */
  endJob(jobId: string): void {
    this.#endedJobs = new Set([...this.#endedJobs, jobId].slice(-ENDED_JOBS_MAX));
    this.#observation = undefined;
  }

  /** Notes that CloudStack failed to send a rule to the router. An observation shows whether it stored the change. */
  noteUnsent(ruleId: string): void {
    if (this.#kept === undefined) return;
    const { found } = this.#kept;
    const unsent = new Map([...(found.unsent ?? []), [ruleId, -Infinity]]);
    this.#kept = { ...this.#kept, found: { ...found, unsent } };
    this.#observation = undefined;
  }

  /** Adds an address, or replaces it. */
  putAddress(address: PublicAddress): void {
    this.#change((shown) => ({ ...shown, addresses: put(shown.addresses, address.id, address) }));
  }

  /** Removes an address with everything on it, as CloudStack does. */
  dropAddress(id: string): void {
    this.#change((before) => {
      const rules = [...before.rules.values()].filter(({ addressId }) => addressId === id);
      const shown = rules.reduce(removeRule, before);
      const others = [...shown.firewallRules].filter(([, { addressId }]) => addressId !== id);
      return {
        ...shown,
        addresses: drop(shown.addresses, id),
        firewallRules: new Map(others),
      };
    });
  }

  /** Adds a rule, which has neither members nor policies if it is new, or replaces it. */
  putRule(rule: Rule): void {
    this.#change((shown) => {
      const isKnown = shown.rules.has(rule.id);
      const rules = put(shown.rules, rule.id, rule);
      const members = isKnown ? shown.members : put(shown.members, rule.id, new Set());
      const policies = isKnown ? shown.policies : put(shown.policies, rule.id, []);
      return renewAddress({ ...shown, rules, members, policies }, rule.addressId);
    });
  }

  /** Removes an object; a rule with its members and policies. */
  drop(what: keyof typeof DELETIONS, id: string): void {
    this.#change((shown) => remove(shown, what, id));
  }

  /** Adds VMs to a rule. */
  addMembers(ruleId: string, vmIds: Iterable<string>): void {
    const added = new Set(vmIds);
    this.#change((shown) => changeMembers(shown, ruleId, (known) => known.union(added)));
  }

  /** Removes VMs from a rule. */
  removeMembers(ruleId: string, vmIds: Iterable<string>): void {
    const removed = new Set(vmIds);
    this.#change((shown) => changeMembers(shown, ruleId, (known) => known.difference(removed)));
  }

  /** Adds a firewall rule, or replaces it. */
  putFirewallRule(rule: FirewallRule): void {
    this.#change((shown) => {
      const firewallRules = put(shown.firewallRules, rule.id, rule);
      return renewAddress({ ...shown, firewallRules }, rule.addressId);
    });
  }

  /** Adds an ACL item, or replaces it. A list that is not known stays so. */
  putAclItem(item: AclItem): void {
    this.#change((shown) => {
      const known = shown.aclItems.get(item.listId);
      if (known === undefined) return shown;
      const items = [...known.filter(({ id }) => id !== item.id), item];
      return { ...shown, aclItems: put(shown.aclItems, item.listId, items) };
    });
  }

  /** Sets the stickiness policies of a rule, unless they are not known. */
  setPolicies(ruleId: string, policies: readonly StickinessPolicy[]): void {
    this.#change((shown) =>
      shown.policies.has(ruleId)
        ? { ...shown, policies: put(shown.policies, ruleId, policies) }
        : shown,
    );
  }

  #toObservation({ found }: Kept): Observation {
    return Object.freeze({
      ...found,
      clusterIds: this.#clusterIds,
      vms: this.#vms,
      endedJobs: this.#endedJobs,
      ...this.#services,
      recordSigner: this.#recordSigner,
    });
  }

  #change(change: Change): void {
    for (const { changes } of this.#open) changes.push(change);
    if (this.#kept === undefined) return;
    const { found } = this.#kept;
    this.#kept = { ...this.#kept, found: { ...found, ...change(found) } };
    this.#observation = undefined;
  }
}

function put<V>(map: ReadonlyMap<string, V>, key: string, value: V): ReadonlyMap<string, V> {
  return new Map(map).set(key, value);
}

function drop<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}

function remove(shown: Shown, what: keyof typeof DELETIONS, id: string): Shown {
  switch (what) {
    case "rule": {
      const rule = shown.rules.get(id);
      return rule === undefined ? shown : removeRule(shown, rule);
    }
    case "firewallRule": {
      const rule = shown.firewallRules.get(id);
      if (rule === undefined) return shown;
      const firewallRules = drop(shown.firewallRules, id);
      return renewAddress({ ...shown, firewallRules }, rule.addressId);
    }
    case "aclItem":
      return { ...shown, aclItems: withoutListed(shown.aclItems, id) };
    case "policy":
      return { ...shown, policies: withoutListed(shown.policies, id) };
  }
}

/** Lists without the object with this ID. */
function withoutListed<T extends { readonly id: string }>(
  lists: ReadonlyMap<string, readonly T[]>,
  id: string,
): ReadonlyMap<string, readonly T[]> {
  return new Map([...lists].map(([key, list]) => [key, list.filter((one) => one.id !== id)]));
}

/** Changes members that are known. A rule without members has the state of a new one. */
function changeMembers(
  shown: Shown,
  ruleId: string,
  change: (known: ReadonlySet<string>) => ReadonlySet<string>,
): Shown {
  const known = shown.members.get(ruleId);
  if (known === undefined) return shown;
  const changed = change(known);
  const members = put(shown.members, ruleId, changed);
  const rule = shown.rules.get(ruleId);
  if (rule?.state !== "Add" && rule?.state !== "Active") return { ...shown, members };
  const state = changed.size === 0 ? "Add" : "Active";
  return { ...shown, members, rules: put(shown.rules, ruleId, { ...rule, state }) };
}

/** Removes a rule with its members and policies. */
function removeRule(shown: Shown, { id, addressId }: Rule): Shown {
  const rules = drop(shown.rules, id);
  const members = drop(shown.members, id);
  const policies = drop(shown.policies, id);
  return renewAddress({ ...shown, rules, members, policies }, addressId);
}

/**
 * Changes an address as the server does when its rules changed. One of a VPC is bound to the tier of its first rule,
 * and freed from it together with its last one.
 */
function renewAddress(shown: Shown, id: string): Shown {
  const address = shown.addresses.get(id);
  if (address === undefined) return shown;
  const { hasRules, networkId, ...apart } = address;
  const boundTo = address.vpcId === undefined ? networkId : findTier(shown, address);
  if (hasRules === undefined && boundTo === networkId) return shown;
  const renewed = { ...apart, ...(boundTo !== undefined && { networkId: boundTo }) };
  return { ...shown, addresses: put(shown.addresses, id, renewed) };
}

function findTier(
  { rules, firewallRules }: Shown,
  { id, networkId }: PublicAddress,
): string | undefined {
  const rule = rules.values().find(({ addressId }) => addressId === id);
  const isUsed = rule !== undefined || firewallRules.values().some((one) => one.addressId === id);
  return isUsed ? (networkId ?? rule?.networkId) : undefined;
}

/** Finds the rules with backends that the router lacks, and since when. @param before As {@linkcode findOrphans} */
function findUnsent(
  before: Observation | undefined,
  { rules, members, takenAtMs }: Found,
): ReadonlyMap<string, number> {
  const unsent = new Map<string, number>();
  for (const { id, state } of rules.values()) {
    if (state !== "Add" || (members.get(id)?.size ?? 0) === 0) continue;
    unsent.set(id, before?.unsent?.get(id) ?? takenAtMs);
  }
  return unsent;
}

/**
 * Finds the orphans among what an observation found.
 *
 * @param before What was known right before, with the changes that this process made
 * @returns The name of the load balancer that each belonged to, by the ID of the firewall rule
 */
export function findOrphans(
  before: Pick<Observation, "firewallRules" | "orphans" | "rules"> | undefined,
  found: Pick<Observation, "firewallRules" | "rules">,
): ReadonlyMap<string, string> {
  const orphans = new Map<string, string>();
  if (before === undefined) return orphans;
  for (const one of found.firewallRules.values()) {
    if (findLbName(found.rules, one) !== undefined || !before.firewallRules.has(one.id)) continue;
    const lbName = findLbName(before.rules, one) ?? before.orphans?.get(one.id);
    if (lbName !== undefined) orphans.set(one.id, lbName);
  }
  return orphans;
}

/** The name of the load balancer with a rule for exactly the port of a firewall rule. */
function findLbName(
  rules: Observation["rules"],
  { addressId, protocol, startPort, endPort }: FirewallRule,
): string | undefined {
  if (startPort === undefined || (endPort ?? startPort) !== startPort) return undefined;
  const rule = listRulesOn({ rules }, addressId, startPort).find(
    (one) => (one.protocol === "udp" ? "udp" : "tcp") === protocol,
  );
  return rule && parseLbName(rule.name);
}
