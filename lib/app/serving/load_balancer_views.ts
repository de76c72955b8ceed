/**
 * The data of the pages about load balancers: the Services of the controller that makes them.
 * @module
 */
import type { LoadBalancerSource, LoadBalancerView } from "../../http/load_balancers/views.ts";
import { SERVICES } from "../../kube/kinds/service.ts";
import type { Parts } from "../parts.ts";
import { describeObjects, type NamedView } from "./served_objects.ts";

/** Reads the controller of Services. Absent: none of the chosen ones works on them. */
export function toLoadBalancerSource(chosen: Parts["controllers"]): LoadBalancerSource | undefined {
  const { controller } = chosen.find(({ definition }) => definition.kind === SERVICES) ?? {};
  if (controller === undefined) return undefined;
  const services = describeObjects<Omit<LoadBalancerView, keyof NamedView>>(controller, {
    state: "working",
    addresses: [],
    ports: [],
    parts: [],
    problems: [],
    steps: [],
    lastReconcile: null,
  });
  return (
    services && {
      ...services,
      listLeftovers: () => controller.listLeftovers?.() ?? [],
      listPools: () => controller.listPools?.() ?? [],
    }
  );
}
