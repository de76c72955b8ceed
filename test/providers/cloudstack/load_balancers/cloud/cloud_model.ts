/**
 * A CloudStack in memory, as far as plans need it: what a look shows, and what each step changes. It refuses what the
 * server refuses.
 * @module
 */
import type {
  LoadBalancerHolder,
  SharingRule,
} from "../../../../../lib/cloud/capabilities/load_balancers.ts";
import { isInCidr, parseCidr } from "../../../../../lib/core/net/ip.ts";
import type { Change, Step } from "../../../../../lib/providers/cloudstack/load_balancers/steps.ts";
import type {
  AclItem,
  BackendVm,
  FirewallRule,
  Network,
  PublicAddress,
  Rule,
  StickinessPolicy,
  Observation,
} from "../../../../../lib/providers/cloudstack/load_balancers/observation.ts";
import { toTags } from "../../../../../lib/providers/cloudstack/load_balancers/words.ts";
import type { Version } from "../../../../../lib/providers/cloudstack/session/facts.ts";
import { SIGNER, toAclItem, toAddress, toFirewallRule, toPolicy, toRule } from "../objects.ts";

export const CLUSTER = "11111111-1111-4111-8111-111111111111";

/** What the router of a network runs for a rule: it is told only by some changes. */
interface Applied {
  readonly protocol: string;
  readonly algorithm: string;
}

export class CloudModel {
  version: Version | undefined = { major: 4, minor: 22, patch: 0 };
  readonly networks: Map<string, Network> = new Map();
  readonly vms: Map<string, BackendVm> = new Map();
  readonly addresses: Map<string, PublicAddress> = new Map();
  readonly rules: Map<string, Rule> = new Map();
  readonly firewallRules: Map<string, FirewallRule> = new Map();
  readonly aclItems: Map<string, AclItem[]> = new Map();
  readonly members: Map<string, Set<string>> = new Map();
  readonly policies: Map<string, StickinessPolicy[]> = new Map();
  readonly applied: Map<string, Applied> = new Map();
  /** The wall clock. */
  nowMs = 0;
  allocatedBy: Map<string, "us" | "others"> | undefined;
  /** The Services that Kubernetes has. Absent: not known. */
  holders: LoadBalancerHolder[] | undefined;
  /** What the operator says about addresses. */
  sharing: SharingRule[] = [];
  /** IPs that nobody has. */
  readonly free: string[] = [];
  #lastId = 0;

  nextId(kind: string): string {
    this.#lastId += 1;
    return `${kind}-${String(this.#lastId).padStart(3, "0")}`;
  }

  observation(): Observation {
    return {
      takenAtMs: 0,
      takenAtWallMs: this.nowMs,
      isOurCloud: true,
      ...(this.version && { version: this.version }),
      clusterIds: [CLUSTER],
      recordSigner: SIGNER,
      ...(this.holders && {
        findHolder: (isIt) => this.holders?.find(({ claim }) => isIt(claim.owner.uid)),
        claims: () => this.holders?.map(({ claim }) => claim) ?? [],
      }),
      listSharingRules: () => this.sharing,
      addresses: new Map(this.addresses),
      rules: new Map(this.rules),
      firewallRules: new Map(this.firewallRules),
      networks: new Map(this.networks),
      vms: new Map(this.vms),
      aclItems: new Map([...this.aclItems].map(([id, items]) => [id, [...items]])),
      members: new Map([...this.members].map(([id, vms]) => [id, new Set(vms)])),
      policies: new Map([...this.policies].map(([id, list]) => [id, [...list]])),
      ...(this.allocatedBy && { allocatedBy: this.allocatedBy }),
      unreadable: [],
    };
  }

  addAddress(fields: Partial<PublicAddress> & { readonly ip: string }): PublicAddress {
    const { networkId: _, ...plain } = toAddress(this.nextId("ip"));
    return put(this.addresses, { ...plain, ...fields });
  }

  addRule(fields: Partial<Rule> & Pick<Rule, "name" | "addressId" | "networkId">): Rule {
    const { ip } = this.#need(this.addresses, fields.addressId);
    const rule = put(this.rules, toRule(this.nextId("rule"), { ip, ...fields }));
    this.members.set(rule.id, new Set());
    this.policies.set(rule.id, []);
    this.applied.set(rule.id, { protocol: rule.protocol, algorithm: rule.algorithm });
    return rule;
  }

