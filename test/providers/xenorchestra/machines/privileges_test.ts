import { expect, test } from "bun:test";
import {
  findPrivilege,
  formatPrivilege,
  type GrantedPrivilege,
  listLacking,
  MACHINES_ROLE,
  PRIVILEGES,
  USER_ID,
} from "../../../../lib/providers/xenorchestra/machines/privileges.ts";

test("PRIVILEGES allow to change and to delete only what has a name of ours", () => {
  const writes = PRIVILEGES.filter(({ action }) =>
    /^(update|delete|start|shutdown|reboot|pause|unpause|resume)/.test(action),
  );
  // A detached disk stays, and what is attached has no name.
  const wide = writes.filter(({ selector }) => selector !== "name_label:/^vino-/");
  expect(writes.length).toBeGreaterThan(6);
  expect(wide.map(formatPrivilege)).toEqual(["vbd delete"]);
});

test("PRIVILEGES hide no object that a proof of absence needs", () => {
  const reads = PRIVILEGES.filter(
    ({ action, resource }) => action === "read" && resource !== "task",
  );
  expect(reads.length).toBeGreaterThan(6);
  expect(reads.filter(({ selector }) => selector !== undefined)).toEqual([]);
});

test("PRIVILEGES have each privilege once", () => {
  const names = PRIVILEGES.map(formatPrivilege);
  expect(new Set(names).size).toBe(names.length);
});

test.each([
  ["vm update", { resource: "vm", action: "update:tags" }],
  ["pool create:vm", { resource: "pool", action: "create:vm" }],
  [undefined, { resource: "pool", action: "create" }],
  [undefined, { resource: "vm", action: "updates" }],
  [undefined, { resource: "vm-template", action: "update:tags" }],
])("findPrivilege() finds %p for %j", (expected, missing) => {
  const found = findPrivilege(missing);
  expect(found && formatPrivilege(found)).toBe(expected);
});

const ALL = PRIVILEGES.map(formatPrivilege);
const without = (name: string): string[] => ALL.filter((one) => one !== name);

test.each<[what: string, has: readonly string[], lacks: readonly string[]]>([
  ["nothing of a user with all", ALL, []],
  ["everything of a user with none", [], ALL],
  ["the one that is missing", without("vif create"), ["vif create"]],
  ["nothing if a wider one is there", [...without("sr import:vdi"), "sr import"], []],
  ["nothing if everything of its kind is there", [...without("sr import:vdi"), "sr *"], []],
  ["one of another kind", [...without("sr import:vdi"), "vm *"], ["sr import:vdi"]],
  ["one if only a finer one is there", [...without("vm update"), "vm update:tags"], ["vm update"]],
])("listLacking() lists %s", (_what, has, lacks) => {
  expect(listLacking(has.map(toGranted)).map(formatPrivilege)).toEqual([...lacks]);
});

function toGranted(name: string): GrantedPrivilege {
  const [resource = "", action = ""] = name.split(" ");
  return { resource, action };
}

test.each([
  ["vm read", "tags:production", ["vm read"]],
  ["vm *", "tags:production", ["vm read"]],
  ["vm update", "name_label:/^vino-/", []],
  ["task read", "properties:userId:me", []],
] as const)("listLacking() judges %s for only some objects", (name, selector, lacks) => {
  const [resource] = name.split(" ");
  const isAny = name.endsWith(" *");
  const others = PRIVILEGES.filter(
    (one) => formatPrivilege(one) !== (isAny ? `${resource} read` : name),
  );
  const has = [...others, { ...toGranted(name), selector }];
  expect(listLacking(has).map(formatPrivilege)).toEqual([...lacks]);
  // Another role of the user may have the whole privilege.
  expect(listLacking([...has, toGranted(name)])).toEqual([]);
});

test("MACHINES_ROLE has the privileges as Xen Orchestra takes them, without their purposes", () => {
  const { privileges } = MACHINES_ROLE.role;
  expect(privileges).toHaveLength(PRIVILEGES.length);
  expect(privileges).toContainEqual({
    effect: "allow",
    resource: "task",
    action: "read",
    selector: `properties:userId:${USER_ID}`,
  });
  const keys = new Set(privileges.flatMap((one) => Object.keys(one)));
  expect([...keys].sort()).toEqual(["action", "effect", "resource", "selector"]);
});
