/**
 * Leader election of this process: an election for each Lease that its controllers need, and the work that waits for
 * it.
 * @module
 */
import { assert } from "../core/errors.ts";
import { listLeases, type LoadedController } from "../controllers/load.ts";
import type { ElectionView } from "../http/views.ts";
import { createLeaderMetrics } from "../kube/election/metrics.ts";
import type { EventSender } from "../kube/events/events.ts";
import { createIdentity, LeaderElector } from "../kube/election/leader.ts";
import { LEADER_COMPONENT } from "../kube/election/words.ts";
import type { Recovery } from "../kube/api/recovery.ts";
import type { Check } from "../http/probes.ts";
import type { AppOptions } from "./options.ts";

/** The chosen controllers that wait for the same Lease. */
interface LeaseGroup {
  /** Absent without election. */
  readonly elector?: LeaderElector;
  /** Whether it is the Lease of the process, which a cloud waits for, too. So is the one group without election. */
  readonly isMain: boolean;
  readonly controllers: readonly LoadedController[];
}

/**
 * Groups controllers by the Lease that they wait for, and creates an elector for each. The Lease of the process comes
 * first. If no controller waits for it, the process does not need it. In all Leases the process has the same identity.
 */
export function groupByLease(
  { controllers, election, host, clock, log, metrics }: AppOptions,
  { events, recovery }: { readonly events: EventSender; readonly recovery: Recovery },
): LeaseGroup[] {
  const definitions = controllers.map(({ definition }) => definition);
  for (const { name, lease, needsCloud, needs = [] } of definitions) {
    const isFenced = !needsCloud || (needs.length > 0 && needs.every((one) => one === "machines"));
    assert(lease === undefined || isFenced, `${name} has a Lease that its cloud does not wait for`);
  }
  if (election === undefined) return [{ isMain: true, controllers }];
  const { client, namespace, name: own, ...times } = election;
  const shared = {
    times,
    identity: createIdentity(host),
    events: events.speakAs(LEADER_COMPONENT),
    metrics: createLeaderMetrics(metrics),
    clock,
    log,
    recovery,
  };
  return listLeases(definitions, own).map((name) => ({
    elector: new LeaderElector({ ...shared, client, lease: { namespace, name } }),
    isMain: name === own,
    controllers: controllers.filter(({ definition }) => (definition.lease ?? own) === name),
  }));
}

/**
 * The checks of `/livez` that fail when leader election is stuck, so that a supervisor restarts the process. The first
 * has the name that Kubernetes gives it; those of further Leases have the name of the Lease behind it. None without
 * election.
 */
export function toElectionChecks(electors: readonly LeaderElector[]): Check[] {
  return electors.map((elector, at) => {
    const name = at === 0 ? "leaderElection" : `leaderElection-${elector.lease.name}`;
    return { name, probes: ["healthz", "livez"], isOk: () => elector.isHealthy() };
  });
}

/** Describes who leads, as text for operators. */
export function toElectionView({
  lease,
  identity,
  holder,
  isLeading,
}: LeaderElector): ElectionView {
  return { lease: lease.name, identity, holder: holder ?? "", isLeading };
}
