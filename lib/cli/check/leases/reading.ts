/**
 * Reads a Lease, and says who holds it, for `landfall check`.
 * @module
 */
import type { KubeClient } from "../../../kube/api/client.ts";
import { KubeError } from "../../../kube/api/errors.ts";
import { findHolder, type LeaseName } from "../../../kube/election/lease.ts";
import { type Lease, LEASES } from "../../../kube/kinds/lease.ts";
import type { CheckFinding } from "../report.ts";

/** `missing`: the API server has none. `unreadable`: it refuses to show it. */
export type Reading = Lease | "missing" | "unreadable";

/** Reads a Lease. @throws the signal's reason */
export async function readLease(
  client: KubeClient,
  path: LeaseName,
  signal: AbortSignal,
): Promise<Reading> {
  try {
    return await client.read(LEASES, path, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError) return error.kind === "notFound" ? "missing" : "unreadable";
    throw error;
  }
}

/** Says who holds a Lease that this process would use. */
export function toLeaseFinding({ namespace, name }: LeaseName, reading: Reading): CheckFinding {
  const message = `Lease ${namespace}/${name}: ${describe(reading)}`;
  return { level: "ok", code: "lease", message };
}

function describe(reading: Reading): string {
  if (reading === "missing") return "not created yet";
  if (reading === "unreadable") return "no right to see who holds it";
  const holder = findHolder(reading);
  return holder === "" ? "held by no process" : `held by ${holder}`;
}
