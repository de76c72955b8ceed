import { describe, expect, test } from "bun:test";
import { type Role, ROLES } from "../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { schedule } from "../../../../lib/controllers/sipcluster/schedule/schedule.ts";
import type {
  HostFacts,
  ScheduleInput,
} from "../../../../lib/controllers/sipcluster/schedule/types.ts";
import { Random } from "../../../support/random.ts";
import {
  applySchedule,
  CLUSTER,
  toHost,
  toNodeSet,
  writesNothing,
} from "../../../support/sipcluster/scheduling.ts";
import { tries } from "../../../support/extent.ts";

const KEYS = ["rack", "feed", "room"];
const ROUNDS = tries(1_500).numRuns;

/** A host, and its role if it has one. */
type Placed = readonly [HostFacts, Role | undefined];

type Input = ScheduleInput & { readonly hosts: readonly HostFacts[] };

function drawHost(random: Random, at: number): HostFacts {
  const labels = Object.fromEntries(
    KEYS.filter(() => random.chance(0.9)).map((key) => [key, `${random.between(1, 4)}`]),
  );
  for (const role of ROLES) if (random.chance(0.6)) labels[role] = "yes";
  const isUntouchable = random.chance(0.05);
  const isTroubled = isUntouchable || random.chance(0.15);
  const role = random.chance(0.35) ? random.pick(ROLES) : undefined;
  return toHost(`h${at}`, {
    labels,
    isUntouchable,
    isInUse: random.chance(role === undefined ? 0.05 : 0.3),
    ...(isTroubled && { trouble: isUntouchable ? "paused" : "unhealthy" }),
    ...(role && { role, standby: random.chance(0.3) }),
  });
}

function drawInput(seed: number, hosts: number): Input {
  const random = new Random(seed);
  const nodes = Object.fromEntries(
    ROLES.filter(() => random.chance(0.9)).map((role) => {
      const keys = KEYS.filter(() => random.chance(0.5));
      const set = toNodeSet(random.between(0, 3), random.between(0, 1), ...keys);
      return [
        role,
        random.chance(0.7) ? { ...set, labelSelector: { matchLabels: { [role]: "yes" } } } : set,
      ];
    }),
  );
  return {
    cluster: CLUSTER,
    nodes,
    scheduling: {
      spreadAcrossRoles: random.chance(0.3),
      releaseConsumedHosts: random.chance(0.2),
    },
    hosts: Array.from({ length: random.between(0, hosts) }, (_, at) => drawHost(random, at)),
  };
}

function toTotal({ nodes }: Input, role: Role): number {
  const { active = 0, standby = 0 } = nodes[role]?.count ?? {};
  return active + standby;
}

function listClaimed(hosts: readonly HostFacts[], role: Role): readonly HostFacts[] {
  return hosts.filter(({ assigned }) => assigned?.role === role);
}

/** Whether two hosts in these roles may stand beside each other. Written without a look at the scheduler. */
function mayMeet({ nodes, scheduling }: Input, one: Placed, other: Placed): boolean {
  const [[first, firstRole], [second, secondRole]] = [one, other];
  if (firstRole !== secondRole && scheduling?.spreadAcrossRoles !== true) return true;
  const keys = [firstRole, secondRole].flatMap((role) => (role && nodes[role]?.topologyKeys) ?? []);
  return keys.every(
    (key) => first.labels[key] === undefined || first.labels[key] !== second.labels[key],
  );
}

/** Whether a role may take a host. */
function suits({ nodes }: Input, host: HostFacts, role: Role): boolean {
  const isUsed = host.assigned !== undefined && host.isInUse;
  if (host.trouble !== undefined || isUsed || host.isUntouchable === true) return false;
  return nodes[role]?.labelSelector === undefined || host.labels[role] === "yes";
}

/** Whether each role can get what it misses, beside the hosts that the decision keeps: every choice is tried. */
function isFeasible(input: Input, kept: readonly Placed[], pool: readonly HostFacts[]): boolean {
  const needs = new Map(
    ROLES.map((role) => [
      role,
      toTotal(input, role) - kept.filter(([, own]) => own === role).length,
    ]),
  );
  const chosen: Placed[] = [...kept];
  const choose = (at: number): boolean => {
    if (ROLES.every((role) => (needs.get(role) ?? 0) <= 0)) return true;
    const host = pool[at];
    if (host === undefined) return false;
    for (const role of ROLES) {
      const need = needs.get(role) ?? 0;
      const fits = chosen.every((other) => mayMeet(input, [host, role], other));
      if (need <= 0 || !suits(input, host, role) || !fits) continue;
      needs.set(role, need - 1);
      chosen.push([host, role]);
      if (choose(at + 1)) return true;
      chosen.pop();
      needs.set(role, need);
    }
    return choose(at + 1);
  };
  return choose(0);
}

