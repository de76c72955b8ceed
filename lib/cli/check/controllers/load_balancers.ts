/**
 * What the cloud, or the address pools, offer for Services of type LoadBalancer, for `landfall check`.
 * @module
 */
import type {
  ClusterFacts,
  LoadBalancerBackend,
  LoadBalancers,
} from "../../../cloud/capabilities/load_balancers.ts";
import { CloudError } from "../../../cloud/errors.ts";
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { Occupied } from "../../../cloud/pools/allocations.ts";
import { inspectPools } from "../../../cloud/pools/inspection.ts";
import { PoolMap } from "../../../cloud/pools/pool.ts";
import { LOAD_BALANCERS } from "../../../cloud/pools/settings.ts";
import type { Provider } from "../../../cloud/provider.ts";
import { findSettings, type SectionValues } from "../../../cloud/settings/schema.ts";
import type { ControllerDefinition } from "../../../controllers/definition.ts";
import { toOccupied } from "../../../controllers/service/occupied_addresses.ts";
import { toClaim, toLiveServices } from "../../../controllers/service/spec.ts";
import { isBackendNode, listInternalIps } from "../../../controllers/service/node_set.ts";
import { NAME } from "../../../controllers/service/words.ts";
import { CLUSTER_SERVICE, readClusterIds } from "../../../controllers/service/cluster_ids.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import { KubeError } from "../../../kube/api/errors.ts";
import { toKey } from "../../../kube/cache/store.ts";
import { NODES } from "../../../kube/kinds/node.ts";
import { type Service, SERVICES } from "../../../kube/kinds/service.ts";
import { listObjects, tryList } from "../../listing.ts";
import { inTime } from "../deadline.ts";
import { addFindings, type CheckFinding, type CloudStep, type NodesStep } from "../report.ts";
import { listWithoutPools } from "./without_pools.ts";

/** What {@linkcode checkLoadBalancers} looks with. */
interface BalancerSearch {
  readonly provider: Provider | undefined;
  readonly sections: SectionValues | undefined;
  /** Also those that cannot run: without pools, `service` is one of them. */
  readonly chosen: readonly Pick<ControllerDefinition, "name">[];
  readonly served: readonly Service[];
  readonly nodes: NodesStep["nodes"];
  /** Absent: the cloud cannot be used. */
  readonly inventory?: Inventory | undefined;
  /** Absent: Kubernetes cannot be asked. */
  readonly client: Pick<KubeClient, "list" | "read"> | undefined;
}

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
 * Asks the cloud what it offers; without load balancers of its own, says how full the address pools are. Asks the cloud
 * nothing if the controller `service` is not chosen.
 *
 * @throws the signal's reason
 */
async function checkLoadBalancers(
  { provider, sections, chosen, served, nodes, client, inventory }: BalancerSearch,
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  if (provider === undefined || !chosen.some(({ name }) => name === NAME)) return [];
  const { pools, sharing } = findSettings(LOAD_BALANCERS, sections) ?? LOAD_BALANCERS.standard;
  const loadBalancers: LoadBalancers | undefined = provider.loadBalancers;
  if (loadBalancers === undefined && pools.length === 0) return await checkPoolless(client, signal);
  const claims = served.map(toClaim);
  if (loadBalancers === undefined) {
    return await inTime(
      signal,
      (finding) => [finding],
      async (deadline) => {
        const occupied = await readOccupied({ client, served, inventory }, deadline);
        return inspectPools(new PoolMap(pools), claims, occupied);
      },
    );
  }
  const readCluster = (deadline: AbortSignal): Promise<ClusterFacts | undefined> =>
    findCluster(client, deadline);
  const late = (finding: CheckFinding): readonly CheckFinding[] => [finding];
  return await inTime(signal, late, async (deadline) => {
    try {
      const backends = await listBackends(client, nodes, deadline);
      const known = { claims, backends, readCluster, listSharingRules: () => sharing };
      return (await loadBalancers.inspect?.(known, deadline)) ?? [];
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CloudError)) throw error;
      return [{ level: "failure", code: "loadBalancers", message: error.message }];
    }
  });
}

/** What else uses addresses than Services that Landfall serves, if Kubernetes shows it. @throws the signal's reason */
async function readOccupied(
  { client, served, inventory }: Pick<BalancerSearch, "client" | "inventory" | "served">,
  signal: AbortSignal,
): Promise<Occupied> {
  const nodes = (await tryList(client, NODES, signal)) ?? [];
  const services = (await tryList(client, SERVICES, signal)) ?? [];
  const uids = new Set(served.map(({ metadata }) => metadata.uid));
  const isServed = ({ metadata }: Service): boolean => uids.has(metadata.uid);
  const instances = inventory?.instances.values() ?? [];
  return toOccupied({ nodes, instances, services, isServed });
}

/** Looks for Services that have an address of pools that are gone. @throws the signal's reason */
async function checkPoolless(
  client: BalancerSearch["client"],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  return await inTime(
    signal,
    () => [],
    // Without pools, no right on Services is mandatory.
    async (deadline) => listWithoutPools((await tryList(client, SERVICES, deadline)) ?? []),
  );
}

/**
 * The Nodes with an instance that may get traffic; without an answer of Kubernetes, all with an instance, and without
 * their addresses.
 *
 * @throws the signal's reason
 */
async function listBackends(
  client: BalancerSearch["client"],
  plans: BalancerSearch["nodes"],
  signal: AbortSignal,
): Promise<readonly LoadBalancerBackend[]> {
  if (!plans.some(({ instance }) => instance)) return [];
  const listed = await tryList(client, NODES, signal);
  const nodes = listed && new Map(listed.map((node) => [node.metadata.name, node]));
  return plans.flatMap(({ name, instance }): LoadBalancerBackend[] => {
    if (instance === undefined) return [];
    const known = { nodeName: name, instanceId: instance.id };
    if (nodes === undefined) return [{ ...known, internalIps: [] }];
    const node = nodes.get(name);
    if (node === undefined || !isBackendNode(node)) return [];
    return [{ ...known, internalIps: listInternalIps(node) }];
  });
}

/** Reads what says which objects of the cloud are of this cluster. @throws the signal's reason */
async function findCluster(
  client: BalancerSearch["client"],
  signal: AbortSignal,
): Promise<ClusterFacts | undefined> {
  if (client === undefined) return undefined;
  try {
    const items = await listObjects(client, SERVICES, signal);
    const service = items.find((one) => toKey(one) === CLUSTER_SERVICE);
    const ids = await readClusterIds(client, service, signal);
    return ids && { ids, services: toLiveServices(items) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}
