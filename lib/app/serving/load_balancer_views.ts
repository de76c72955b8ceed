/**
 * The data of the pages about load balancers: the Services of the controller that makes them.
 * @module
 */
import type { LoadBalancerSource, LoadBalancerView } from "../../http/load_balancer_views.ts";
import { SERVICES } from "../../kube/kinds/service.ts";
import type { Parts } from "../parts.ts";

/** Reads the controller of Services. Absent: none of the chosen ones works on them. */
export function toLoadBalancerSource(chosen: Parts["controllers"]): LoadBalancerSource | undefined {
  const { controller } = chosen.find(({ definition }) => definition.kind === SERVICES) ?? {};
  const { objects } = controller ?? {};
  if (controller === undefined || objects === undefined) return undefined;
  const find = (key: string): LoadBalancerView | undefined => {
    const service = objects.get(key);
    const description = service && controller.describe?.(service);
    if (service === undefined || description === undefined) return undefined;
    const { namespace = "", name } = service.metadata;
    const view: LoadBalancerView = {
      namespace,
      name,
      state: "working",
      addresses: [],
      ports: [],
      parts: [],
      problems: [],
      steps: [],
      lastReconcile: null,
    };
    return Object.assign(view, description);
  };
  return {
    find,
    listLeftovers: () => controller.listLeftovers?.() ?? [],
    listPools: () => controller.listPools?.() ?? [],
    *list() {
      for (const key of [...objects.keys()].sort()) {
        const view = find(key);
        if (view !== undefined) yield view;
      }
    },
  };
}