describe.each([
  ["small pools", 1, 8],
  ["larger pools", 1_000_000, 11],
] as const)("schedule() with %s", (_, firstSeed, hosts) => {
  const inputs = Array.from({ length: ROUNDS }, (_, at) => drawInput(firstSeed + at, hosts));

  test("finds a choice if and only if there is one, and takes all or nothing", () => {
    for (const input of inputs) {
      const decision = schedule(input);
      const byKey = new Map(input.hosts.map((host) => [host.key, host]));
      const leaving = new Set(decision.giveBack.map(({ host }) => host));
      const before = (host: HostFacts): Role | undefined => host.assigned?.role;
      const moved = decision.keep.filter(({ host, role }) => {
        const known = byKey.get(host);
        return known !== undefined && before(known) !== role;
      });
      const isMoved = new Set(moved.map(({ host }) => host));
      const isKept = ({ key, assigned, trouble, isInUse, isUntouchable }: HostFacts): boolean =>
        assigned !== undefined &&
        !leaving.has(key) &&
        !isMoved.has(key) &&
        (trouble === undefined || isInUse || isUntouchable === true);
      const kept = input.hosts.filter(isKept).map((host): Placed => [host, before(host)]);
      const pool = input.hosts.filter((host) => !isKept(host));
      expect([input, decision.isSatisfied]).toEqual([input, isFeasible(input, kept, pool)]);
      expect(decision.isProven).toBe(true);
      if (!decision.isSatisfied) expect([...decision.add, ...moved]).toEqual([]);
    }
  });

  test("puts no host in two roles, and takes none that breaks anti-affinity or is not fit", () => {
    for (const input of inputs) {
      const { keep, add, giveBack } = schedule(input);
      const all = [...keep, ...add, ...giveBack].map(({ host }) => host);
      expect(new Set(all).size).toBe(all.length);
      const byKey = new Map(input.hosts.map((host) => [host.key, host]));
      const team = [...keep, ...add].flatMap(({ host, role }): [HostFacts, Role][] => {
        const known = byKey.get(host);
        return known === undefined ? [] : [[known, role]];
      });
      for (const one of team.filter(([host, role]) => host.assigned?.role !== role)) {
        expect(suits(input, ...one)).toBe(true);
        expect(team.filter((other) => other !== one && !mayMeet(input, one, other))).toEqual([]);
      }
    }
  });

  test("never gets more than wanted, and keeps what is in use or untouchable", () => {
    for (const input of inputs) {
      const decision = schedule(input);
      const after = applySchedule(input.hosts, decision);
      for (const role of ROLES) {
        const claimed = listClaimed(after, role);
        const total = toTotal(input, role);
        const blocked = decision.blocked.filter((host) => host.role === role).length;
        expect(claimed.length).toBeLessThanOrEqual(total + blocked);
        if (decision.isSatisfied) expect(claimed.length).toBe(total + blocked);
        expect(decision.reports.get(role)?.wanted).toBe(total);
      }
      for (const [at, host] of input.hosts.entries()) {
        const isFixed = host.isUntouchable === true;
        if (isFixed) expect(after[at]).toEqual(host);
        const mayLeave = input.scheduling?.releaseConsumedHosts === true;
        if (host.assigned && host.isInUse && !mayLeave)
          expect(after[at]?.assigned?.role).toBe(host.assigned?.role);
      }
    }
  });

  test("has nothing left to do after its decision, in any order of hosts", () => {
    for (const input of inputs) {
      const decision = schedule(input);
      const after = applySchedule(input.hosts, decision);
      const again = schedule({ ...input, hosts: after });
      expect([input, writesNothing(after, again)]).toEqual([input, true]);
      expect(again.isSatisfied).toBe(decision.isSatisfied);
      expect(schedule({ ...input, hosts: input.hosts.toReversed() })).toEqual(decision);
    }
  });
});