  addFirewallRule(fields: Partial<FirewallRule> & { readonly addressId: string }): FirewallRule {
    const rule = toFirewallRule(this.nextId("fw"), { cidrs: ["0.0.0.0/0"], ...fields });
    return put(this.firewallRules, rule);
  }

  addAclItem(fields: Partial<AclItem> & { readonly listId: string }): AclItem {
    const list = this.aclItems.get(fields.listId) ?? [];
    const number = Math.max(0, ...list.map((one) => one.number)) + 1;
    const item = toAclItem(this.nextId("acl"), { cidrs: ["0.0.0.0/0"], number, ...fields });
    this.aclItems.set(fields.listId, [...list, item]);
    return item;
  }

  addPolicy(ruleId: string, fields: Partial<StickinessPolicy>): StickinessPolicy {
    const policy = toPolicy(this.nextId("policy"), { method: "SourceBased", ...fields });
    this.policies.set(ruleId, [...(this.policies.get(ruleId) ?? []), policy]);
    return policy;
  }

  removeRule(id: string): void {
    const rule = this.#need(this.rules, id);
    this.rules.delete(id);
    this.members.delete(id);
    this.policies.delete(id);
    this.applied.delete(id);
    const address = this.#need(this.addresses, rule.addressId);
    const isLast = [...this.rules.values()].every(({ addressId }) => addressId !== address.id);
    if (address.vpcId !== undefined && isLast) {
      const { networkId: _, ...unbound } = address;
      this.addresses.set(address.id, unbound);
    }
  }

  /** Whether a client gets through to the load balancer of a rule. */
  lets(rule: Rule, client: string): boolean {
    const network = this.#need(this.networks, rule.networkId);
    const isIn = (cidrs: readonly string[] | undefined): boolean =>
      (cidrs ?? []).length === 0 ||
      (cidrs ?? []).some((text) => {
        const cidr = parseCidr(text);
        return cidr !== undefined && isInCidr(client, cidr);
      });
    const protocol = rule.protocol === "udp" ? "udp" : "tcp";
    const isAbout = (one: FirewallRule | AclItem): boolean =>
      (one.protocol === protocol || one.protocol === "all") &&
      (one.startPort ?? 1) <= rule.publicPort &&
      rule.publicPort <= (one.endPort ?? 65_535) &&
      isIn(one.cidrs);
    if (!isIn(rule.cidrs)) return false;
    if (network.hasFirewall) {
      return [...this.firewallRules.values()].some(
        (one) => one.addressId === rule.addressId && isAbout(one),
      );
    }
    if (!network.hasNetworkAcl || network.aclListName === "default_allow") return true;
    const items = (this.aclItems.get(network.aclListId ?? "") ?? [])
      .filter((one) => one.isIngress && isAbout(one))
      .toSorted((a, b) => a.number - b.number);
    return items[0]?.isAllow ?? false;
  }

  apply(step: Step): void {
    const { change } = step;
    if (change.kind === "takeAddress") return this.#take(step, change);
    if (change.kind === "tagAddress") {
      const address = this.#need(this.addresses, change.addressId);
      this.addresses.set(address.id, {
        ...address,
        tags: new Map([...address.tags, ...change.tags]),
      });
    } else if (change.kind === "releaseAddress") this.#release(change.addressId);
    else if (/Rule|Backends/.test(change.kind)) this.#applyToRule(change);
    else if (change.kind.endsWith("AclItem")) this.#applyToAcl(change);
    else if (change.kind === "createPolicy") {
      const { ruleId, name, method, params } = change;
      if ((this.policies.get(ruleId)?.length ?? 0) > 1) throw new Error("431 two policies");
      this.policies.set(ruleId, []);
      this.addPolicy(ruleId, { name, method, params, description: "Managed by Landfall" });
    } else if (change.kind === "delete") this.#delete(change);
  }

