/**
 * Which hosts a role could take, before anti-affinity, and why not the others.
 * @module
 */
import { type NodeSet, type Role } from "../resource/sip_cluster.ts";
import type { Domains } from "./domains.ts";
import { matchesSelector } from "./label_selector.ts";
import type { Candidate } from "./matching/problem.ts";
import type { HostFacts } from "./types.ts";

/** Roles that still need hosts. */
export interface Wish {
  readonly role: Role;
  readonly set: NodeSet | undefined;
  readonly need: number;
}

/** Why a host does not suit a role: short, the same for all hosts with it. Undefined: it suits. */
export function findRefusal(host: HostFacts, set: NodeSet | undefined): string | undefined {
  if (!matchesSelector(set?.labelSelector, host.labels)) return "not matched by the selector";
  if (host.isUntouchable === true) return host.trouble ?? "untouchable";
  if (host.trouble !== undefined) return host.trouble;
  // Of a host without a cluster, its trouble says so: one that another program provisioned may be taken.
  return host.claim !== undefined && host.isInUse ? "in use" : undefined;
}

/**
 * The candidates for these roles: first hosts that the cluster would give back, which then only change their role;
 * then hosts with all topology labels before those of which the place is not known; then in the order given.
 */
export function listCandidates(
  hosts: readonly HostFacts[],
  { wishes, domains }: { readonly wishes: readonly Wish[]; readonly domains: Domains },
): readonly Candidate[] {
  const byRank: Candidate[][] = [[], [], [], []];
  for (const host of hosts) {
    const demands = wishes.map(({ role, set, need }) =>
      need > 0 && findRefusal(host, set) === undefined
        ? domains.toDemand({ host, role })
        : undefined,
    );
    if (demands.every((demand) => demand === undefined)) continue;
    const rank = (host.claim ? 0 : 2) + (domains.isPlaced(host) ? 0 : 1);
    byRank[rank]?.push({ host: host.key, demands });
  }
  return byRank.flat();
}
