/**
 * Checks the spec of a SIPCluster.
 * @module
 */
import { checkBySchema, type Checked, checkNamed } from "../../kinds/parts.ts";
import { SPEC } from "./schema/spec.ts";
import type { SipCluster, SipClusterSpec } from "./sip_cluster.ts";

/** Checks the spec of a cluster, and its name, which becomes the value of a label on its hosts. */
export function checkCluster(cluster: SipCluster): Checked<SipClusterSpec> {
  return checkNamed(SPEC, cluster);
}

/** Checks a spec. Fields that the schema does not have are left out, as an API server does. */
export function checkSpec(spec: unknown): Checked<SipClusterSpec> {
  return checkBySchema(SPEC, spec);
}
