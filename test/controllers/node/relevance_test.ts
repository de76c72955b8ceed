import { describe, expect, test } from "bun:test";
import { isRelevantChange } from "../../../lib/controllers/node/relevance.ts";
import { type NodeOptions, toNode } from "../../support/nodes.ts";

test("isRelevantChange() passes over a heartbeat", () => {
  const before = toNode("n", { resourceVersion: "1" });
  const condition = { type: "Ready", status: "True", lastHeartbeatTime: "2026-01-01T00:00:10Z" };
  const after = toNode("n", { resourceVersion: "2" });
  expect(
    isRelevantChange(before, { ...after, status: { ...after.status, conditions: [condition] } }),
  ).toBe(false);
});

describe("isRelevantChange() sees", () => {
  const cases: readonly (readonly [string, NodeOptions])[] = [
    ["labels", { labels: { a: "b" } }],
    ["the annotation", { nodeIp: "10.0.0.1" }],
    ["the provider ID", { providerId: "test://i" }],
    ["taints", { uninitialized: false }],
    ["addresses", { addresses: [["InternalIP", "10.0.0.1"]] }],
    ["the system UUID", { systemUuid: "u" }],
  ];
  test.each(cases)("%s", (_what, options) => {
    expect(isRelevantChange(toNode("n"), toNode("n", options))).toBe(true);
  });
  test("new and deleted Nodes", () => {
    expect(isRelevantChange(undefined, toNode("n"))).toBe(true);
    expect(isRelevantChange(toNode("n"), undefined)).toBe(true);
  });
});
