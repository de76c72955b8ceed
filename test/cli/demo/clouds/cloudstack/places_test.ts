import { expect, test } from "bun:test";
import {
  describe as describeNode,
  describePlace,
  isInZone,
  isOfType,
} from "../../../../../lib/cli/demo/clouds/cloudstack/places.ts";
import { toNode } from "../../../../support/nodes/nodes.ts";

const PLACE = {
  "topology.kubernetes.io/zone": "lyon",
  "failure-domain.beta.kubernetes.io/zone": "lyon",
  "topology.kubernetes.io/region": "lyon",
  "failure-domain.beta.kubernetes.io/region": "lyon",
};
const TYPE = { "node.kubernetes.io/instance-type": "t", "beta.kubernetes.io/instance-type": "t" };

test("isInZone() and isOfType() are true only if every label says so", () => {
  const node = toNode("n", { labels: { ...PLACE, ...TYPE } });
  expect([isInZone(node, "lyon"), isInZone(node, "paris")]).toEqual([true, false]);
  expect([isOfType(node, "t"), isOfType(node, "u")]).toEqual([true, false]);
  expect(isOfType(undefined, "t")).toBe(false);
  for (const key of Object.keys(PLACE)) {
    const changed = toNode("n", { labels: { ...PLACE, [key]: "other" } });
    expect(isInZone(changed, "lyon"), key).toBe(false);
  }
  for (const key of Object.keys(TYPE)) {
    expect(isOfType(toNode("n", { labels: { ...TYPE, [key]: "u" } }), "t"), key).toBe(false);
  }
});

test("describe() and describePlace() tell the type and the zone", () => {
  const node = toNode("n", { labels: { ...PLACE, ...TYPE } });
  expect(describeNode(node)).toBe("t in zone lyon");
  expect(describePlace(node)).toBe("in zone lyon");
});