  #delete({ what, id }: Change & { readonly kind: "delete" }): void {
    if (what === "rule") this.removeRule(id);
    if (what === "firewallRule") {
      this.#need(this.firewallRules, id);
      this.firewallRules.delete(id);
    }
    if (what === "aclItem") removeListed(this.aclItems, id);
    if (what === "policy") removeListed(this.policies, id);
  }

  #take({ owner }: Step, { place, ip }: Change & { readonly kind: "takeAddress" }): void {
    const chosen = ip ?? this.free[0];
    const at = this.free.indexOf(chosen ?? "");
    if (chosen === undefined || at === -1) throw new Error("533 no address");
    this.free.splice(at, 1);
    this.addAddress({ ip: chosen, ...place, tags: toTags(CLUSTER, owner) });
  }

  #release(id: string): void {
    const { ip } = this.#need(this.addresses, id);
    for (const rule of this.rules.values()) if (rule.addressId === id) this.removeRule(rule.id);
    for (const one of this.firewallRules.values()) {
      if (one.addressId === id) this.firewallRules.delete(one.id);
    }
    this.addresses.delete(id);
    this.free.push(ip);
  }

  #applyToRule(change: Change): void {
    if (change.kind === "createRule") this.#createRule(change);
    else if (change.kind === "updateRule") this.#updateRule(change);
    else if (change.kind === "createFirewallRule") {
      const { addressId, protocol, port, cidrs } = change;
      const isTaken = [...this.firewallRules.values()].some(
        (one) =>
          one.addressId === addressId &&
          one.protocol === protocol &&
          (one.startPort ?? 1) <= port &&
          port <= (one.endPort ?? 65_535) &&
          one.cidrs?.some((cidr) => cidrs.includes(cidr)),
      );
      if (isTaken) throw new Error("537 firewall rule conflicts");
      this.addFirewallRule({ addressId, protocol, startPort: port, endPort: port, cidrs });
    } else if (change.kind === "addBackends" || change.kind === "removeBackends") {
      const members = this.#need(this.members, change.ruleId);
      const { networkId } = this.#need(this.rules, change.ruleId);
      for (const id of change.vmIds) {
        if (change.kind === "removeBackends") members.delete(id);
        else {
          const vm = this.#need(this.vms, id);
          const hasNic = vm.nics.some((nic) => nic.networkId === networkId);
          if (vm.isGone || !hasNic || members.has(id)) throw new Error(`431 ${id}`);
          members.add(id);
        }
      }
    }
  }

  #createRule(change: Change & { readonly kind: "createRule" }): void {
    const { kind: _, cidrs, ...fields } = change;
    const address = this.#need(this.addresses, fields.addressId);
    const others = [...this.rules.values()].filter(({ addressId }) => addressId === address.id);
    if (others.some(({ publicPort }) => publicPort === fields.publicPort))
      throw new Error("537 port");
    if (address.isStaticNat) throw new Error("537 static NAT");
    if (address.vpcId !== undefined && address.networkId === undefined) {
      this.addresses.set(address.id, { ...address, networkId: fields.networkId });
    } else if (address.networkId !== fields.networkId) throw new Error("431 network");
    const hasLists = this.#isSince(18);
    this.addRule({ ...fields, cidrs: hasLists ? (cidrs ?? []) : [] });
  }

  #updateRule(change: Change & { readonly kind: "updateRule" }): void {
    const { kind: _, ruleId, ...fields } = change;
    const rule = this.#need(this.rules, ruleId);
    if (fields.cidrs !== undefined && !this.#isSince(22)) throw new Error("431 cidrlist");
    this.rules.set(ruleId, { ...rule, ...fields });
    if (fields.algorithm === undefined && fields.cidrs === undefined) return;
    const { protocol, algorithm } = this.#need(this.rules, ruleId);
    this.applied.set(ruleId, { protocol, algorithm });
  }

  #applyToAcl(change: Change): void {
    if (change.kind === "createAclItem") {
      const { listId, protocol, port, cidrs, reason, number } = change;
      const isTaken = this.aclItems.get(listId)?.some((one) => one.number === number);
      if (isTaken === true) throw new Error("431 number");
      const place = number === undefined ? {} : { number };
      this.addAclItem({
        listId,
        protocol,
        startPort: port,
        endPort: port,
        cidrs,
        reason,
        ...place,
      });
    } else if (change.kind === "updateAclItem") {
      const { itemId, listId, kind: _, ...fields } = change;
      const items = this.aclItems.get(listId) ?? [];
      this.aclItems.set(
        listId,
        items.map((one) => (one.id === itemId ? { ...one, ...fields } : one)),
      );
    }
  }

  #isSince(minor: number): boolean {
    return this.version !== undefined && this.version.minor >= minor;
  }

  #need<T>(map: ReadonlyMap<string, T>, id: string): T {
    const found = map.get(id);
    if (found === undefined) throw new Error(`431 unknown ${id}`);
    return found;
  }
}

function removeListed<T extends { readonly id: string }>(
  lists: Map<string, T[]>,
  id: string,
): void {
  for (const [key, list] of lists) {
    lists.set(
      key,
      list.filter((one) => one.id !== id),
    );
  }
}

function put<T extends { readonly id: string }>(map: Map<string, T>, one: T): T {
  map.set(one.id, one);
  return one;
}
