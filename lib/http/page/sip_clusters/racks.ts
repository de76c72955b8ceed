/**
 * Hosts in the places by which clusters spread them, such as racks. Pure.
 * @module
 */
import type { SipClusterView, SipHostView } from "../../sip_clusters/views.ts";
import { judgeHost, SIP_HOST_STATE_NAMES, type SipHostState } from "./state.ts";

/** Number of hosts in each state that occurs, the worst first. */
type HostCounts = readonly (readonly [SipHostState, number])[];

/** A place and the hosts in it. */
export interface Rack {
  /** Value of the label. Absent: the hosts that lack it. */
  readonly name?: string;
  readonly hosts: readonly SipHostView[];
  readonly counts: HostCounts;
}

/** Labels by which clusters spread their hosts, the one with the fewest values among the hosts first. */
export function listKeys(
  clusters: readonly SipClusterView[],
  hosts: readonly SipHostView[],
): readonly string[] {
  const keys = [...new Set(clusters.flatMap(({ topologyKeys }) => topologyKeys))].toSorted();
  const countValues = (key: string): number => new Set(hosts.map(({ places }) => places[key])).size;
  return keys.toSorted((a, b) => countValues(a) - countValues(b));
}

/** The hosts by the value of a label, in order of the values; those without it come last. */
export function toRacks(hosts: readonly SipHostView[], key: string): readonly Rack[] {
  const byName = Map.groupBy(hosts, ({ places }) => places[key]);
  const names = [...byName.keys()].filter((name) => name !== undefined).toSorted();
  const racks = names.map((name) => toRack(byName.get(name) ?? [], name));
  const others = byName.get(undefined) ?? [];
  return others.length === 0 ? racks : [...racks, toRack(others)];
}

function toRack(hosts: readonly SipHostView[], name?: string): Rack {
  return { ...(name !== undefined && { name }), hosts, counts: countHosts(hosts) };
}

/** Counts hosts by their states. */
export function countHosts(hosts: readonly SipHostView[]): HostCounts {
  const byState = Map.groupBy(hosts, judgeHost);
  return SIP_HOST_STATE_NAMES.map(
    (state) => [state, byState.get(state)?.length ?? 0] as const,
  ).filter(([, count]) => count > 0);
}
