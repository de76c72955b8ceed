/**
 * Decides which hosts a cluster keeps, takes and gives back.
 * @module
 */
import { nameSome } from "../../kinds/problems.ts";
import { ROLES, type Role } from "../resource/sip_cluster.ts";
import { type RoleNeed, groupHosts } from "./candidates.ts";
import { type Contraction, planContraction, toWanted } from "./contraction.ts";
import { Domains, type AssignedHost } from "./domains.ts";
import { toMatcher } from "./label_selector.ts";
import { type Problem, findMatching } from "./matching.ts";
import {
  type OwnHost,
  type Rated,
  type SortedHosts,
  byKey,
  listKeepable,
  rateHosts,
  sortHosts,
} from "./own_hosts.ts";
import { type Search, findClosed, listChosen, reportSearch } from "./report.ts";
import type { HostFacts, RoleReport, Schedule, ScheduleInput, Surplus } from "./types.ts";

/** How far a search for hosts goes: without a compiler, some 50 ms. */
const LIMITS = { maxSteps: 60_000, maxGroups: 3_000 };

/** What is to do about hosts that may be of others. */
export const IN_DOUBT =
  "Landfall leaves it as it is. If the cluster has it, write the labels again. If not, remove it from status.hosts";

/**
 * Decides for one cluster. Pure, and the same hosts always get the same decision, in any order.
 *
 * - What the record says is kept: a host that the cluster has stays, even if it no longer matches the selector or
 *   breaks anti-affinity, until there are too many ({@linkcode planContraction}).
 * - All or nothing: hosts are taken only if every role gets all that it wants ({@linkcode findMatching}).
 * - A host that one role gives back may serve another role, if it is not in use: then only its role changes.
 * - A broken host that is not in use is given back together with the decision that replaces it, or if its role has
 *   enough without it. Until then it stays.
 * - What is too many is given back in any case.
 *
 * Applying a decision and deciding again changes nothing, unless the search ended at its limit.
 */
export function schedule(input: ScheduleInput): Schedule {
  const sorted = sortHosts(input);
  const { contractions, search } = propose(input, sorted);
  const teams = ROLES.map((role, at) => formTeam(role, { at, sorted, contractions, search }));
  const rated = teams.flatMap(({ members }) => members);
  const kept = rated.filter(({ host }) => host.assigned !== undefined).sort(byHost);
  const moved = new Set(kept.map(({ host }) => host));
  const leaving = [...contractions.values()].flatMap(({ leave }) => leave);
  const giveBack = [
    ...leaving
      .filter((host) => !moved.has(host))
      .map((host) => toSurplus(host, "more than wanted")),
    ...teams
      .flatMap(({ broken }) => broken)
      .map((host) => toSurplus(host, host.trouble ?? "broken")),
  ];
  const blocked = [...contractions.values()].flatMap(({ blocked }) => blocked);
  return {
    keep: kept.map(toAssignment),
    add: rated
      .filter(({ host }) => host.assigned === undefined)
      .sort(byHost)
      .map(toAssignment),
    giveBack: giveBack.sort(byHostKey),
    blocked: blocked.map((host) => toSurplus(host, findHold(host))).sort(byHostKey),
    reports: new Map(teams.map(({ role, report }) => [role, report])),
    isSatisfied: search.matching.isFull,
    isProven: search.matching.isProven,
    notes: listNotes(rated, input),
    breaches: search.domains.listBreaches(kept),
  };
}

/** Says what is not as it should be of hosts that stay or come. */
function listNotes(
  team: readonly (Rated & { readonly role: Role })[],
  { nodes }: ScheduleInput,
): Schedule["notes"] {
  const matchers = new Map(ROLES.map((role) => [role, toMatcher(nodes[role]?.labelSelector)]));
  const unmatched = team.filter(({ role, host }) => matchers.get(role)?.(host.labels) === false);
  const notes: readonly (readonly [string, readonly string[]])[] = [
    ["Kept, but not matched by the selector any more", unmatched.map(({ host: { key } }) => key)],
    [
      "In error, and replaced if that lasts",
      team.flatMap(({ host: { key, isForgiven, isInUse } }) =>
        isForgiven === true && !isInUse ? key : [],
      ),
    ],
    [
      "Not for Cluster API",
      team.flatMap(({ host: { key, outside } }) => (outside ? `${key} (${outside})` : [])),
    ],
  ];
  const doubtful = team.flatMap(({ host: { key, isDoubtful } }) => (isDoubtful ? key : []));
  return [
    ...notes.flatMap(([what, hosts]) => (hosts.length > 0 ? `${what}: ${nameSome(hosts)}` : [])),
    ...(doubtful.length > 0
      ? [`In status.hosts, in use, and without labels: ${nameSome(doubtful)}. ${IN_DOUBT}`]
      : []),
  ];
}

type Contractions = ReadonlyMap<Role, Contraction>;

/** Which hosts leave their roles, and what was found for others. */
interface Proposal {
  readonly contractions: Contractions;
  readonly search: Search;
}

/**
 * Which hosts leave is decided first. If a role misses hosts then, it is asked which hosts it would take if any idle
 * host of a role with too many could leave. Those, and those that may not stand beside what it takes, leave first, if
 * that is enough.
 */
