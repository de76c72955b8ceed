/**
 * Keeps the last look at CloudStack, with the changes that this process made since.
 * @module
 */
import type { FindHolder } from "../../../cloud/capabilities/load_balancers.ts";
import { findOrphans } from "./reading/orphans.ts";
import { RecordSigner } from "./record_signer.ts";
import {
  changeMembers,
  dropById,
  putById,
  removeRule,
  renewAddress,
  type Tables,
  toTables,
} from "./tables.ts";
import type { AclItem, FirewallRule, PublicAddress, Rule, StickinessPolicy, View } from "./view.ts";

/** What a look found, besides what the store adds by itself. */
export type Found = Omit<View, "clusterIds" | "endedJobs" | "findHolder" | "recordSigner" | "vms">;

/** What a look was about. */
export interface LookScope {
  /** What was known of Nodes: another object as soon as that may have changed. */
  readonly nodes: object;
  /** Networks of Nodes. */
  readonly networkIds: ReadonlySet<string>;
  /** Names of load balancers that have rules, but had no Service. */
  readonly unclaimed: ReadonlySet<string>;
  /** What CloudStack showed; those that this process took since are proven to be its own. */
  readonly addresses: View["addresses"];
  /** Addresses about which CloudStack was asked who took them. */
  readonly askedIds: ReadonlySet<string>;
}

/** A look that is being taken. */
export interface OpenLook {
  /** Whether the store was invalidated since it began: what it finds may be out of date already. */
  readonly isOutdated: boolean;
}

type Change = (tables: Tables) => void;

interface Opened extends OpenLook {
  isOutdated: boolean;
  /** Those that ended while the look was being taken. It may have seen the state before them. */
  readonly changes: Change[];
}

interface Kept {
  readonly found: Found;
  readonly scope: LookScope;
  readonly tables: Tables;
}

const NO_IDS: View["clusterIds"] = [""];
const NO_VMS: View["vms"] = new Map();
const NONE: ReadonlySet<string> = new Set();
const NO_SCOPE: LookScope = {
  nodes: {},
  networkIds: NONE,
  unclaimed: NONE,
  addresses: new Map(),
  askedIds: NONE,
};
/** More than Services that are changed at the same time: each has one record. The oldest are forgotten. */
const ENDED_JOBS_MAX = 1_000;

/**
 * The last look, kept up to date by those who change the cloud.
 *
 * Guarantees: a view never changes. A look that was being taken when a change ended does not bring back the state
 * before the change. What is not known stays not known: members of a rule whose members could not be read, for example.
 *
 * Assumptions: changes are reported when the cloud says that they are done; a refusal, or a change whose outcome is not
 * known, with {@linkcode LookStore.invalidate}.
 */
export class LookStore {
  readonly #open = new Set<Opened>();
  #kept: Kept | undefined;
  #isValid = false;
  #clusterIds = NO_IDS;
  #vms = NO_VMS;
  #recordSigner = new RecordSigner();
  #endedJobs: ReadonlySet<string> = new Set();
  #findHolder: FindHolder | undefined;
  #view: View | undefined;

