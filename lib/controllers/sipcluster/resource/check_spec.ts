/**
 * Checks the spec of a SIPCluster: refuses what the CRD refuses, because API servers older than 1.25 ignore its rules.
 * @module
 */
import * as v from "valibot";
import type { SpecProblem } from "./problems.ts";
import { SPEC } from "./schema/spec.ts";
import type { SipCluster, SipClusterSpec } from "./sip_cluster.ts";

/** A spec, or what is wrong with it. */
export type CheckedSpec =
  | { readonly isValid: true; readonly spec: SipClusterSpec }
  | { readonly isValid: false; readonly problems: readonly SpecProblem[] };

/** Kubernetes allows longer names of objects, but not of labels' values. */
const NAME_LENGTH_MAX = 63;

/** Checks the spec of a cluster, and its name, which becomes the value of a label on its hosts. */
export function checkCluster({ metadata: { name }, spec }: SipCluster): CheckedSpec {
  const checked = checkSpec(spec);
  if (name.length <= NAME_LENGTH_MAX) return checked;
  const message = `must have at most ${NAME_LENGTH_MAX} characters, because hosts get it as the value of a label`;
  const problems = checked.isValid ? [] : checked.problems;
  return { isValid: false, problems: [{ path: "metadata.name", message }, ...problems] };
}

/** Checks a spec. Fields that the schema does not have are left out, as an API server does. */
export function checkSpec(spec: unknown): CheckedSpec {
  const result = v.safeParse(SPEC, spec);
  if (result.success) return { isValid: true, spec: result.output };
  const problems = result.issues.map((issue) => ({
    path: toPath(issue.path),
    message: toMessage(issue),
  }));
  return { isValid: false, problems };
}

function toPath(path: readonly { readonly key: unknown }[] = []): string {
  const keys = path.map(({ key }) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
  return `spec${keys.join("")}`;
}

function toMessage({ type, kind, received, message }: v.BaseIssue<unknown>): string {
  if (kind !== "schema") return message;
  if (received === "undefined") return "must be set";
  return type === "object" ? "must be a map" : message;
}