function propose(input: ScheduleInput, sorted: SortedHosts): Proposal {
  const contractions = planContractions(input, sorted);
  const search = searchHosts(input, { sorted, contractions });
  const loose = [...contractions].flatMap(([role, { leave, stay }]) => {
    const idle = new Set(leave.length > 0 ? sorted.own.get(role)?.loose : []);
    return stay.filter((host) => idle.has(host));
  });
  if (search.matching.isFull || loose.length === 0) return { contractions, search };
  const free = searchHosts(input, { sorted, contractions, loose: new Set(loose) });
  if (!free.matching.isFull) return { contractions, search };
  const chosen = listChosen(free);
  const needed = [...contractions].flatMap(([role, { stay, leave }]) => {
    const closed = [...free.domains.listClosed(role, chosen)];
    return [...stay, ...leave].filter((host) => findClosed(host, closed) !== undefined);
  });
  const taken = chosen.map(({ host }) => host);
  const others = planContractions(input, sorted, new Set([...taken, ...needed]));
  const again = searchHosts(input, { sorted, contractions: others });
  return again.matching.isFull ? { contractions: others, search: again } : { contractions, search };
}

function planContractions(
  { nodes, scheduling = {} }: ScheduleInput,
  { own }: SortedHosts,
  needed?: ReadonlySet<HostFacts>,
): Contractions {
  const releasesUsed = scheduling.releaseConsumedHosts === true;
  const plan = (role: Role): Contraction => {
    const others = scheduling.spreadAcrossRoles === true ? ROLES.filter((one) => one !== role) : [];
    const neighbours = others.flatMap((other) => listKeepable(own.get(other)));
    const options = { set: nodes[role], releasesUsed, neighbours };
    return planContraction(own.get(role), { ...options, ...(needed && { needed }) });
  };
  return new Map(ROLES.map((role) => [role, plan(role)]));
}

interface Standing {
  readonly sorted: SortedHosts;
  readonly contractions: Contractions;
  /** Hosts that stay unless another role takes them. @default {none} */
  readonly loose?: ReadonlySet<HostFacts>;
}

/** Searches for what roles miss, among free hosts and those that other roles give back. */
function searchHosts(
  { nodes, scheduling }: ScheduleInput,
  { sorted, contractions, loose = new Set() }: Standing,
): Search {
  const domains = new Domains(nodes, scheduling);
  const needs = ROLES.map((role): RoleNeed => {
    const { active, standby } = toWanted(nodes[role]);
    const have = contractions.get(role)?.stay.length ?? 0;
    return { role, set: nodes[role], need: Math.max(0, active + standby - have) };
  });
  const leaving = [...contractions.values()].flatMap(({ leave }) => leave);
  const isNeeded = needs.some(({ need }) => need > 0);
  const offered = [...leaving, ...loose, ...sorted.free];
  const hosts = isNeeded ? offered.sort(byKey) : [];
  const staying: AssignedHost[] = ROLES.flatMap((role) =>
    (contractions.get(role)?.stay ?? [])
      .filter((host) => !loose.has(host))
      .map((host) => ({ host, role })),
  );
  const { groups, orders } = groupHosts(hosts, { needs, domains, last: loose });
  const problem: Problem = {
    needs: needs.map(({ need }) => need),
    groups,
    orders,
    held: isNeeded ? staying.map((member) => domains.toDemand(member)) : [],
  };
  const eligible = orders.map(({ length }) => length);
  return {
    needs,
    hosts,
    eligible,
    held: staying,
    domains,
    matching: findMatching(problem, LIMITS),
  };
}

/** The hosts of a role after the decision. */
interface Team {
  readonly role: Role;
  readonly members: readonly (Rated & { readonly role: Role })[];
  /** Broken hosts that leave. */
  readonly broken: readonly OwnHost[];
  readonly report: RoleReport;
}

function formTeam(
  role: Role,
  { at, sorted, contractions, search }: Standing & { readonly at: number; readonly search: Search },
): Team {
  const { isFull, picks } = search.matching;
  const { set, need = 0 } = search.needs[at] ?? {};
  const { active, standby } = toWanted(set);
  const { stay = [] } = contractions.get(role) ?? {};
  const chosen = new Set(isFull ? picks[at] : []);
  const found = search.hosts.filter(({ key }) => chosen.has(key));
  // Until a replacement is found, they hold its place: active ones first, then the first by key.
  const broken = (sorted.own.get(role)?.broken ?? []).toSorted(
    (one, other) =>
      Number(one.assigned.standby) - Number(other.assigned.standby) || byKey(one, other),
  );
  const waiting = isFull ? [] : broken.slice(0, need);
  const members = rateHosts([...stay, ...waiting, ...found], active);
  return {
    role,
    members: members.map((rated) => ({ ...rated, role })),
    broken: broken.filter((host) => !waiting.includes(host)),
    report: { wanted: active + standby, have: stay.length, ...reportSearch(search, at) },
  };
}

function findHold(host: HostFacts): string {
  return host.isUntouchable === true ? (host.trouble ?? "untouchable") : "in use";
}

function toSurplus({ key, assigned }: OwnHost, why: string): Surplus {
  const { role, standby } = assigned;
  return { host: key, role, standby, why };
}

function toAssignment({ host, role, standby }: Team["members"][number]): Schedule["keep"][number] {
  return { host: host.key, role, standby };
}

function byHost(one: Rated, other: Rated): number {
  return byKey(one.host, other.host);
}

function byHostKey(one: { readonly host: string }, other: { readonly host: string }): number {
  return one.host < other.host ? -1 : Number(one.host > other.host);
}
