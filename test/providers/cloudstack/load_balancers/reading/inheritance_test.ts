import { expect, test } from "bun:test";
import type { LoadBalancerHolder } from "../../../../../lib/cloud/capabilities/load_balancer_holders.ts";
import {
  describeOwner,
  findOwner,
  isLeftBehind,
  isNamed,
  isOfSibling,
  listInherited,
} from "../../../../../lib/providers/cloudstack/load_balancers/reading/inheritance.ts";
import { toTags } from "../../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { CLUSTER } from "../cloud/cloud_model.ts";
import { createCloud, LB_NAME, OWNER, toSpec, UID } from "../cloud/services.ts";
import { toAddress, toRule } from "../objects.ts";

const OTHER = { namespace: "shop", name: "other", uid: "99999999-89ab-4cde-8f01-23456789abcd" };
const OTHERS = toTags(CLUSTER, OTHER);
const STAYS: LoadBalancerHolder = { owner: OTHER, isLeaving: false };
const SELF: LoadBalancerHolder = { owner: OWNER, isLeaving: false };

const LEFT: readonly [
  string,
  ReadonlyMap<string, string>,
  LoadBalancerHolder[] | undefined,
  boolean,
][] = [
  ["of a Service that is gone", OTHERS, [SELF], true],
  ["of a Service that is losing its load balancer", OTHERS, [{ ...STAYS, isLeaving: true }], true],
  ["of a Service that keeps its load balancer", OTHERS, [STAYS], false],
  ["while nobody says which Services there are", OTHERS, undefined, false],
  ["of the Service itself", toTags(CLUSTER, OWNER), [], false],
  ["of another cluster", toTags("another", OTHER), [], false],
  ["without the UID", new Map([["landfall.dev/cluster", CLUSTER]]), [], false],
  ["without the cluster", new Map([["landfall.dev/service-uid", OTHER.uid]]), [], false],
  ["without tags", new Map(), [], false],
];
test.each(LEFT)("an address %s", (_what, tags, holders, isLeft) => {
  const cloud = createCloud();
  cloud.holders = holders;
  expect(isLeftBehind(cloud.view(), tags, UID)).toBe(isLeft);
});

test("isLeftBehind() asks each time: a Service may come back", () => {
  const cloud = createCloud();
  cloud.holders = [];
  const view = cloud.view();
  expect(isLeftBehind(view, OTHERS, UID)).toBe(true);
  cloud.holders.push(STAYS);
  expect(isLeftBehind(view, OTHERS, UID)).toBe(false);
});

test("listInherited() has the addresses that the Service uses, and no other", () => {
  const cloud = createCloud();
  cloud.holders = [];
  const [named, ruled, recorded] = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"].map((ip) =>
    cloud.addAddress({ ip, networkId: "net-1", tags: OTHERS }),
  );
  const rule = toRule("rule", { name: `${LB_NAME}-tcp-80`, addressId: ruled?.id ?? "" });
  const claim = toSpec({ address: "192.0.2.1" });
  const record = { shared: "192.0.2.3" };
  expect([...listInherited({ view: cloud.view(), claim, record, rules: [rule] })]).toEqual(
    [named, ruled, recorded].map((one) => one?.id ?? ""),
  );
  cloud.holders.push(STAYS);
  expect([...listInherited({ view: cloud.view(), claim, record, rules: [rule] })]).toEqual([]);
});

test("isNamed() reads the field as an address", () => {
  const address = toAddress("ip");
  expect(isNamed(toSpec({ address: "192.0.2.1" }), address)).toBe(true);
  expect(isNamed(toSpec({ address: "192.0.2.9" }), address)).toBe(false);
  expect(isNamed(toSpec({ address: "x" }), address)).toBe(false);
  expect(isNamed(toSpec(), address)).toBe(false);
});

test("isOfSibling() is about this cluster and other Services", () => {
  const { clusterIds } = createCloud().view();
  expect(isOfSibling({ clusterIds }, OTHERS, UID)).toBe(true);
  expect(isOfSibling({ clusterIds }, OTHERS, OTHER.uid)).toBe(false);
  expect(isOfSibling({ clusterIds }, toTags("another", OTHER), UID)).toBe(false);
});

test("findOwner() finds the Service of a rule by its name", () => {
  const cloud = createCloud();
  cloud.holders = [SELF, STAYS];
  const name = "a9999999989ab4cde8f0123456789abc-tcp-80";
  expect(findOwner(cloud.view(), toRule("rule", { name }))).toEqual(OTHER);
  expect(findOwner(cloud.view(), toRule("rule", { name: "theirs" }))).toBeUndefined();
  cloud.holders = undefined;
  expect(findOwner(cloud.view(), toRule("rule", { name }))).toBeUndefined();
  expect(describeOwner(OTHER)).toBe("Service shop/other");
});
