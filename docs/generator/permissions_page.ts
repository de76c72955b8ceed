/**
 * docs/reference/permissions.md, from the rights that `landfall check` asks for.
 * @module
 */
import type { ControllerDefinition } from "../../lib/controllers/definition.ts";
import { listRights, needAll } from "../../lib/app/rights.ts";
import { formatResource } from "../../lib/cli/check/permissions.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";

const HEADER = [
  "verb",
  "resource",
  "namespace",
  "name",
  "mandatory",
  "what for",
  "controllers",
] as const;
/** As `--leader-elect-resource-namespace` and `--leader-elect-resource-name` have them by themselves. */
const LEASE = { namespace: "kube-system", name: "cloud-controller-manager" } as const;

/** Renders the page. */
export function renderPermissionsPage(registry: readonly ControllerDefinition[]): string {
  return `${GENERATED_NOTE}

# Permissions

What the credentials of Landfall need to be allowed in the cluster. \`landfall check\` asks the API
server for each of them. Without a right that is not mandatory Landfall works, but says less.

${toTable(HEADER, toRows(registry))}
Those with a namespace stand in a Role there, the others in a ClusterRole; both are in
\`deploy/manifests\` and in the Helm chart. The name of the Lease is that of
\`--leader-elect-resource-name\`. RBAC cannot restrict \`create\` to a name. Not needed: \`get\` and
\`delete\` of Nodes with \`deletion.enabled: false\`, leases with \`--leader-elect=false\`, reviews
with \`--secure-port=0\`.
`;
}

function toRows(registry: readonly ControllerDefinition[]): string[][] {
  return listRights(needAll(LEASE, registry)).map(({ access, purpose, mandatory, controllers }) => [
    toCode(access.verb),
    toCode(formatResource(access)),
    toCode(access.namespace),
    toCode(access.name),
    mandatory ? "yes" : "no",
    purpose,
    controllers === undefined ? "all" : controllers.map(toCode).join(" "),
  ]);
}
