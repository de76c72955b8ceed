import { describe, expect, test } from "bun:test";
import type { LiveServices } from "../../../../../lib/cloud/capabilities/load_balancers.ts";
import {
  listLeftovers,
  toLeftoverFindings,
} from "../../../../../lib/providers/cloudstack/load_balancers/reading/leftovers.ts";
import type { View } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { TAG_KEYS } from "../../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { byId, toAddress, toRule } from "../objects.ts";

const GONE = "gone-uid";

function toTags(over: Partial<Record<keyof typeof TAG_KEYS, string>> = {}): Map<string, string> {
  const tags = { cluster: "us", serviceUid: GONE, service: "shop/web", ...over };
  return new Map([
    [TAG_KEYS.cluster, tags.cluster],
    [TAG_KEYS.serviceUid, tags.serviceUid],
    [TAG_KEYS.service, tags.service],
  ]);
}

function toView(
  tags: ReadonlyMap<string, string>,
): Pick<View, "addresses" | "rules" | "clusterIds"> {
  return {
    addresses: byId(toAddress("ip", { tags }), toAddress("other", { ip: "192.0.2.2" })),
    rules: byId(
      toRule("r1"),
      toRule("r2", { publicPort: 81 }),
      toRule("r3", { addressId: "other" }),
    ),
    clusterIds: ["us", "us-before"],
  };
}

function toLive(uid = "live-uid", ...addresses: readonly string[]): LiveServices {
  return { uids: new Set([uid]), addresses: new Set(addresses) };
}

describe("listLeftovers()", () => {
  test.each<[string, Map<string, string>, number]>([
    ["names an address of this cluster whose Service is gone", toTags(), 1],
    ["knows this cluster by each of its IDs", toTags({ cluster: "us-before" }), 1],
    ["leaves out that of a Service that exists", toTags({ serviceUid: "live-uid" }), 0],
    ["leaves out that of another cluster", toTags({ cluster: "them" }), 0],
    ["leaves out one without tags", new Map(), 0],
    ["leaves out one of no cluster", new Map([[TAG_KEYS.serviceUid, GONE]]), 0],
    ["leaves out one of no Service", new Map([[TAG_KEYS.cluster, "us"]]), 0],
  ])("%s", (_what, tags, count) => {
    expect(listLeftovers(toView(tags), toLive("live-uid"))).toHaveLength(count);
  });

  test("says what an operator needs to find it, with the number of its rules", () => {
    const [leftover] = listLeftovers(toView(toTags()), toLive());
    const service = { service: "shop/web", serviceUid: GONE };
    expect(leftover).toEqual({ ip: "192.0.2.1", id: "ip", ...service, rules: 2 });
  });

  test("leaves out one that another Service uses: names or shows it, or has a rule on it", () => {
    const view = toView(toTags());
    expect(listLeftovers(view, toLive("live-uid", "192.0.2.1"))).toEqual([]);
    const rule = toRule("r9", { name: "aliveuid-tcp-443", publicPort: 443 });
    const shared = { ...view, rules: new Map([...view.rules, [rule.id, rule]]) };
    expect(listLeftovers(shared, toLive())).toEqual([]);
    expect(listLeftovers(shared, toLive("another-uid"))).toMatchObject([{ rules: 3 }]);
  });

  test("attributes no rule by its name alone", () => {
    const view = { ...toView(new Map()), rules: byId(toRule("a", { name: "agoneuid-tcp-80" })) };
    expect(listLeftovers(view, toLive())).toEqual([]);
  });
});

describe("toLeftoverFindings()", () => {
  test("names each with the command that releases it", () => {
    const [finding] = toLeftoverFindings(listLeftovers(toView(toTags()), toLive()));
    expect(finding).toEqual({
      level: "warning",
      code: "loadBalancerLeftover",
      message:
        'public IP 192.0.2.1 (ip) has no Service: its tags name this cluster and Service "shop/web" with UID ' +
        '"gone-uid", which does not exist; 2 load-balancer rules are on it',
      advice:
        "if nothing needs it, also no copy of this cluster, release it with its rules: " +
        "cmk disassociate ipaddress id=ip; or name it in spec.loadBalancerIP of a Service, which inherits it",
    });
  });

  test("counts those that are too many to name", () => {
    const leftover = { ip: "192.0.2.1", id: "ip", serviceUid: GONE, rules: 1 };
    const findings = toLeftoverFindings(Array.from({ length: 23 }, () => leftover));
    expect(findings).toHaveLength(21);
    expect(findings[0]?.message).toEndWith("1 load-balancer rule is on it");
    expect(findings.at(-1)?.message).toStartWith("3 more public IPs");
  });
});
