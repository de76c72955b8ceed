import { describe, expect, test } from "bun:test";
import {
  findNeed,
  isWanted,
  mayHold,
  needsCleanup,
  type ServiceNeed,
} from "../../../../lib/controllers/service/spec/which.ts";
import type { Service } from "../../../../lib/kube/kinds/service.ts";
import { FINALIZER, toService } from "../../../support/services/service.ts";

const finalizers = [FINALIZER];
const deletionTimestamp = "2026-01-01T00:00:00Z";
const annotations = { "landfall.dev/load-balancer": "{}" };
const loadBalancerClass = "example.com/other";
const ClusterIP = { type: "ClusterIP" };

describe("S-01 isWanted()", () => {
  test.each<[string, Service["spec"], boolean]>([
    ["LoadBalancer without a class", {}, true],
    ["LoadBalancer with our class", { loadBalancerClass: "example.com/ours" }, true],
    ["LoadBalancer with another class", { loadBalancerClass }, false],
    ["ClusterIP", ClusterIP, false],
    ["NodePort", { type: "NodePort" }, false],
    ["ExternalName", { type: "ExternalName" }, false],
  ])("of %s", (_what, spec, wanted) => {
    expect(isWanted(toService({ spec }), "example.com/ours")).toBe(wanted);
  });

  test("takes no class without the flag", () => {
    expect(isWanted(toService({ spec: { loadBalancerClass } }), undefined)).toBe(false);
  });
});

test.each<[string, Parameters<typeof toService>[0], boolean]>([
  ["without the finalizer", { metadata: { deletionTimestamp } }, false],
  ["that stays", { metadata: { finalizers } }, false],
  ["that is deleted", { metadata: { finalizers, deletionTimestamp } }, true],
  ["of another type", { metadata: { finalizers }, spec: ClusterIP }, true],
  ["of another class", { metadata: { finalizers }, spec: { loadBalancerClass } }, false],
])("S-01 needsCleanup() of a Service %s", (_what, input, needed) => {
  expect(needsCleanup(toService(input))).toBe(needed);
});

test.each<[string, Parameters<typeof toService>[0], boolean]>([
  ["with the finalizer", { metadata: { finalizers }, spec: { loadBalancerClass } }, true],
  ["of another class", { spec: { loadBalancerClass } }, true],
  ["of another class that is deleted", { metadata: { deletionTimestamp } }, false],
  ["of another type", { spec: ClusterIP }, false],
])("mayHold() of a Service %s", (_what, input, may) => {
  expect(mayHold(toService(input))).toBe(may);
});

describe("findNeed()", () => {
  const released = { metadata: { finalizers, deletionTimestamp } };
  test.each<[string, Parameters<typeof toService>[0], boolean, ServiceNeed]>([
    ["wanted", {}, false, "ensure"],
    ["wanted and known", { metadata: { finalizers } }, true, "ensure"],
    ["deleted", released, false, "release"],
    ["deleted, without the finalizer", { metadata: { deletionTimestamp } }, false, "nothing"],
    ["deleted, finalizer removed by hand", { metadata: { deletionTimestamp } }, true, "release"],
    ["of another type", { metadata: { finalizers }, spec: ClusterIP }, false, "release"],
    ["of another type, never a load balancer", { spec: ClusterIP }, false, "nothing"],
    ["of another type, finalizer removed by hand", { spec: ClusterIP }, true, "release"],
    ["of another class", { spec: { loadBalancerClass } }, false, "nothing"],
    [
      "of another class, and its finalizer",
      { metadata: { finalizers }, spec: { loadBalancerClass } },
      false,
      "nothing",
    ],
    [
      "of another class, and our record",
      { metadata: { finalizers, annotations }, spec: { loadBalancerClass } },
      false,
      "conflict",
    ],
    [
      "of another class since this process made one",
      { metadata: { finalizers }, spec: { loadBalancerClass } },
      true,
      "release",
    ],
  ])("of a Service that is %s", (_what, input, isManaged, need) => {
    const options = { ownClass: undefined, isManaged, leavesNothingBehind: false };
    expect(findNeed(toService(input), options)).toBe(need);
  });

  test.each<[string, Parameters<typeof toService>[0], boolean, ServiceNeed]>([
    [
      "deleted: it keeps its address until it is gone",
      { metadata: { deletionTimestamp } },
      true,
      "ensure",
    ],
    [
      "of another type, with our record",
      { metadata: { annotations }, spec: ClusterIP },
      false,
      "release",
    ],
    ["of another type, without it", { spec: ClusterIP }, false, "nothing"],
    [
      "of another class, with our record",
      { metadata: { annotations }, spec: { loadBalancerClass } },
      false,
      "conflict",
    ],
    ["deleted, with a finalizer from before", released, false, "release"],
  ])("where nothing is left behind, of a Service that is %s", (_what, input, isManaged, need) => {
    const options = { ownClass: undefined, isManaged, leavesNothingBehind: true };
    expect(findNeed(toService(input), options)).toBe(need);
  });
});
