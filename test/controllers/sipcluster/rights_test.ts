import { expect, test } from "bun:test";
import { listRights, toPolicy } from "../../../lib/app/rights.ts";
import { sipClusterController } from "../../../lib/controllers/sipcluster/definition.ts";
import { NAME } from "../../../lib/controllers/sipcluster/words.ts";

const { clusterRules } = toPolicy(
  listRights({
    registry: [sipClusterController],
    controllers: new Set([NAME]),
    hasSecurePort: false,
  }),
);

function listVerbs(resource: string): readonly string[] {
  const rules = clusterRules.filter(({ resources }) => resources.includes(resource));
  return rules.flatMap(({ verbs }) => verbs).toSorted();
}

test("the controller never lists or watches Secrets, and changes none that exists", () => {
  expect(listVerbs("secrets")).toEqual(["create", "delete", "get"]);
});

test("the controller asks for no right on CustomResourceDefinitions, cluster-wide roles or all resources", () => {
  const resources = clusterRules.flatMap(({ resources }) => resources);
  expect(resources.filter((one) => /customresource|clusterrole|\*/.test(one))).toEqual([]);
  expect(clusterRules.flatMap(({ verbs }) => verbs)).not.toContain("*");
  expect(clusterRules.flatMap(({ verbs }) => verbs)).not.toContain("escalate");
});

test("the controller writes the status and metadata of hosts and clusters, and deletes none", () => {
  expect(listVerbs("baremetalhosts")).toEqual(["get", "list", "patch", "watch"]);
  expect(listVerbs("sipclusters")).toEqual(["list", "patch", "watch"]);
  expect(listVerbs("sipclusters/status")).toEqual(["patch"]);
});
