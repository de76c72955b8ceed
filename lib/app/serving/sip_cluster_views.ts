/**
 * The data of the pages about SIPClusters: the clusters of their controller, and all hosts.
 * @module
 */
import type {
  SipClusterSource,
  SipClusterView,
  SipHostView,
} from "../../http/sip_clusters/views.ts";
import type { Parts } from "../parts.ts";

/** Reads the controller whose objects share hosts. Absent: none of the chosen ones has hosts. */
export function toSipClusterSource(chosen: Parts["controllers"]): SipClusterSource | undefined {
  const { controller } = chosen.find((one) => one.controller.listHosts !== undefined) ?? {};
  const { objects } = controller ?? {};
  if (controller === undefined || objects === undefined) return undefined;
  const find = (key: string): SipClusterView | undefined => {
    const cluster = objects.get(key);
    const description = cluster && controller.describe?.(cluster);
    if (cluster === undefined || description === undefined) return undefined;
    const { namespace = "", name } = cluster.metadata;
    const view: SipClusterView = {
      namespace,
      name,
      state: "working",
      roles: [],
      conditions: [],
      breaches: [],
      endpoints: [],
      topologyKeys: [],
      lastReconcile: null,
    };
    return Object.assign(view, description);
  };
  return {
    find,
    *list() {
      for (const key of [...objects.keys()].sort()) {
        const view = find(key);
        if (view !== undefined) yield view;
      }
    },
    *listHosts() {
      for (const { key, ...host } of controller.listHosts?.() ?? []) {
        const [namespace = "", name = ""] = key.split("/");
        const view: SipHostView = { namespace, name, ...host };
        yield view;
      }
    },
  };
}
