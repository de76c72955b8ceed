import { expect, test } from "bun:test";
import { POOL_ANNOTATIONS } from "../../../lib/cloud/pools/words.ts";

test("the annotations are those that are in clusters: they must not change", () => {
  expect(POOL_ANNOTATIONS.map(({ name }) => name)).toEqual([
    "landfall.dev/address-pool",
    "landfall.dev/load-balancer-ips",
    "landfall.dev/shared-address",
    "kube-vip.io/loadbalancerIPs",
  ]);
  for (const { meaning } of POOL_ANNOTATIONS) expect(meaning).toEndWith(".");
});
