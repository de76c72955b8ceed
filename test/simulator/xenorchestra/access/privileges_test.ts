import { expect, test } from "bun:test";
import {
  findMissing,
  isAllowed,
  type Privilege,
} from "../../../../lib/simulator/xenorchestra/access/privileges.ts";

const OWN = { name_label: "vino-1", tags: ["vino"] };
const OTHER = { name_label: "database", tags: [] };

const cases: [string, Privilege[] | undefined, string, object, boolean][] = [
  ["an administrator", undefined, "delete", OTHER, true],
  ["no right", [], "delete", OWN, false],
  ["the right", [{ resource: "vm", action: "delete" }], "delete", OTHER, true],
  ["another resource", [{ resource: "vdi", action: "delete" }], "delete", OWN, false],
  ["a wider action", [{ resource: "vm", action: "update" }], "update:tags", OWN, true],
  ["a narrower action", [{ resource: "vm", action: "update:tags" }], "update", OWN, false],
  [
    "a selector that matches",
    [{ resource: "vm", action: "delete", selector: "name_label:/^vino-/" }],
    "delete",
    OWN,
    true,
  ],
  [
    "a selector that does not match",
    [{ resource: "vm", action: "delete", selector: "tags:/^vino$/" }],
    "delete",
    OTHER,
    false,
  ],
  [
    "a right that denies",
    [
      { resource: "vm", action: "delete" },
      { resource: "vm", action: "delete", effect: "deny", selector: "tags:/^vino$/" },
    ],
    "delete",
    OWN,
    false,
  ],
];
test.each(cases)("isAllowed() with %s", (_name, privileges, action, object, expected) => {
  expect(isAllowed(privileges, { resource: "vm", action, object })).toBe(expected);
});

test("findMissing() names each right once", () => {
  const need = { resource: "vdi", action: "create", object: {} };
  const other = { resource: "vm", action: "delete", objectId: "a", object: OWN };
  expect(findMissing([], [need, need, other])).toEqual([
    { resource: "vdi", action: "create" },
    { objectId: "a", resource: "vm", action: "delete" },
  ]);
  expect(findMissing(undefined, [need])).toEqual([]);
});
