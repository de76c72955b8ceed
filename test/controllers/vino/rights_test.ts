import { expect, test } from "bun:test";
import { listRights, toPolicy } from "../../../lib/app/rights.ts";
import { vinoController } from "../../../lib/controllers/vino/definition.ts";
import { NAME } from "../../../lib/controllers/vino/words.ts";

const { clusterRules } = toPolicy(
  listRights({ registry: [vinoController], controllers: new Set([NAME]), hasSecurePort: false }),
);

function listVerbs(resource: string): readonly string[] {
  const rules = clusterRules.filter(({ resources }) => resources.includes(resource));
  return rules.flatMap(({ verbs }) => verbs).toSorted();
}

test("the controller never lists, watches or deletes Secrets", () => {
  expect(listVerbs("secrets")).toEqual(["create", "get", "patch"]);
});

test("the controller writes Vinos, their hosts and pools, and deletes only hosts", () => {
  expect(listVerbs("vinoes")).toEqual(["get", "list", "patch", "watch"]);
  expect(listVerbs("vinoes/status")).toEqual(["patch"]);
  expect(listVerbs("ippools")).toEqual(["create", "list", "patch", "watch"]);
  expect(listVerbs("baremetalhosts")).toEqual([
    "create",
    "delete",
    "get",
    "list",
    "patch",
    "watch",
  ]);
});

test("the controller changes no Node, and no kind", () => {
  expect(listVerbs("nodes").filter((verb) => !["list", "watch", "get"].includes(verb))).toEqual([]);
  const resources = clusterRules.flatMap((rule) => rule.resources);
  expect(resources.filter((one) => /customresource|role|\*/.test(one))).toEqual([]);
});
