/**
 * Says what a role has, and why it does not get what it wants.
 * @module
 */
import type { Key } from "../../../kube/cache/store.ts";
import { toFindRefusal, UNMATCHED, type RoleNeed } from "./candidates.ts";
import type { Domains, AssignedHost } from "./domains.ts";
import { readLabel } from "./label_selector.ts";
import type { Matching } from "./matching.ts";
import type { HostFacts, RoleReport } from "./types.ts";

/** How many hosts a report names: it is kept as long as the cluster misses hosts. */
export const REFUSED_MAX = 200;

/** A search for hosts, and what came of it. */
export interface Search {
  readonly needs: readonly RoleNeed[];
  /** Hosts that were asked, in the order of keys. */
  readonly hosts: readonly HostFacts[];
  /** By the index of the role: how many of them suit it. */
  readonly eligible: readonly number[];
  /** Hosts that stay. */
  readonly held: readonly AssignedHost[];
  readonly matching: Matching;
  readonly domains: Domains;
}

/** What came of the search for the role with this index, and why it refused hosts, if any are missing. */
export function reportSearch(
  search: Search,
  role: number,
): Pick<RoleReport, "missing" | "eligible" | "rejected" | "refused"> {
  const { matching, needs, eligible } = search;
  const missing = (needs[role]?.need ?? 0) - (matching.picks[role]?.length ?? 0);
  const counts = new Map<string, number>();
  const refused = new Map<Key, string>();
  for (const [host, reason] of missing > 0 ? listReasons(search, role) : []) {
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
    if (reason !== UNMATCHED && refused.size < REFUSED_MAX) refused.set(host, reason);
  }
  const rejected = new Map(
    [...counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1)),
  );
  return { missing, eligible: eligible[role] ?? 0, rejected, refused };
}

function* listReasons(search: Search, role: number): Iterable<[Key, string]> {
  const { needs, hosts, held, domains } = search;
  const need = needs[role];
  if (need === undefined) return;
  const chosen = listChosen(search);
  const chosenFor = new Map(chosen.map((member) => [member.host.key, member.role]));
  const closed = [...domains.listClosed(need.role, [...held, ...chosen])];
  const findRefusal = toFindRefusal(need.set);
  for (const host of hosts) {
    const other = chosenFor.get(host.key);
    if (other === need.role) continue;
    const refusal = findRefusal(host);
    if (refusal !== undefined) yield [host.key, refusal];
    else if (other !== undefined) yield [host.key, `needed for ${other}`];
    else yield [host.key, findClosed(host, closed) ?? "not tried"];
  }
}

/** The hosts that were found, in the roles that they were found for. */
export function listChosen({ needs, hosts, matching }: Search): readonly Required<AssignedHost>[] {
  const roles = new Map(
    needs.flatMap(({ role }, at) => (matching.picks[at] ?? []).map((host) => [host, role])),
  );
  return hosts.flatMap((host) => {
    const role = roles.get(host.key);
    return role === undefined ? [] : [{ host, role }];
  });
}

/** Why a host cannot join, by what {@linkcode Domains.listClosed} says. */
export function findClosed(
  { labels }: HostFacts,
  closed: readonly (readonly [string, ReadonlySet<string>])[],
): string | undefined {
  const found = closed.find(([key, values]) => values.has(readLabel(labels, key) ?? NO_VALUE));
  return found && `same ${found[0]}`;
}

/** No value of a label has a blank. */
const NO_VALUE = " ";
