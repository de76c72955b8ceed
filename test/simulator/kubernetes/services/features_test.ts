import { expect, test } from "bun:test";
import { toServiceFeatures } from "../../../../lib/simulator/kubernetes/services/features.ts";

test.each([
  [20, []],
  [21, ["hasFamilies"]],
  [22, ["hasFamilies", "hasClass"]],
  [24, ["hasFamilies", "hasClass", "mixesProtocols"]],
  [29, ["hasFamilies", "hasClass", "mixesProtocols"]],
  [30, ["hasFamilies", "hasClass", "mixesProtocols", "hasIpMode"]],
])("toServiceFeatures() of 1.%d has %j", (minor, expected) => {
  const features = Object.entries(toServiceFeatures(minor));
  expect(features.flatMap(([name, has]) => (has ? [name] : []))).toEqual([...expected]);
});
