/**
 * Whether a user has the permissions that Landfall needs.
 * @module
 */
import { listRights, type Needs } from "../../app/rights.ts";
import type { FindingLevel } from "../../cloud/inspection.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { type Access, type AccessAnswer, reviewAccess } from "../../kube/access/rights.ts";
import { MANIFEST_USER, type RightsManifest } from "./manifests.ts";
import {
  type CheckFinding,
  COMMAND_MARK,
  type PermissionAnswer,
  type PermissionsStep,
  toStatus,
} from "./report.ts";
import { type AnsweredRight, NAMESPACES_MAX, reviewScopes } from "./scopes.ts";

/**
 * Asks about every permission that is needed.
 *
 * @param client Acts as the user
 * @param needs What is needed, the manifest that grants it, and the user if another one is checked than that of the
 * credentials
 * @throws the signal's reason
 */
export async function checkPermissions(
  client: KubeClient,
  { manifest, user, ...needs }: Needs & Granting,
  signal: AbortSignal,
): Promise<PermissionsStep> {
  const needed = listRights(needs);
  const answers = await reviewAccess(
    client,
    needed.map(({ access }) => access),
    signal,
  );
  const everywhere = needed.map((right, at) => ({ right, answer: answers[at] ?? UNKNOWN }));
  // What is missing everywhere may be there in each namespace that needs it.
  const isNarrow = ({ right, answer }: AnsweredRight): boolean =>
    right.scope !== undefined && answer.allowed === "no";
  const missing = everywhere.filter(isNarrow).map(({ right }) => right);
  const narrow =
    missing.length === 0
      ? { answers: [], hasNoPlace: false, leftOut: 0 }
      : await reviewScopes(client, missing, needs, signal);
  const wide = everywhere.filter((one) => !isNarrow(one)).map(toPermission);
  const scoped = narrow.answers.map(toPermission);
  const granting = { manifest, user };
  const advice = [
    ...toAdvice(wide, {
      ...granting,
      ownLease: needs.lease?.name,
      inManifest: listInManifest(needs, manifest),
    }),
    ...adviseBindings(scoped, granting),
  ].join("\n");
  const permissions = [...wide, ...scoped];
  return {
    status: toStatus(permissions),
    findings: [
      ...(narrow.hasNoPlace ? [NO_PLACE] : []),
      ...(narrow.leftOut > 0 ? [toLeftOut(narrow.leftOut)] : []),
    ],
    permissions,
    ...(advice !== "" && { advice }),
  };
}

const UNKNOWN: AccessAnswer = { allowed: "unknown" };
/** Not yet wrong: who installs Landfall makes its first objects later. */
const NO_PLACE: CheckFinding = {
  level: "ok",
  code: "noTenants",
  message:
    "the rights that are needed in namespaces of tenants were not checked: no namespace has an object of these " +
    "controllers",
};

function toLeftOut(count: number): CheckFinding {
  const others = count === 1 ? "1 other namespace" : `${count} other namespaces`;
  return {
    level: "warning",
    code: "namespacesLeftOut",
    message: `rights were checked in the first ${NAMESPACES_MAX} namespaces only: ${others} were left out`,
    advice: "when these namespaces have the rights, give them to the others in the same way",
  };
}

interface Granting {
  /** The manifest that grants the permissions to {@linkcode MANIFEST_USER}. */
  readonly manifest: RightsManifest;
  readonly user?: string | undefined;
}

interface Advising extends Granting {
  /** The Lease that a flag names. */
  readonly ownLease: string | undefined;
}

/** The rights in the manifest. */
function listInManifest(needs: Needs, { controllers }: RightsManifest): ReadonlySet<string> {
  return new Set(
    listRights({ ...needs, controllers, flags: {} }).map(({ access }) => formatVerb(access)),
  );
}

function formatVerb(access: Access): string {
  return `${access.verb} ${formatNamed(access)}`;
}

/** A Role can grant a right on one object alone. */
function formatNamed(access: Access): string {
  return `${formatResource(access)} ${access.name ?? ""}`;
}

/** `nodes/status`, or `leases.coordination.k8s.io`. */
export function formatResource({ group, resource, subresource }: Access): string {
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  return group === "" ? full : `${full}.${group}`;
}

function toPermission({ right, answer, isOfHosts = false }: AnsweredRight): PermissionAnswer {
  const { access, purpose, mandatory } = right;
  const missing: FindingLevel = mandatory && !isOfHosts ? "failure" : "warning";
  const level = answer.allowed === "yes" ? "ok" : missing;
  return { ...access, ...answer, level, purpose, mandatory };
}

