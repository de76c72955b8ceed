/**
 * docs/reference/permissions.md, from the rights that `landfall check` asks for.
 * @module
 */
import { formatResource, REQUIREMENTS } from "../lib/cli/check_permissions.ts";
import { GENERATED_NOTE, toCode, toTable } from "./markdown.ts";

const HEADER = ["verb", "resource", "namespace", "mandatory", "what for", "controllers"] as const;

/** Renders the page. */
export function renderPermissionsPage(): string {
  return `${GENERATED_NOTE}

# Permissions

What the credentials of Landfall need to be allowed in the cluster. \`landfall check\` asks the API
server for each of them. Without a right that is not mandatory Landfall works, but says less.

${toTable(HEADER, toRows())}
The rights on Nodes belong in a ClusterRole; those with a namespace may stand in a Role there. With
\`deletion.enabled: false\`, \`get\` and \`delete\` are not needed.
`;
}

function toRows(): string[][] {
  return REQUIREMENTS.map(({ access, purpose, mandatory, controllers }) => [
    toCode(access.verb),
    toCode(formatResource(access)),
    toCode(access.namespace),
    mandatory ? "yes" : "no",
    purpose,
    controllers === undefined ? "all" : controllers.map(toCode).join(" "),
  ]);
}
