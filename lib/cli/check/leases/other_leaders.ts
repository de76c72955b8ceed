/**
 * Other cloud controller managers that lead now, for `landfall check`. Pure.
 * @module
 */
import type { ProviderDefinition } from "../../../cloud/provider_definition.ts";
import { formatDuration } from "../../../core/text/values.ts";
import {
  findHolder,
  type LeaseName,
  readDurationMs,
  readRenewMs,
} from "../../../kube/election/lease.ts";
import type { Lease } from "../../../kube/kinds/lease.ts";
import type { CheckFinding } from "../report.ts";

/** Cloud controller managers call their Lease this, many with the name of their cloud behind it. */
export const USUAL_NAME = "cloud-controller-manager";

/** Name of the Lease of installations for a cloud: that of the manifests, and of the program that Landfall replaces. */
export function toInstalledLease({
  name,
  install,
}: Pick<ProviderDefinition, "install" | "name">): string {
  return install?.lease ?? `${USUAL_NAME}-${name}`;
}

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
 * What to do about the holder of a Lease, for a process with `--leader-elect=false`.
 *
 * @param name The Lease that is held
 * @param own The Lease of this process's flags
 */
export function adviseElection(name: string, own: string): string {
  const flag = name === own ? "" : ` and set --leader-elect-resource-name=${name}`;
  return `stop one of the two, or remove --leader-elect=false${flag}, so that this one waits until the other one stops`;
}

/** Says who holds a Lease, and how old its claim is. */
export function describeHolder(lease: Lease, nowMs: number): string {
  const age = Math.max(0, nowMs - (readRenewMs(lease) ?? nowMs));
  const ago = formatDuration(Math.round(age / 1_000) * 1_000);
  return `${findHolder(lease)} renewed it ${ago} ago`;
}

/** What {@linkcode listOtherLeaders} needs. */
interface OtherLeaders {
  /** The Lease of the flags. */
  readonly own: LeaseName;
  /** Whether the process waits for its Lease: not with `--leader-elect=false`. */
  readonly isElected: boolean;
  /** Wall-clock milliseconds. */
  readonly nowMs: number;
}

/**
 * Warns of each Lease that is held now: two leaders would act at the same time.
 *
 * @param others Leases of cloud controller managers, without the one that this process waits for
 */
export function listOtherLeaders(
  others: readonly Lease[],
  { own: { namespace, ...own }, isElected, nowMs }: OtherLeaders,
): CheckFinding[] {
  const held = others.filter((lease) => isHeldNow(lease, nowMs));
  return held.map((lease): CheckFinding => {
    const { name } = lease.metadata;
    const holder = describeHolder(lease, nowMs);
    const message = `another cloud controller manager holds Lease ${namespace}/${name}: ${holder}`;
    const share = isElected
      ? "with two Leases both act: stop the other one, or give both the same --leader-elect-resource-name"
      : `with --leader-elect=false both act: ${adviseElection(name, own.name)}`;
    const advice =
      `${share}; ignore this if it runs other controllers (like --controllers=service) or manages ` +
      "other Nodes";
    return { level: "warning", code: "otherLeader", message, advice };
  });
}
