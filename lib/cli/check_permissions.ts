/**
 * Whether the credentials have the rights that Landfall needs.
 * @module
 */
import { listRights, type Needs } from "../app/rights.ts";
import type { FindingLevel } from "../cloud/inspection.ts";
import type { KubeClient } from "../kube/client.ts";
import { type Access, type AccessAnswer, reviewAccess } from "../kube/review.ts";
import type { Right } from "../kube/rights.ts";
import { type PermissionAnswer, type PermissionsStep, toStatus } from "./check_report.ts";

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
  if (permissions.every(({ allowed }) => allowed === "yes")) return {};
  return {
    advice:
      "grant what is missing to the user of the credentials, by a ClusterRole (for leases a Role in kube-system) " +
      "and its binding",
  };
}