function toAdvice(
  permissions: readonly PermissionAnswer[],
  { inManifest, ...granting }: Advising & { readonly inManifest: ReadonlySet<string> },
): string[] {
  const missing = permissions.filter(({ allowed }) => allowed !== "yes");
  if (missing.length === 0) return [];
  if (missing.every(({ reason = "" }) => /cannot impersonate/.test(reason))) {
    return ["allow your own user the verb impersonate, or leave out --as"];
  }
  const { granted = [], further = [] } = Object.groupBy(missing, (access) =>
    inManifest.has(formatVerb(access)) ? "granted" : "further",
  );
  return [
    ...(granted.length > 0 ? [adviseManifest(granted, granting)] : []),
    ...(further.length > 0 ? [adviseCommands(further, granting)] : []),
  ];
}

/** How to let the user work in namespaces. The chart names its roles by the release. */
function adviseBindings(
  permissions: readonly PermissionAnswer[],
  { manifest: { path, serviceAccount }, user = "NAME" }: Granting,
): string[] {
  const missing = permissions.filter(({ allowed }) => allowed !== "yes");
  const ofTenants = missing.filter(({ verb }) => verb !== "get" && verb !== "patch");
  const bind = (role: string, some: readonly PermissionAnswer[]): string[] =>
    [...new Set(some.map(({ namespace = "" }) => namespace))].map((namespace) => {
      const folder = path.split("/").at(-2);
      const [account] = serviceAccount.split(":").slice(-1);
      const name = `${user === serviceAccount ? account : `landfall-user-${folder}`}-${role}`;
      return `kubectl -n ${namespace} create rolebinding ${name} --clusterrole=${name} --user=${user}`;
    });
  const tenants = new Set(ofTenants.map(({ namespace }) => namespace));
  const ofHosts = missing.filter(({ namespace }) => !tenants.has(namespace));
  const commands = [...bind("tenant", ofTenants), ...bind("hosts", ofHosts)];
  if (commands.length === 0) return [];
  return [
    withCommands("to let it work in these namespaces, run", commands),
    "or, with the chart, name them in rbac.tenantNamespaces or rbac.hostNamespaces",
  ];
}

/** Each command has a line of its own, so that it can be copied. The report indents it. */
function withCommands(text: string, commands: readonly string[]): string {
  return [`${text}:`, ...commands.map((command) => `${COMMAND_MARK}${command}`)].join("\n");
}

const RECONCILE = "--dry-run=client -o yaml | kubectl auth reconcile -f -";

function adviseManifest(
  missing: readonly PermissionAnswer[],
  { manifest, user, ownLease }: Advising,
): string {
  const lease = missing.find(({ resource }) => resource === "leases");
  const role = lease ? ` (for leases a Role in ${lease.namespace})` : "";
  const apply = manifest.granting;
  const own = user === manifest.serviceAccount ? manifest.installing : apply;
  const grant =
    user === MANIFEST_USER || user === manifest.serviceAccount
      ? `grant what is missing to this user: ${own}`
      : `grant what is missing to this user with a ClusterRole${role} and its binding, as ${apply} ` +
        `does for the user ${MANIFEST_USER}`;
  // The manifests grant the Lease that they name, which is not the default of the flag.
  const isNamed = missing.some(
    ({ resource, name }) => resource === "leases" && name !== undefined && name === ownLease,
  );
  const flag = "--leader-elect-resource-name";
  return isNamed && !manifest.isForLease
    ? `${grant}; or name the Lease that it may use with ${flag}`
    : grant;
}

/**
 * A ClusterRole for each resource that no manifest grants, or a Role in its namespace, and its binding. `kubectl auth
 * reconcile` also adds rights and users to those that exist, and takes none away.
 */
function adviseCommands(missing: readonly PermissionAnswer[], { user }: Granting): string {
  const groups = Map.groupBy(missing, formatNamed);
  const commands = [...groups.values()].flatMap((rights) => {
    const [first] = rights;
    return first === undefined ? [] : toCommands(first, { rights, user });
  });
  const whose = user === undefined ? " (NAME is the name of this user)" : "";
  const what = [...new Set(missing.map(formatResource))].join(", ");
  return withCommands(`no manifest grants rights on ${what}; run${whose}`, commands);
}

function toCommands(
  first: PermissionAnswer,
  { rights, user = "NAME" }: Pick<Granting, "user"> & { readonly rights: readonly Access[] },
): string[] {
  const { resource, subresource, namespace, name } = first;
  const role =
    subresource === undefined ? `landfall-${resource}` : `landfall-${resource}-${subresource}`;
  const kind = namespace === undefined ? "clusterrole" : "role";
  const where = namespace === undefined ? "" : `--namespace=${namespace} `;
  const verbs = rights.map(({ verb }) => verb).join(",");
  const only = name === undefined ? "" : ` --resource-name=${name}`;
  const rule = `--verb=${verbs} --resource=${formatResource(first)}${only}`;
  return [
    `kubectl create ${kind} ${role} ${rule} ${where}${RECONCILE}`,
    `kubectl create ${kind}binding ${role} --${kind}=${role} --user=${user} ${where}${RECONCILE}`,
  ];
}
