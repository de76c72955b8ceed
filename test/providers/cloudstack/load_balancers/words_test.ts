/**
 * The words in CloudStack are frozen.
 * @module
 */
import { expect, test } from "bun:test";
import {
  isTaggedFor,
  POLICY_DESCRIPTION,
  toTags,
} from "../../../../lib/providers/cloudstack/load_balancers/words.ts";

const OWNER = { namespace: "shop", name: "web", uid: "service" };

test("an address says which cluster and Service it belongs to", () => {
  expect(Object.fromEntries(toTags("cluster", OWNER))).toEqual({
    "landfall.dev/cluster": "cluster",
    "landfall.dev/service-uid": "service",
    "landfall.dev/service": "shop/web",
  });
  expect(POLICY_DESCRIPTION).toBe("Managed by Landfall");
});

test.each([
  ["cluster", "service", true],
  ["before", "service", true],
  ["another", "service", false],
  ["cluster", "another", false],
])("tags of cluster %s and Service %s are ours: %p", (cluster, uid, isOurs) => {
  const tags = toTags(cluster, { ...OWNER, uid });
  expect(isTaggedFor(tags, ["cluster", "before"], "service")).toBe(isOurs);
});

test("an address without tags is not ours", () => {
  expect(isTaggedFor(new Map(), ["cluster"], "service")).toBe(false);
});
