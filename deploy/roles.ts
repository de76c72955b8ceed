/**
 * The roles for users of clouds that may do more than read, as files that administrators apply.
 * @module
 */
import type { CloudRole, ProviderDefinition } from "../lib/cloud/provider_definition.ts";
import { loadProviders } from "../lib/providers/mod.ts";

/** The files with the roles of these clouds, by their paths below deploy/. */
async function loadRoleFiles(
  definitions: readonly Pick<ProviderDefinition, "loadRoles" | "name">[],
): Promise<(readonly [path: string, text: string])[]> {
  const all = definitions.map(async ({ name, loadRoles }) => {
    const roles = (await loadRoles?.()) ?? [];
    return roles.map((one) => [`${name}/${one.file}`, renderRole(one)] as const);
  });
  return (await Promise.all(all)).flat();
}

/** The files of all clouds. */
export const ROLE_FILES: readonly (readonly [path: string, text: string])[] = await loadRoleFiles(
  await loadProviders(),
);

/** One privilege on a line, so that a shell without any tool for JSON can read them. */
function renderRole({ role: { privileges, ...head } }: CloudRole): string {
  const lines = privileges.map((one) => `    ${toLine(one)}`).join(",\n");
  const top = Object.entries(head).map(([key, text]) => `  ${toPair(key, text)},\n`);
  return `{\n${top.join("")}  "privileges": [\n${lines}\n  ]\n}\n`;
}

function toLine(privilege: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(privilege).map(([key, text]) => toPair(key, text));
  return `{ ${pairs.join(", ")} }`;
}

function toPair(key: string, text: string): string {
  return `${JSON.stringify(key)}: ${JSON.stringify(text)}`;
}
