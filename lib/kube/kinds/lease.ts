/**
 * Leases, with which processes elect a leader.
 * @module
 */
import type { V1Lease } from "@kubernetes/client-node";
import type { Kind, KubeObject, Raw } from "./resource.ts";

/** A Lease on the wire. */
export type Lease = Omit<Raw<V1Lease>, "metadata"> & KubeObject;

/** Leases. */
export const LEASES: Kind<Lease> = {
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};
