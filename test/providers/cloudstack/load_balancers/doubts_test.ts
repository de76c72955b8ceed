/**
 * When a look may be about another CloudStack.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { LoadBalancerClaim } from "../../../../lib/cloud/capabilities/load_balancers.ts";
import {
  findDoubt,
  showsLoadBalancer,
} from "../../../../lib/providers/cloudstack/load_balancers/doubts.ts";
import type { View } from "../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { toClaim } from "./look_rig.ts";
import { byId, SIGNER, toAddress, toFound, toRule } from "./objects.ts";

const UID = "01234567-89ab-cdef-0123-456789abcdef";
const LB_NAME = "a0123456789abcdef0123456789abcde";
const RULE = toRule("rule", { name: `${LB_NAME}-tcp-80` });
const OURS = { clusterIds: ["one", "two", ""], lbNames: new Set([LB_NAME]) };

function toTagged(clusterId: string): View["addresses"] {
  return byId(toAddress("ip", { tags: new Map([["landfall.dev/cluster", clusterId]]) }));
}

describe("showsLoadBalancer()", () => {
  test.each<[string, Partial<View>, boolean]>([
    ["an address with the tag of the cluster", { addresses: toTagged("two") }, true],
    ["an address of another cluster", { addresses: toTagged("three") }, false],
    ["an address without tags", { addresses: byId(toAddress("ip")) }, false],
    ["a rule of a Service", { rules: byId(RULE) }, true],
    ["a rule with another name", { rules: byId(toRule("rule")) }, false],
    ["nothing", {}, false],
  ])("of a look with %s", (_what, over, expected) => {
    expect(showsLoadBalancer(toFound(over), OURS)).toBe(expected);
  });
});

describe("findDoubt()", () => {
  const ingress = [{ ip: "192.0.2.1" }];

  function find(over: Partial<View>, claim: Partial<LoadBalancerClaim> = {}) {
    const own = { clusterIds: ["one"] as const, vms: new Map(), recordSigner: SIGNER };
    const view: View = { ...toFound(), ...own, ...over };
    return findDoubt(view, toClaim(UID, claim));
  }

  test.each<[string, Partial<LoadBalancerClaim>]>([
    ["an IP in its status", { ingress }],
    ["a hostname in its status", { ingress: [{ hostname: "lb.example.org" }] }],
    ["a record", { record: "anything" }],
  ])("a Service with %s waits while this may be another CloudStack", (_what, claim) => {
    const doubt = find({ isOurCloud: false }, claim);
    expect(doubt).toMatchObject({ reason: "NotKnown", isWaiting: true });
    expect(doubt?.message).toContain("check api-url, project-id and the keys");
    expect(find({ isOurCloud: true }, claim)).toBeUndefined();
  });

  test("a Service does not wait once this process made its address or rule", () => {
    const over = { isOurCloud: false, addresses: toTagged("one") };
    expect(find(over, { ingress })).toBeUndefined();
    const rules = { rules: byId(RULE), addresses: byId(toAddress("ip")) };
    expect(find({ isOurCloud: false, ...rules }, { ingress })).toBeUndefined();
    expect(find({ isOurCloud: false, addresses: toTagged("three") }, { ingress })).toBeDefined();
  });

  test("a Service without any sign of a load balancer waits, too, if there are Nodes", () => {
    expect(find({ isOurCloud: false })).toMatchObject({ reason: "NotKnown", isWaiting: true });
    expect(find({ isOurCloud: true })).toBeUndefined();
    expect(find({ isOurCloud: false, hasNoNodes: true })).toBeUndefined();
    expect(find({ isOurCloud: false, hasNoNodes: true }, { ingress })).toBeDefined();
  });

  test("a Service waits while CloudStack shows a rule of it without its address", () => {
    const rules = byId(RULE);
    expect(find({ rules }, { ingress })).toMatchObject({ reason: "NotKnown", isWaiting: true });
    expect(find({ rules, addresses: byId(toAddress("ip")) }, { ingress })).toBeUndefined();
    expect(find({ rules: byId(toRule("foreign")) }, { ingress })).toBeUndefined();
  });

  test("an address that cannot be read is there: the plan says what it means", () => {
    const unreadable = [{ kind: "address" as const, problem: "odd" }];
    expect(find({ rules: byId(RULE), unreadable }, { ingress })).toBeUndefined();
  });
});
