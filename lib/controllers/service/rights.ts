/**
 * Rights that the controller of Services needs in addition to those of every controller.
 * @module
 */
import { type Right, toRights } from "../../kube/access/rights.ts";

const SERVICES = { group: "", resource: "services" };

/** Rights to write the status, the finalizer and the record, and to know the cluster. */
export function listRights(): Right[] {
  return [
    ...toRights(
      SERVICES,
      ["get"],
      "to read a Service again that another program changed at the same time",
    ),
    ...toRights(
      { ...SERVICES, subresource: "status" },
      ["patch"],
      "to write the address, the finalizer and the record of a load balancer",
    ),
    ...toRights(
      { group: "", resource: "namespaces", name: "kube-system" },
      ["get"],
      "to mark load balancers with the ID of this cluster",
      { mandatory: false },
    ),
  ];
}
