/**
 * Rights that the controller of Services needs in addition to those of every controller.
 * @module
 */
import type { Right } from "../../kube/access/rights.ts";

const SERVICES = { group: "", resource: "services" };

/** Rights to write the status, the finalizer and the record, and to know the cluster. */
export const RIGHTS: readonly Right[] = [
  {
    access: { ...SERVICES, verb: "get" },
    purpose: "to read a Service again that another program changed at the same time",
    mandatory: true,
  },
  {
    access: { ...SERVICES, subresource: "status", verb: "patch" },
    purpose: "to write the address, the finalizer and the record of a load balancer",
    mandatory: true,
  },
  {
    access: { group: "", resource: "namespaces", name: "kube-system", verb: "get" },
    purpose: "to mark load balancers with the ID of this cluster",
    mandatory: false,
  },
];
