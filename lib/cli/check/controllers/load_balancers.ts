/**
 * What the cloud, or the address pools, offer for Services of type LoadBalancer, for `landfall check`.
 * @module
 */
import type { ClusterFacts, LoadBalancers } from "../../../cloud/capabilities/load_balancers.ts";
import { CloudError } from "../../../cloud/errors.ts";
import { inspectPools } from "../../../cloud/pools/inspection.ts";
import { PoolMap } from "../../../cloud/pools/pool.ts";
import { LOAD_BALANCERS } from "../../../cloud/pools/settings.ts";
import type { Provider } from "../../../cloud/provider.ts";
import { findSettings, type SectionValues } from "../../../cloud/settings/section.ts";
import type { ControllerDefinition } from "../../../controllers/definition.ts";
import { toClaim } from "../../../controllers/service/spec/spec.ts";
import { NAME } from "../../../controllers/service/words.ts";
import { toLiveServices } from "../../../controllers/service/spec/live.ts";
import { CLUSTER_SERVICE, readClusterIds } from "../../../controllers/service/start/cluster_ids.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import { KubeError } from "../../../kube/api/errors.ts";
import { listAll } from "../../../kube/cache/list_all.ts";
import { toKey } from "../../../kube/cache/store.ts";
import { type Service, SERVICES } from "../../../kube/kinds/service.ts";
import { inTime } from "../deadline.ts";
import { addFindings, type CheckFinding, type CloudStep, type NodesStep } from "../report.ts";

/** What {@linkcode checkLoadBalancers} looks with. */
export interface BalancerSearch {
  readonly provider: Provider | undefined;
  readonly sections: SectionValues | undefined;
  /** The controllers that run. */
  readonly fitting: readonly Pick<ControllerDefinition, "name">[];
  readonly served: readonly Service[];
  readonly nodes: NodesStep["nodes"];
  /** Absent: Kubernetes cannot be asked. */
  readonly client: Pick<KubeClient, "list" | "read"> | undefined;
}

const SERVICES_PER_PAGE = 500;

/** Adds what {@linkcode checkLoadBalancers} finds to the step of the cloud. @throws the signal's reason */
export async function addLoadBalancers(
  step: CloudStep,
  search: BalancerSearch,
  signal: AbortSignal,
): Promise<CloudStep> {
  const findings = await checkLoadBalancers(search, signal);
  return findings.length === 0 ? step : addFindings(step, findings);
}

/**
 * Asks the cloud what it offers; without load balancers of its own, says how full the address pools are. Asks nothing
 * if the controller `service` does not run.
 *
 * @throws the signal's reason
 */
async function checkLoadBalancers(
  { provider, sections, fitting, served, nodes, client }: BalancerSearch,
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  if (provider === undefined || !fitting.some(({ name }) => name === NAME)) return [];
  const claims = served.map(toClaim);
  const loadBalancers: LoadBalancers | undefined = provider.loadBalancers;
  if (loadBalancers === undefined) {
    const { pools } = findSettings(LOAD_BALANCERS, sections) ?? LOAD_BALANCERS.standard;
    return inspectPools(new PoolMap(pools), claims);
  }
  const instanceIds = new Set(nodes.flatMap(({ instance }) => instance?.id ?? []));
  const readCluster = (deadline: AbortSignal): Promise<ClusterFacts | undefined> =>
    findCluster(client, deadline);
  const late = (finding: CheckFinding): readonly CheckFinding[] => [finding];
  return await inTime(signal, late, async (deadline) => {
    try {
      return (await loadBalancers.inspect?.({ claims, instanceIds, readCluster }, deadline)) ?? [];
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CloudError)) throw error;
      return [{ level: "failure", code: "loadBalancers", message: error.message }];
    }
  });
}

/** Reads what says which objects of the cloud are of this cluster. @throws the signal's reason */
async function findCluster(
  client: BalancerSearch["client"],
  signal: AbortSignal,
): Promise<ClusterFacts | undefined> {
  if (client === undefined) return undefined;
  try {
    const { items } = await listAll(client, SERVICES, { limit: SERVICES_PER_PAGE }, signal);
    const service = items.find((one) => toKey(one) === CLUSTER_SERVICE);
    const ids = await readClusterIds(client, service, signal);
    return ids && { ids, services: toLiveServices(items) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}
