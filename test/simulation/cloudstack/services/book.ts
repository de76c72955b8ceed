/**
 * What people have in the cloud: nothing of it may be changed by Landfall.
 * @module
 */
import type { CloudStackState } from "../../../../lib/simulator/cloudstack/world/state.ts";

/** The kinds of objects that people may have. */
type Kept = "address" | "rule" | "firewallRule" | "forwarding" | "aclItem" | "policy";

interface Entry {
  readonly kind: Kept;
  readonly id: string;
  /** Monotonic milliseconds. */
  readonly sinceMs: number;
  text: string | undefined;
}

/** Objects of people, as they left them. */
export class Book {
  readonly #state: CloudStackState;
  readonly #entries = new Map<string, Entry>();

  constructor(state: CloudStackState) {
    this.#state = state;
  }

  /** Writes down an object as it is now. */
  keep(kind: Kept, id: string, nowMs: number): void {
    this.#entries.set(id, { kind, id, sinceMs: nowMs, text: this.#describe(kind, id) });
  }

  /** Writes down everything that there is. */
  keepAll(nowMs: number): void {
    const { publicIps, loadBalancerRules, firewallRules, portForwardings, aclItems } = this.#state;
    const owned = [...publicIps.values()].filter(({ accountId }) => accountId !== undefined);
    for (const { id } of owned) this.keep("address", id, nowMs);
    for (const { id } of loadBalancerRules.values()) this.keep("rule", id, nowMs);
    for (const { id } of firewallRules.values()) this.keep("firewallRule", id, nowMs);
    for (const { id } of portForwardings.values()) this.keep("forwarding", id, nowMs);
    for (const { id } of aclItems.values()) this.keep("aclItem", id, nowMs);
  }

  /** Forgets an object that people remove. */
  drop(id: string): void {
    this.#entries.delete(id);
  }

  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** Whether something of people is on an address. */
  isUsed(ipId: string): boolean {
    const { loadBalancerRules, firewallRules, portForwardings } = this.#state;
    return [loadBalancerRules, firewallRules, portForwardings].some((map) =>
      map.values().some((one) => one.ipId === ipId && this.has(one.id)),
    );
  }

  /**
   * What is different now. Each difference is told once.
   *
   * @param isExcused Whether something may be gone that was there since then
   */
  takeChanges(isExcused: (sinceMs: number, text: string) => boolean): string[] {
    return [...this.#entries.values()].flatMap((entry) => {
      const { kind, id, text, sinceMs } = entry;
      const now = this.#describe(kind, id);
      if (now === text) return [];
      entry.text = now;
      if (now === undefined) this.drop(id);
      if (now === undefined && text !== undefined && isExcused(sinceMs, text)) return [];
      return [`${kind} ${id} of somebody else is ${now ?? "gone"}; it was ${text}`];
    });
  }

  #describe(kind: Kept, id: string): string | undefined {
    const fields = this.#toFields(kind, id);
    return fields && JSON.stringify(fields);
  }

  #toFields(kind: Kept, id: string): object | undefined {
    const { state } = { state: this.#state };
    switch (kind) {
      case "address": {
        const ip = state.publicIps.get(id);
        if (ip?.accountId === undefined) return undefined;
        const { address, accountId, vpcId, isSourceNat, staticNatVmId } = ip;
        // An address of a VPC is bound to a tier by the first rule on it.
        const networkId = vpcId === undefined ? ip.networkId : undefined;
        const tags = state.tags.of(id).map(({ key, value }) => `${key}=${value}`);
        return { address, accountId, vpcId, networkId, isSourceNat, staticNatVmId, tags };
      }
      case "rule": {
        const rule = state.loadBalancerRules.get(id);
        if (rule === undefined) return undefined;
        const { members: _1, applied: _2, state: _3, ...own } = rule;
        return own;
      }
      case "firewallRule":
        return state.firewallRules.get(id);
      case "forwarding":
        return state.portForwardings.get(id);
      case "aclItem":
        return state.aclItems.get(id);
      case "policy":
        return state.stickinessPolicies.get(id);
    }
  }
}
