import { expect, test } from "bun:test";
import { fieldOf } from "../../../../lib/simulator/kubernetes/schema/schema.ts";
import { toServiceFields } from "../../../../lib/simulator/kubernetes/schema/service_fields.ts";
import { toServiceFeatures } from "../../../../lib/simulator/kubernetes/services/features.ts";

test.each([
  [20, []],
  [21, ["ipFamilies"]],
  [22, ["ipFamilies", "loadBalancerClass"]],
  [30, ["ipFamilies", "loadBalancerClass", "ipMode"]],
])("toServiceFields() of 1.%d has of the newer fields: %j", (minor, expected) => {
  const fields = toServiceFields(toServiceFeatures(minor));
  const balancer = fieldOf(fields["status"], "loadBalancer");
  const ingress = fieldOf(balancer, "ingress");
  const entry = typeof ingress === "object" && "items" in ingress ? ingress.items : undefined;
  const found = [
    ...["ipFamilies", "loadBalancerClass"].filter(
      (key) => fieldOf(fields["spec"], key) !== undefined,
    ),
    ...(fieldOf(entry, "ipMode") === undefined ? [] : ["ipMode"]),
  ];
  expect(found).toEqual([...expected]);
});
