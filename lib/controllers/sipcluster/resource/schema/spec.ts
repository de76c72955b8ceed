/**
 * The schema of `spec`, from which its check, the CRD and the reference page come.
 * @module
 */
import type { SipClusterSpec } from "../sip_cluster.ts";
import { NODES, SCHEDULING } from "./nodes.ts";
import { object, optional, required, type Schema } from "../../../kinds/parts.ts";
import { SERVICES } from "./services.ts";

/** The schema of `spec`. */
export const SPEC: Schema<SipClusterSpec> = object<SipClusterSpec>({
  nodes: optional(
    NODES,
    "The hosts of the cluster by role: ControlPlane and Worker. All roles get all that they want, or none gets more.",
  ),
  services: required(SERVICES, "The services that stand before the cluster. May be {}."),
  scheduling: optional(SCHEDULING, "How hosts are chosen and given back."),
});
