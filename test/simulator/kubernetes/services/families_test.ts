import { expect, test } from "bun:test";
import type { IpFamily } from "../../../../lib/simulator/kubernetes/services/allocation.ts";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { chooseFamilies } from "../../../../lib/simulator/kubernetes/services/families.ts";

const BOTH: readonly IpFamily[] = ["IPv4", "IPv6"];

test.each<[JsonObject, readonly IpFamily[], readonly IpFamily[], string]>([
  [{}, ["IPv4"], ["IPv4"], "SingleStack"],
  [{}, BOTH, ["IPv4"], "SingleStack"],
  [{ ipFamilies: ["IPv6"] }, BOTH, ["IPv6"], "SingleStack"],
  [{ clusterIPs: ["fd00::1"] }, BOTH, ["IPv6"], "SingleStack"],
  [{ ipFamilyPolicy: "PreferDualStack" }, BOTH, BOTH, "PreferDualStack"],
  [{ ipFamilyPolicy: "PreferDualStack" }, ["IPv4"], ["IPv4"], "PreferDualStack"],
  [
    { ipFamilyPolicy: "PreferDualStack", ipFamilies: ["IPv6"] },
    BOTH,
    ["IPv6", "IPv4"],
    "PreferDualStack",
  ],
  [{ ipFamilyPolicy: "RequireDualStack" }, BOTH, BOTH, "RequireDualStack"],
  [{ ipFamilies: ["IPv6", "IPv4"] }, BOTH, ["IPv6", "IPv4"], "RequireDualStack"],
])("chooseFamilies() of %j on a cluster with %j are %j, %s", (spec, cluster, families, policy) => {
  expect(chooseFamilies({ spec }, cluster)).toEqual({ families, policy, problems: [] });
});

test.each<[JsonObject, readonly IpFamily[], string]>([
  [{ ipFamilies: ["IPv6"] }, ["IPv4"], "spec.ipFamilies[0]"],
  [{ ipFamilyPolicy: "RequireDualStack" }, ["IPv4"], "spec.ipFamilyPolicy"],
  [{ ipFamilyPolicy: "SingleStack", ipFamilies: [...BOTH] }, BOTH, "spec.ipFamilies"],
])("chooseFamilies() refuses %j on a cluster with %j: %s", (spec, cluster, field) => {
  expect(chooseFamilies({ spec }, cluster).problems.map((one) => one.field)).toEqual([field]);
});
