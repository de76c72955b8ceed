/**
 * What the cloud, or the address pools, offer for Services of type LoadBalancer, for `landfall check`.
 * @module
 */
import type { LoadBalancers } from "../../../cloud/capabilities/load_balancers.ts";
import { CloudError } from "../../../cloud/errors.ts";
import { inspectPools } from "../../../cloud/pools/inspection.ts";
import { PoolMap } from "../../../cloud/pools/pool.ts";
import { LOAD_BALANCERS } from "../../../cloud/pools/settings.ts";
import type { Provider } from "../../../cloud/provider.ts";
import { findSettings, type SectionValues } from "../../../cloud/settings/section.ts";
import type { ControllerDefinition } from "../../../controllers/definition.ts";
import { toClaim } from "../../../controllers/service/spec/spec.ts";
import { NAME } from "../../../controllers/service/words.ts";
import type { Service } from "../../../kube/kinds/service.ts";
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
 * Asks the cloud what it offers; without load balancers of its own, says how full the address pools are. Asks nothing
 * if the controller `service` does not run.
 *
 * @throws the signal's reason
 */
async function checkLoadBalancers(
  { provider, sections, fitting, served, nodes }: BalancerSearch,
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
  const late = (finding: CheckFinding): readonly CheckFinding[] => [finding];
  return await inTime(signal, late, async (deadline) => {
    try {
      return (await loadBalancers.inspect?.({ claims, instanceIds }, deadline)) ?? [];
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CloudError)) throw error;
      return [{ level: "failure", code: "loadBalancers", message: error.message }];
    }
  });
}
