/**
 * Whether the cluster needs load balancers that Landfall does not manage, for `landfall check`.
 * @module
 */
import {
  CANNOT_LIST,
  describeUse,
  findLoadBalancers,
  SERVICE_CHOSEN,
} from "../../../app/load_balancers.ts";
import type { MissingLoadBalancers } from "../../../cloud/provider_definition.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import { KubeError } from "../../../kube/api/errors.ts";
import { findHolder, type LeaseName } from "../../../kube/election/lease.ts";
import { LEASES } from "../../../kube/kinds/lease.ts";
import { isHeldNow } from "../leases/other_leaders.ts";
import type { CheckFinding } from "../report.ts";

/** What {@linkcode checkLoadBalancers} looks with. */
export interface LoadBalancerSearch {
  readonly client: KubeClient;
  readonly missing: MissingLoadBalancers;
  /** Namespace of Leases. */
  readonly namespace: string;
  /** Wall-clock milliseconds. */
  readonly nowMs: number;
}

/**
 * Says that the flags choose the controller `service`.
 *
 * @param lacking Controllers that `--controllers` chooses and that Landfall does not have
 */
export function listChosenService(
  { message, advice }: MissingLoadBalancers,
  lacking: ReadonlySet<string>,
): CheckFinding[] {
  if (!lacking.has("service")) return [];
  return [
    {
      level: "failure",
      code: "serviceController",
      source: "--controllers",
      message: `${SERVICE_CHOSEN}: ${message}`,
      advice: `add -service to --controllers; if Services need load balancers of the cloud, ${advice}`,
    },
  ];
}

/**
 * Looks for Services with a load balancer of the cloud, and for the program that manages them instead of Landfall.
 *
 * @throws the signal's reason
 */
export async function checkLoadBalancers(
  search: LoadBalancerSearch,
  signal: AbortSignal,
): Promise<CheckFinding> {
  const { client, missing } = search;
  const code = "loadBalancers";
  try {
    const use = await findLoadBalancers(client, signal);
    if (use.count === 0) {
      return { level: "ok", code, message: "no Service has a load balancer of the cloud" };
    }
    const what = describeUse(use);
    const holder = await findManager(search, signal);
    if (holder !== undefined) {
      const message = `${what}; ${holder} manages them, if it runs with --controllers=service`;
      return { level: "warning", code, message, advice: `keep it running: ${missing.message}` };
    }
    const lease = `${search.namespace}/${missing.lease}`;
    const message = `${what}, and no process holds Lease ${lease}: ${missing.message}`;
    return { level: "failure", code, message, advice: missing.advice };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof KubeError)) throw error;
    const advice = "run landfall check with a kubeconfig that may list Services";
    return { level: "warning", code, message: `${CANNOT_LIST}: ${error.message}`, advice };
  }
}

/** The program that renews the Lease for load balancers. @throws the signal's reason */
async function findManager(
  { client, missing, namespace, nowMs }: LoadBalancerSearch,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path: LeaseName = { namespace, name: missing.lease };
  try {
    const lease = await client.read(LEASES, path, signal);
    if (!isHeldNow(lease, nowMs)) return undefined;
    return `the holder of Lease ${namespace}/${missing.lease} (${findHolder(lease)})`;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}
