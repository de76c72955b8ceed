/**
 * Checks the spec of a SIPCluster.
 * @module
 */
import { checkBySchema, type Checked } from "../../kinds/check.ts";
import { SPEC } from "./schema/spec.ts";
import type { SipCluster, SipClusterSpec } from "./sip_cluster.ts";

/** Kubernetes allows longer names of objects, but not of labels' values. */
const NAME_LENGTH_MAX = 63;

/** Checks the spec of a cluster, and its name, which becomes the value of a label on its hosts. */
export function checkCluster({ metadata: { name }, spec }: SipCluster): Checked<SipClusterSpec> {
  const checked = checkSpec(spec);
  if (name.length <= NAME_LENGTH_MAX) return checked;
  const message = `must have at most ${NAME_LENGTH_MAX} characters, because hosts get it as the value of a label`;
  const problems = checked.isValid ? [] : checked.problems;
  return { isValid: false, problems: [{ path: "metadata.name", message }, ...problems] };
}

/** Checks a spec. Fields that the schema does not have are left out, as an API server does. */
export function checkSpec(spec: unknown): Checked<SipClusterSpec> {
  return checkBySchema(SPEC, spec);
}
