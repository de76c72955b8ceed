/**
 * Whether the credentials have the rights that Landfall needs.
 * @module
 */
import { listRights, type Needs } from "../../app/rights.ts";
import type { FindingLevel } from "../../cloud/inspection.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { type Access, type AccessAnswer, reviewAccess } from "../../kube/access/review.ts";
import type { Right } from "../../kube/access/rights.ts";
import { type PermissionAnswer, type PermissionsStep, toStatus } from "./report.ts";

/**
 * Asks for every right that is needed.
 *
 * @throws the signal's reason
 */
export async function checkPermissions(
  client: KubeClient,
  needs: Needs,
  signal: AbortSignal,
): Promise<PermissionsStep> {
  const needed = listRights(needs);
  const answers = await reviewAccess(
    client,
    needed.map(({ access }) => access),
    signal,
  );
  const permissions = needed.map((one, at) => toPermission(one, answers[at]));
  return { status: toStatus(permissions), findings: [], permissions, ...toAdvice(permissions) };
}

/** `nodes/status`, or `leases.coordination.k8s.io`. */
export function formatResource({ group, resource, subresource }: Access): string {
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  return group === "" ? full : `${full}.${group}`;
}

function toPermission(
  { access, purpose, mandatory }: Right,
  answer: AccessAnswer = { allowed: "unknown" },
): PermissionAnswer {
  const missing: FindingLevel = mandatory ? "failure" : "warning";
  const level = answer.allowed === "yes" ? "ok" : missing;
  return { ...access, ...answer, level, purpose, mandatory };
}

function toAdvice(permissions: readonly PermissionAnswer[]): { advice?: string } {
  const missing = permissions.filter(({ allowed }) => allowed !== "yes");
  if (missing.length === 0) return {};
  const lease = missing.find(({ resource }) => resource === "leases");
  const role = lease ? ` (for leases a Role in ${lease.namespace})` : "";
  const grant = `grant what is missing to the user of the credentials, by a ClusterRole${role} and its binding`;
  // The manifests grant one Lease, and it is not the one that is used when no flag names any.
  const isNamed = missing.some(({ resource, name }) => resource === "leases" && name);
  const flag = "--leader-elect-resource-name";
  return { advice: isNamed ? `${grant}; or name by ${flag} the Lease that it may use` : grant };
}
