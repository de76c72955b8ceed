/**
 * Warns at the start of `landfall run` if an installation of Landfall acts already, under another Lease.
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/log.ts";
import type { KubeClient } from "../kube/api/client.ts";
import { KubeError } from "../kube/api/errors.ts";
import { findHolder } from "../kube/election/lease.ts";
import { LEASES } from "../kube/kinds/lease.ts";
import { isHeldNow, USUAL_NAME } from "./check/leases/other_leaders.ts";

/** What {@linkcode warnOfOtherLeader} needs. */
export interface OtherLeaderOptions {
  readonly client: KubeClient;
  /** As given by `--cloud-provider`: the manifests and the Go controller call their Lease after it. */
  readonly provider: string;
  /** Namespace of the Lease. @default {"kube-system"} */
  readonly namespace?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Looks once at the Lease that an installation uses, and warns in the log if a process holds it. Call it only if no
 * flag names the Lease of this process. It is a hint: without the right to read that Lease it says nothing.
 */
export async function warnOfOtherLeader(
  { client, provider, namespace = "kube-system", clock, log }: OtherLeaderOptions,
  signal: AbortSignal,
): Promise<void> {
  const name = `${USUAL_NAME}-${provider}`;
  try {
    const lease = await client.read(LEASES, { namespace, name }, signal);
    if (!isHeldNow(lease, clock.now())) return;
    const advice =
      `stop one of the two, or start this one with --leader-elect-resource-name=${name}, so that it waits ` +
      "until the other one stops";
    const held = { lease: `${namespace}/${name}`, holder: findHolder(lease), advice };
    log.warn("Another process leads with another Lease: both act now", held);
  } catch (error) {
    if (error instanceof KubeError || signal.aborted) return;
    throw error;
  }
}
