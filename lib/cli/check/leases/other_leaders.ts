/**
 * Other cloud controller managers that lead now, for `landfall check`. Pure.
 * @module
 */
import { formatDuration } from "../../../core/text/duration.ts";
import { findHolder, readDurationMs, readRenewMs } from "../../../kube/election/lease.ts";
import type { Lease } from "../../../kube/kinds/lease.ts";
import type { CheckFinding } from "../report.ts";

/** Cloud controller managers call their Lease this, many with the name of their cloud behind it. */
export const USUAL_NAME = "cloud-controller-manager";

/** Default of all cloud controller managers for how long a holder may be silent. */
const DURATION_MS = 15_000;
/** How far the clock of the holder may be from the clock of this machine. */
const SKEW_MS = 30_000;

/**
 * Whether a process holds a Lease and renewed it recently. A hint for people: the clocks of two machines may differ, so
 * no decision of a running process may depend on it.
 *
 * @param nowMs Wall-clock milliseconds
 */
export function isHeldNow(lease: Lease, nowMs: number): boolean {
  const renewMs = readRenewMs(lease);
  if (findHolder(lease) === "" || renewMs === undefined) return false;
  return Math.abs(nowMs - renewMs) <= readDurationMs(lease, DURATION_MS) + SKEW_MS;
}

/**
 * Warns of each Lease that is held now: two leaders would act at the same time.
 *
 * @param others Leases of cloud controller managers, without the own one
 */
export function listOtherLeaders(
  others: readonly Lease[],
  { namespace, nowMs }: { readonly namespace: string; readonly nowMs: number },
): CheckFinding[] {
  const held = others.filter((lease) => isHeldNow(lease, nowMs));
  return held.map((lease): CheckFinding => {
    const { name } = lease.metadata;
    const age = Math.max(0, nowMs - (readRenewMs(lease) ?? nowMs));
    const ago = formatDuration(Math.round(age / 1_000) * 1_000);
    const holder = `${findHolder(lease)} renewed it ${ago} ago`;
    const message = `another cloud controller manager holds Lease ${namespace}/${name}: ${holder}`;
    const advice =
      "with two Leases both act: stop the other one, or give both the same --leader-elect-resource-name; ignore this " +
      "if it runs other controllers (like --controllers=service) or manages other Nodes";
    return { level: "warning", code: "otherLeader", message, advice };
  });
}
