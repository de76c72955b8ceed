import { expect, test } from "bun:test";
import { POOL_ANNOTATIONS } from "../../../lib/cloud/pools/words.ts";

test("the annotations are those that are in clusters: they must not change", () => {
  expect(POOL_ANNOTATIONS.map(({ name }) => name)).toEqual([
    "landfall.dev/address-pool",
    "landfall.dev/load-balancer-ips",
    "landfall.dev/shared-address",
    "kube-vip.io/loadbalancerIPs",
    "kube-vip.io/ignore",
    "metallb.io/loadBalancerIPs",
    "metallb.universe.tf/loadBalancerIPs",
    "metallb.io/address-pool",
    "metallb.universe.tf/address-pool",
    "metallb.io/allow-shared-ip",
    "metallb.universe.tf/allow-shared-ip",
  ]);
  for (const { meaning } of POOL_ANNOTATIONS) expect(meaning).toEndWith(".");
});
