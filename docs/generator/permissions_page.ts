/**
 * docs/reference/permissions.md, from the rights that `landfall check` asks for.
 * @module
 */
import type { ControllerDefinition } from "../../lib/controllers/definition.ts";
import { listFurtherRights, listRights, needAll, type NeededRight } from "../../lib/app/rights.ts";
import { formatResource } from "../../lib/cli/check/permissions.ts";
import type { Scope } from "../../lib/kube/access/rights.ts";
import type { Registries } from "./registries.ts";
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
export function renderPermissionsPage({ controllers: registry, providers }: Registries): string {
  const needs = needAll(LEASE, registry);
  const further = registry
    .filter(({ name }) => !needs.controllers.has(name))
    .map((one) => ({
      one,
      rights: listFurtherRights(needs, one.name),
      clouds: providers.filter(({ install }) => install?.controllers?.includes(one.name)),
    }))
    .filter(({ rights }) => rights.length > 0);
  return `${GENERATED_NOTE}

# Permissions

The rights that Landfall needs in the cluster. \`landfall check\` tests each of them. Without a right that is not
mandatory, Landfall works, but tells you less.

${toTable(HEADER, toRows(listRights(needs)))}
The manifests and the Helm chart have the rights with a namespace in a Role, and the others in a ClusterRole. Those in
namespaces of tenants or hosts are in a ClusterRole of their own, which you bind in the namespaces that you choose. The
name of the Lease is that of \`--leader-elect-resource-name\`. RBAC cannot restrict \`create\` to a name.

You can remove \`get\` and \`delete\` of Nodes with \`deletion.enabled: false\`, the rights on Leases with
\`--leader-elect=false\`, and the rights on reviews with \`--secure-port=0\`.
${further.map(renderFurther).join("")}`;
}

interface FurtherRights {
  readonly one: ControllerDefinition;
  readonly rights: readonly NeededRight[];
  /** The clouds whose manifests start it. */
  readonly clouds: Registries["providers"];
}

/** What a controller needs that does not run everywhere: without it, these rights should not be granted. */
function renderFurther({ one, rights, clouds }: FurtherRights): string {
  const titles = clouds.map(({ docs }) => docs.title).join(" and ");
  const when = one.isOffByDefault
    ? "This controller is off until `--controllers` names it. Then it needs these rights, too."
    : "This controller runs only with a cloud that can serve it. Then it needs these rights, too.";
  const manifests =
    one.folder === undefined
      ? "the files in `deploy/manifests` do not"
      : `so do the\nfiles in \`deploy/manifests/${one.folder}\`, which run only this controller`;
  const who =
    titles === ""
      ? `The Helm\nchart grants them when \`enabledControllers\` names it; ${manifests}.`
      : `The manifests for\n${titles} grant them. So does the Helm chart, with this cloud or when ` +
        "`enabledControllers` names it.";
  return `
## \`${one.name}\`

${when} ${who}

${toTable(HEADER, toRows(rights))}`;
}

const PLACES: Readonly<Record<Scope, string>> = {
  tenants: "of tenants",
  hosts: "of tenants and hosts",
};

function toRows(rights: readonly NeededRight[]): string[][] {
  return rights.map(({ access, scope, purpose, mandatory, controllers }) => [
    toCode(access.verb),
    toCode(formatResource(access)),
    scope === undefined ? toCode(access.namespace) : PLACES[scope],
    toCode(access.name),
    mandatory ? "yes" : "no",
    purpose,
    controllers === undefined ? "all" : controllers.map(toCode).join(" "),
  ]);
}
