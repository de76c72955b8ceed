/**
 * The words in CloudStack are frozen.
 * @module
 */
import { expect, test } from "bun:test";
import {
  ANNOTATIONS,
  describeRule,
  isAclReason,
  isAclReasonOf,
  isOf1x,
  isPolicyDescription,
  isTagged,
  isTaggedFor,
  POLICY_DESCRIPTION,
  toAclReason,
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

test("rules, ACL items and policies say who made them", () => {
  const lbName = "a0123456789ab4cde8f0123456789abc";
  expect(describeRule(OWNER)).toBe("Managed by Landfall for shop/web");
  expect(toAclReason(lbName)).toBe(`Managed by Landfall for ${lbName}`);
  const apache = "Managed by the CloudStack Kubernetes Provider";
  const reasons = [
    toAclReason(lbName),
    `${apache} for ${lbName}`,
    toAclReason("other"),
    "mine",
    "",
  ];
  expect(reasons.map((one) => isAclReasonOf(lbName, one))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(reasons.map(isAclReason)).toEqual([true, true, true, false, false]);
  expect([POLICY_DESCRIPTION, apache, "mine", undefined].map(isPolicyDescription)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(["", undefined, describeRule(OWNER), "mine"].map(isOf1x)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("any tag of ours says that an address belongs to a Service", () => {
  expect(isTagged(toTags("cluster", OWNER))).toBe(true);
  expect(isTagged(new Map([["landfall.dev/service-uid", "x"]]))).toBe(true);
  expect(isTagged(new Map([["landfall.dev/service", "x"]]))).toBe(false);
});

test("annotations keep the names of the Go provider", () => {
  const prefix = "service.beta.kubernetes.io/cloudstack-load-balancer-";
  expect(Object.values(ANNOTATIONS).map((name) => name.replace(prefix, ""))).toEqual([
    "proxy-protocol",
    "hostname",
    "source-cidrs",
    "ip-associated-by-controller",
    "stickiness-method-name",
    "stickiness-method-param",
  ]);
});
