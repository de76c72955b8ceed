/**
 * The rights that Landfall needs, and whether it has them.
 * @module
 */
import type { FindingLevel } from "../cloud/inspection.ts";
import type { KubeClient } from "../kube/client.ts";
import { type Access, type AccessAnswer, reviewAccess } from "../kube/review.ts";
import { type PermissionAnswer, type PermissionsStep, toStatus } from "./check_report.ts";

/** A right and what it is needed for. */
export interface Requirement {
  readonly access: Access;
  /** What it is needed for, as the end of a sentence. */
  readonly purpose: string;
  /** Whether Landfall cannot do its work without it. */
  readonly mandatory: boolean;
  /** The controllers that need it; any when absent. */
  readonly controllers?: readonly string[];
  /** Whether only the deletion of Nodes needs it. */
  readonly isForDeletion?: boolean;
}

const NODES = { group: "", resource: "nodes" } as const;
/** Events about Nodes, which have no namespace, are in this one. */
const EVENTS = { group: "", resource: "events", namespace: "default" } as const;
const LEASES = {
  group: "coordination.k8s.io",
  resource: "leases",
  namespace: "kube-system",
} as const;
const NODE = "cloud-node";
const LIFECYCLE = "cloud-node-lifecycle";
const ELECTION = "for leader election, which is not there yet";

/** Every right that a controller uses, in the order of the table. */
export const REQUIREMENTS: readonly Requirement[] = [
  { access: { ...NODES, verb: "list" }, purpose: "to know the Nodes", mandatory: true },
  { access: { ...NODES, verb: "watch" }, purpose: "to see them change", mandatory: true },
  {
    access: { ...NODES, verb: "patch" },
    purpose: "to set provider IDs, labels and taints",
    mandatory: true,
  },
  {
    access: { ...NODES, subresource: "status", verb: "patch" },
    purpose: "to set addresses",
    mandatory: true,
    controllers: [NODE],
  },
  {
    access: { ...NODES, verb: "get" },
    purpose: "to look once more before a Node is deleted",
    mandatory: true,
    controllers: [LIFECYCLE],
    isForDeletion: true,
  },
  {
    access: { ...NODES, verb: "delete" },
    purpose: "to delete Nodes whose machine is gone",
    mandatory: true,
    controllers: [LIFECYCLE],
    isForDeletion: true,
  },
  {
    access: { ...EVENTS, verb: "create" },
    purpose: "to say on a Node what was done, and why not",
    mandatory: false,
  },
  {
    access: { ...EVENTS, verb: "patch" },
    purpose: "to count Events that come again",
    mandatory: false,
  },
  { access: { ...LEASES, verb: "get" }, purpose: ELECTION, mandatory: false },
  { access: { ...LEASES, verb: "create" }, purpose: ELECTION, mandatory: false },
  { access: { ...LEASES, verb: "update" }, purpose: ELECTION, mandatory: false },
];

/** What decides which rights are needed. */
export interface Needs {
  /** Names of the controllers that run. */
  readonly controllers: ReadonlySet<string>;
  /** Whether Nodes may be deleted at all. */
  readonly isDeletionEnabled: boolean;
}

/**
 * Asks for every right that is needed.
 *
 * @throws the signal's reason
 */
export async function checkPermissions(
  client: KubeClient,
  { controllers, isDeletionEnabled }: Needs,
  signal: AbortSignal,
): Promise<PermissionsStep> {
  const needed = REQUIREMENTS.filter(
    ({ controllers: users, isForDeletion = false }) =>
      (isDeletionEnabled || !isForDeletion) &&
      (users === undefined || users.some((name) => controllers.has(name))),
  );
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
  { access, purpose, mandatory }: Requirement,
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
