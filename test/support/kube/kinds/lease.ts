/**
 * Leases of a real cluster.
 * @module
 */
import type { Lease } from "../../../../lib/kube/kinds/lease.ts";

/** Whether a Lease in kube-system is that by which an API server says that it is there. */
export function isOfApiServer({ metadata }: Lease): boolean {
  return metadata.labels?.["apiserver.kubernetes.io/identity"] === "kube-apiserver";
}