  /** The last look, with all changes since; `undefined` before the first. */
  get view(): View | undefined {
    if (this.#kept === undefined) return undefined;
    this.#view ??= this.#toView(this.#kept);
    return this.#view;
  }

  /** What the last look was about. */
  get scope(): LookScope {
    return this.#kept?.scope ?? NO_SCOPE;
  }

  /** Whether nothing happened since the last look that it, or a change, may not show. */
  get isValid(): boolean {
    return this.#isValid;
  }

  /** The IDs of the cluster. */
  get clusterIds(): View["clusterIds"] {
    return this.#clusterIds;
  }

  /** Sets the IDs of the cluster for views from now on. */
  setClusterIds(ids: View["clusterIds"]): void {
    this.#clusterIds = ids;
    this.#view = undefined;
  }

  /** Sets what says which Services may have a load balancer, for views from now on. */
  setFindHolder(findHolder: FindHolder | undefined): void {
    if (findHolder !== this.#findHolder) this.#view = undefined;
    this.#findHolder = findHolder;
  }

  /** Signs records. Until {@linkcode setSigningKey} is called, nothing that another process wrote counts as signed. */
  get recordSigner(): RecordSigner {
    return this.#recordSigner;
  }

  /** Sets the key that signs records from now on, also those of views. What was signed before stays valid. */
  setSigningKey(key: Uint8Array): void {
    const signer = this.#recordSigner.withKey(key);
    if (signer !== this.#recordSigner) this.#view = undefined;
    this.#recordSigner = signer;
  }

  /** Sets the VMs for views from now on. */
  setVms(vms: View["vms"]): void {
    if (vms !== this.#vms) this.#view = undefined;
    this.#vms = vms;
  }

  /** Begins a look. Ends with {@linkcode finish} or {@linkcode abandon}. */
  begin(): OpenLook {
    const open = { isOutdated: false, changes: [] };
    this.#open.add(open);
    return open;
  }

  /**
   * Keeps what a look found, with the changes that ended meanwhile on top.
   *
   * @param scope What it was about. @default {nothing}
   */
  finish(look: OpenLook, found: Found, scope: LookScope = NO_SCOPE): void {
    for (const open of this.#open) {
      if (open !== look) continue;
      this.#open.delete(open);
      const orphans = findOrphans(this.view, found);
      const tables = toTables(found);
      for (const change of open.changes) change(tables);
      this.#kept = { found: { ...found, orphans }, scope, tables };
      this.#isValid = !open.isOutdated;
      this.#view = undefined;
    }
  }

  /** Ends a look that failed. */
  abandon(look: OpenLook): void {
    for (const open of this.#open) if (open === look) this.#open.delete(open);
  }

  /** Asks for a look that begins from now on. Until then, the last one stays. */
  invalidate(): void {
    this.#isValid = false;
    for (const open of this.#open) open.isOutdated = true;
  }

  /** Forgets everything, also the looks that are being taken. */
  forget(): void {
    this.#open.clear();
    this.#kept = undefined;
    this.#view = undefined;
    this.#isValid = false;
  }

  /** Notes that a job is over. */
  endJob(jobId: string): void {
    this.#endedJobs = new Set([...this.#endedJobs, jobId].slice(-ENDED_JOBS_MAX));
    this.#view = undefined;
  }

  /** Adds an address, or replaces it. */
  putAddress(address: PublicAddress): void {
    this.#change(({ addresses }) => addresses.set(address.id, address));
  }

  /** Removes an address with everything on it, as CloudStack does. */
  dropAddress(id: string): void {
    this.#change((tables) => {
      for (const rule of tables.rules.values()) if (rule.addressId === id) removeRule(tables, rule);
      for (const one of tables.firewallRules.values()) {
        if (one.addressId === id) tables.firewallRules.delete(one.id);
      }
      tables.addresses.delete(id);
    });
  }

  /** Adds a rule, which has neither members nor policies if it is new, or replaces it. */
  putRule(rule: Rule): void {
    this.#change((tables) => {
      const { rules, members, policies } = tables;
      if (!rules.has(rule.id)) {
        members.set(rule.id, new Set());
        policies.set(rule.id, []);
      }
      rules.set(rule.id, rule);
      renewAddress(tables, rule.addressId);
    });
  }

  /** Removes a rule with its members and policies. */
  dropRule(id: string): void {
    this.#change((tables) => {
      const rule = tables.rules.get(id);
      if (rule !== undefined) removeRule(tables, rule);
    });
  }

  /** Adds VMs to a rule. */
  addMembers(ruleId: string, vmIds: Iterable<string>): void {
    const added = new Set(vmIds);
    this.#change((tables) => changeMembers(tables, ruleId, (known) => known.union(added)));
  }

  /** Removes VMs from a rule. */
  removeMembers(ruleId: string, vmIds: Iterable<string>): void {
    const removed = new Set(vmIds);
    this.#change((tables) => changeMembers(tables, ruleId, (known) => known.difference(removed)));
  }

  /** Adds a firewall rule, or replaces it. */
  putFirewallRule(rule: FirewallRule): void {
    this.#change((tables) => {
      tables.firewallRules.set(rule.id, rule);
      renewAddress(tables, rule.addressId);
    });
  }

  /** Removes a firewall rule. */
  dropFirewallRule(id: string): void {
    this.#change((tables) => {
      const rule = tables.firewallRules.get(id);
      tables.firewallRules.delete(id);
      if (rule !== undefined) renewAddress(tables, rule.addressId);
    });
  }

  /** Adds an ACL item, or replaces it. */
  putAclItem(item: AclItem): void {
    this.#change(({ aclItems }) => putById(aclItems, item.listId, item));
  }

  /** Removes an ACL item. */
  dropAclItem(listId: string, id: string): void {
    this.#change(({ aclItems }) => dropById(aclItems, listId, id));
  }

  /** Adds a stickiness policy of a rule, or replaces it. */
  putPolicy(ruleId: string, policy: StickinessPolicy): void {
    this.#change(({ policies }) => putById(policies, ruleId, policy));
  }

  /** Removes a stickiness policy of a rule. */
  dropPolicy(ruleId: string, id: string): void {
    this.#change(({ policies }) => dropById(policies, ruleId, id));
  }

  #toView({ found, tables }: Kept): View {
    return Object.freeze({
      ...found,
      clusterIds: this.#clusterIds,
      vms: this.#vms,
      endedJobs: this.#endedJobs,
      ...(this.#findHolder && { findHolder: this.#findHolder }),
      recordSigner: this.#recordSigner,
      addresses: tables.addresses.share(),
      rules: tables.rules.share(),
      firewallRules: tables.firewallRules.share(),
      aclItems: tables.aclItems.share(),
      members: tables.members.share(),
      policies: tables.policies.share(),
    });
  }

  #change(change: Change): void {
    for (const { changes } of this.#open) changes.push(change);
    if (this.#kept === undefined) return;
    change(this.#kept.tables);
    this.#view = undefined;
  }
}
