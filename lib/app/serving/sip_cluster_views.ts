/**
 * The data of the pages about SIPClusters: the clusters of their controller, and all hosts.
 * @module
 */
import type {
  SipClusterSource,
  SipClusterView,
  SipHostView,
} from "../../http/sip_clusters/views.ts";
import { toElectionView } from "../leadership.ts";
import type { Parts } from "../parts.ts";
import { formatDefinition } from "./process_view.ts";

/** Reads the controller whose objects share hosts. Absent: none of the chosen ones has hosts. */
export function toSipClusterSource({
  caches,
  groups,
}: Pick<Parts, "caches" | "groups">): SipClusterSource | undefined {
  const [found] = groups.flatMap(({ elector, controllers }) =>
    controllers
      .filter(({ controller }) => controller.listHosts !== undefined)
      .map((one) => ({ elector, ...one })),
  );
  if (found?.controller.objects === undefined) return undefined;
  const { elector, controller, definition } = found;
  const { objects } = found.controller;
  const kinds = new Set(
    definition.watches.map(({ plural, apiVersion }) => `${apiVersion} ${plural}`),
  );
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
    readServing: () => ({
      ...(elector && { election: toElectionView(elector) }),
      missing: caches.states
        .filter(
          ({ apiVersion, resource, missing }) => missing && kinds.has(`${apiVersion} ${resource}`),
        )
        .map(formatDefinition),
    }),
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
