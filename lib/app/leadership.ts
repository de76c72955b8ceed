/**
 * Leader election of this process: the elector, and the work that waits for leadership.
 * @module
 */
import type { ElectionView } from "../http/views.ts";
import { createLeaderMetrics } from "../kube/election/narrator.ts";
import type { EventSender } from "../kube/events/events.ts";
import { createIdentity, LeaderElector } from "../kube/election/leader.ts";
import { LEADER_COMPONENT } from "../kube/election/words.ts";
import type { Recovery } from "../kube/api/recovery.ts";
import type { Check } from "../http/probes.ts";
import type { AppOptions } from "./options.ts";

/** Creates the elector; `undefined` without election. */
export function createElector(
  { election, host, clock, log, metrics }: AppOptions,
  { events, recovery }: { readonly events: EventSender; readonly recovery: Recovery },
): LeaderElector | undefined {
  if (election === undefined) return undefined;
  const { client, namespace, name, ...times } = election;
  return new LeaderElector({
    client,
    lease: { namespace, name },
    times,
    identity: createIdentity(host),
    events: events.speakAs(LEADER_COMPONENT),
    metrics: createLeaderMetrics(metrics),
    clock,
    log,
    recovery,
  });
}

/**
 * Runs `work` once this process leads, or immediately without election.
 *
 * @throws {LeadershipLostError} when leadership was lost, after `work` has ended
 */
export async function runLeading(
  elector: LeaderElector | undefined,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  if (elector === undefined) return await work(signal);
  await elector.run(work, signal);
}

/**
 * The check of `/livez` that fails when leader election is stuck, so that a supervisor restarts the process. None
 * without election.
 */
export function toElectionChecks(elector: LeaderElector | undefined): Check[] {
  if (elector === undefined) return [];
  const isOk = (): boolean => elector.isHealthy();
  return [{ name: "leaderElection", probes: ["healthz", "livez"], isOk }];
}

/** Describes who leads, as text for operators. */
export function toElectionView({ identity, holder, isLeading }: LeaderElector): ElectionView {
  return { identity, holder: holder ?? "", isLeading };
}
