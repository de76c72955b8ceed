/**
 * Hosts and inputs for tests of the scheduler.
 * @module
 */
import type { NodeSet, Role } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type {
  Assigned,
  HostFacts,
  Schedule,
} from "../../../lib/controllers/sipcluster/schedule/types.ts";

/** The cluster that tests decide for. */
export const CLUSTER = "tenant/one";

/** What a test says about a host. */
export interface HostWords extends Partial<
  Pick<HostFacts, "isInUse" | "isUntouchable" | "late" | "trouble">
> {
  readonly labels?: Readonly<Record<string, string>>;
  /** Of the tests' cluster. */
  readonly role?: Role;
  readonly standby?: boolean;
  /** Of another cluster. */
  readonly cluster?: string;
}

/** A host of namespace `metal`, free unless it has a role. */
export function toHost(name: string, words: HostWords = {}): HostFacts {
  const { labels = {}, role, standby = false, cluster = CLUSTER, isInUse = false, ...rest } = words;
  const assigned: Assigned | undefined = role && { cluster, role, standby };
  return { key: `metal/${name}`, labels, isInUse, ...rest, ...(assigned && { assigned }) };
}

/** A role that wants so many hosts, each alone in its domain of the keys. */
export function toNodeSet(active: number, standby = 0, ...topologyKeys: string[]): NodeSet {
  return { count: { active, standby }, topologyKeys };
}

/** The hosts after a decision was carried out. */
export function applySchedule(
  hosts: readonly HostFacts[],
  { keep, add, giveBack }: Schedule,
): readonly HostFacts[] {
  const given = new Set(giveBack.map(({ host }) => host));
  const assigned = new Map([...keep, ...add].map((one) => [one.host, one]));
  return hosts.map((host) => {
    const { assigned: before, ...free } = host;
    if (given.has(host.key))
      return host.isInUse ? { ...free, trouble: "used by another consumer" } : free;
    const assignment = assigned.get(host.key);
    if (assignment === undefined) return host;
    const { role, standby } = assignment;
    return { ...free, assigned: { cluster: before?.cluster ?? CLUSTER, role, standby } };
  });
}

/** Whether a decision writes nothing to these hosts. */
export function writesNothing(hosts: readonly HostFacts[], schedule: Schedule): boolean {
  return Bun.deepEquals(applySchedule(hosts, schedule), hosts);
}

/** `metal/a ControlPlane`, `metal/b Worker standby`: what a decision says, in short. */
export function describeAssignments(
  list: readonly { readonly host: string; readonly role?: Role; readonly standby: boolean }[],
): readonly string[] {
  return list.map(({ host, role, standby }) =>
    [host.replace("metal/", ""), role ?? "none", ...(standby ? ["standby"] : [])].join(" "),
  );
}
