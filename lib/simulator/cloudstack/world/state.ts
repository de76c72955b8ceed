/**
 * The world of the simulated CloudStack: its objects by ID, and the events in the life of a virtual machine.
 * @module
 */
import { toUuid } from "../../uuid.ts";
import type { Account, Domain, MadeRole, Project, User } from "../access/accounts.ts";
import {
  leaveRule,
  type LoadBalancerRule,
  type PortForwarding,
  type StickinessPolicy,
} from "./load_balancing.ts";
import {
  toVm,
  type Network,
  type Offering,
  type PublicIp,
  type Vm,
  type VmOptions,
  type VmState,
  type World,
  type Zone,
} from "./records.ts";
import { Tags } from "./tags.ts";
import {
  DEFAULT_ALLOW,
  DEFAULT_DENY,
  DEFAULT_ITEMS,
  type AclItem,
  type AclList,
  type Vpc,
} from "./vpcs.ts";
import type { FirewallRule } from "./firewall.ts";

/**
 * The objects of one CloudStack. A test may change them in place.
 *
 * A virtual machine that is expunged stays known by its ID, as in the server's database, until it is purged.
 */
export class CloudStackState {
  readonly domains: ReadonlyMap<string, Domain>;
  readonly accounts: Map<string, Account>;
  readonly projects: ReadonlyMap<string, Project>;
  readonly users: Map<string, User>;
  /** Roles that were made since the start. */
  readonly roles: Map<string, MadeRole> = new Map();
  readonly zones: Map<string, Zone>;
  readonly offerings: Map<string, Offering>;
  readonly networks: Map<string, Network>;
  readonly publicIps: Map<string, PublicIp>;
  readonly firewallRules: Map<string, FirewallRule>;
  readonly loadBalancerRules: Map<string, LoadBalancerRule>;
  readonly portForwardings: Map<string, PortForwarding>;
  readonly stickinessPolicies: Map<string, StickinessPolicy>;
  readonly vpcs: Map<string, Vpc>;
  /** With the two lists that are always there. */
  readonly aclLists: Map<string, AclList>;
  readonly aclItems: Map<string, AclItem>;
  readonly tags: Tags;
  readonly #vms: Map<string, Vm>;
  #made = 0;

  constructor(world: World = {}) {
    // Copies, so that two simulators never share a record that a test changes.
    this.domains = toMap(world.domains);
    this.accounts = toMap(world.accounts);
    this.projects = toMap(world.projects);
    this.users = toMap(world.users);
    this.zones = toMap(world.zones);
    this.offerings = toMap(world.offerings);
    this.networks = toMap(world.networks);
    this.publicIps = toMap(world.publicIps);
    this.firewallRules = toMap(world.firewallRules);
    this.loadBalancerRules = toMap(world.loadBalancerRules);
    this.portForwardings = toMap(world.portForwardings);
    this.stickinessPolicies = toMap(world.stickinessPolicies);
    this.vpcs = toMap(world.vpcs);
    this.aclLists = toMap([DEFAULT_DENY, DEFAULT_ALLOW, ...(world.aclLists ?? [])]);
    this.aclItems = toMap([...DEFAULT_ITEMS, ...(world.aclItems ?? [])]);
    this.tags = new Tags(world.tags);
    this.#vms = toMap(world.vms);
  }

  /** Every virtual machine that the server knows, expunged ones included, in the order they were added. */
  get vms(): ReadonlyMap<string, Vm> {
    return this.#vms;
  }

  /** A virtual machine. @throws {RangeError} when the server never knew it, or it was purged */
  vm(vmId: string): Vm {
    const vm = this.#vms.get(vmId);
    if (vm === undefined) throw new RangeError(`Cannot find VM "${vmId}"`);
    return vm;
  }

  /** Adds a virtual machine. Returns its ID. */
  addVm(options: VmOptions): string {
    const vm = toVm(options);
    this.#vms.set(vm.id, vm);
    return vm.id;
  }

  /** The ID of an object that a command makes: another one each time, the same ones in every run. */
  nextId(kind: string): string {
    this.#made += 1;
    return toUuid(`made/${kind}/${this.#made}`);
  }

  /** Changes the state, as a host or an administrator may at any time. */
  setState(vmId: string, state: VmState): void {
    this.vm(vmId).state = state;
  }

  /** Hides a virtual machine from every user, or shows it again. */
  hide(vmId: string, isHidden: boolean = true): void {
    this.vm(vmId).isDisplayed = !isHidden;
  }

  /** Sends fields with these values instead of the right ones; `undefined` leaves a field out. */
  override(vmId: string, fields: Readonly<Record<string, unknown>>): void {
    const vm = this.vm(vmId);
    vm.overrides = { ...vm.overrides, ...fields };
  }

  /** Makes a virtual machine another account's, with interfaces in networks of that account only. */
  assign(vmId: string, accountId: string): void {
    const vm = this.vm(vmId);
    vm.accountId = accountId;
    const usable = (networkId: string): boolean =>
      ["", accountId].includes(this.networks.get(networkId)?.accountId ?? "");
    vm.nics = vm.nics.filter(({ networkId }) => usable(networkId));
  }

  /** Removes a firewall rule and its tags. */
  removeFirewallRule(ruleId: string): void {
    this.firewallRules.delete(ruleId);
    this.tags.drop(ruleId);
  }

  /** Removes a network ACL item and its tags. */
  removeAclItem(itemId: string): void {
    this.aclItems.delete(itemId);
    this.tags.drop(itemId);
  }

  /** Expunges a virtual machine: lists lack it, its ID stays known. It leaves its load-balancer rules. */
  expunge(vmId: string): void {
    const vm = this.vm(vmId);
    vm.state = "Expunging";
    vm.isRemoved = true;
    vm.nics = [];
    for (const ip of this.publicIps.values()) {
      if (ip.staticNatVmId === vmId) delete ip.staticNatVmId;
    }
    for (const rule of this.loadBalancerRules.values()) {
      leaveRule(rule, vmId, this.stickinessPolicies);
    }
  }

  /** Removes what the database still has of an expunged virtual machine: its ID is unknown from now on. */
  purge(vmId: string): void {
    this.expunge(vmId);
    this.#vms.delete(vmId);
  }
}

function toMap<T extends { readonly id: string }>(items: readonly T[] = []): Map<string, T> {
  return new Map(items.map((item) => [item.id, structuredClone(item)]));
}
