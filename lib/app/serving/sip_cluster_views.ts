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
import { findServedObjects, type NamedView } from "./served_objects.ts";

/** Reads the controller whose objects share hosts. Absent: none of the chosen ones has hosts. */
export function toSipClusterSource(
  parts: Pick<Parts, "caches" | "groups">,
): SipClusterSource | undefined {
  const served = findServedObjects<Omit<SipClusterView, keyof NamedView>>(
    parts,
    ({ listHosts }) => listHosts !== undefined,
    {
      state: "working",
      roles: [],
      conditions: [],
      notes: [],
      breaches: [],
      endpoints: [],
      topologyKeys: [],
      lastReconcile: null,
    },
  );
  if (served === undefined) return undefined;
  const { controller, ...objects } = served;
  return {
    ...objects,
    *listHosts() {
      for (const { key, ...host } of controller.listHosts?.() ?? []) {
        const [namespace = "", name = ""] = key.split("/");
        const view: SipHostView = { namespace, name, ...host };
        yield view;
      }
    },
  };
}
