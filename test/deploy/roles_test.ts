/**
 * The roles for users of clouds, as files.
 * @module
 */
import { expect, test } from "bun:test";
import { renderFiles } from "../../deploy/files.ts";
import { loadRoleFiles, ROLE_FILES } from "../../deploy/roles.ts";
import type { CloudRole } from "../../lib/cloud/provider_definition.ts";

const ONE: CloudRole = {
  file: "one.json",
  role: {
    name: "one",
    description: 'may "do" something',
    privileges: [{ effect: "allow", resource: "shop" }, { effect: "deny" }],
  },
};

test("loadRoleFiles() writes a role into the folder of its cloud, with one privilege on each line", async () => {
  const all = [{ name: "quiet" }, { name: "loud", loadRoles: () => Promise.resolve([ONE]) }];
  const [file, ...more] = await loadRoleFiles(all);
  expect(more).toEqual([]);
  const [path, text = ""] = file ?? [];
  expect(path).toBe("loud/one.json");
  expect(JSON.parse(text)).toEqual(ONE.role);
  expect(text).toContain(
    '\n    { "effect": "allow", "resource": "shop" },\n    { "effect": "deny" }\n',
  );
});

test("renderFiles() has the roles of all clouds", () => {
  const files = renderFiles();
  expect(ROLE_FILES.map(([path]) => path)).toEqual(["xenorchestra/vino-role.json"]);
  for (const [path, text] of ROLE_FILES) expect(files.get(path)).toBe(text);
});
