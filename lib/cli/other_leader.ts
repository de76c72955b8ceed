/**
 * Warns at the start of `landfall run` if an installation of Landfall acts already, under another Lease.
 * @module
 */
import type { ProviderDefinition } from "../cloud/provider_definition.ts";
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import type { KubeClient } from "../kube/api/client.ts";
import { KubeError } from "../kube/api/errors.ts";
import { findHolder, type LeaseName } from "../kube/election/lease.ts";
import { LEASES } from "../kube/kinds/lease.ts";
import { adviseElection, isHeldNow } from "./check/leases/other_leaders.ts";

/** What {@linkcode warnOfOtherLeader} needs. */
export interface OtherLeaderOptions {
  readonly client: KubeClient;
  /** The cloud, whose installations may use another Lease. Absent: it does not matter which they use. */
  readonly definition?: Pick<ProviderDefinition, "install">;
  /** The Lease of the flags. */
  readonly own: LeaseName;
  /** Names of the Leases that controllers name. */
  readonly kinds: readonly string[];
  /** Whether this process waits for its Leases: not with `--leader-elect=false`. */
  readonly isElected: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Looks once at the Leases that this process does not wait for and that an installation may use. Warns in the log if a
 * process holds one. It is a hint: without the right to read those Leases it says nothing.
 */
export async function warnOfOtherLeader(
  { client, definition, own, kinds, isElected, clock, log }: OtherLeaderOptions,
  signal: AbortSignal,
): Promise<void> {
  const { namespace } = own;
  const names = new Set(definition && [definition.install?.lease ?? own.name, own.name]);
  if (isElected) names.delete(own.name);
  else for (const name of kinds) names.add(name);
  for (const name of names) {
    try {
      const lease = await client.read(LEASES, { namespace, name }, signal);
      if (!isHeldNow(lease, clock.now())) continue;
      const held = { lease: `${namespace}/${name}`, holder: findHolder(lease) };
      const other = isElected
        ? "Another process leads with another Lease"
        : "Another process leads";
      // No flag names the Lease of a kind.
      const flagged = kinds.includes(name) ? name : own.name;
      const advice = isElected ? adviseLease(name) : adviseElection(name, flagged);
      log.warn(`${other}: this one would act beside it`, { ...held, advice });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof KubeError)) throw error;
    }
  }
}

function adviseLease(name: string): string {
  return (
    `stop one of the two, or start this one with --leader-elect-resource-name=${name}, so that it waits ` +
    "until the other one stops"
  );
}
