import { expect, test } from "bun:test";
import { planKeeping } from "../../../../../lib/providers/cloudstack/load_balancers/plan/keeping.ts";
import { toScene } from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import { createCloud, LB_NAME, toBackend, toSpec } from "../cloud/services.ts";

function keep(who?: { readonly sources?: readonly string[] }): readonly string[] {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const rule = cloud.addRule({
    name: `${LB_NAME}-udp-80`,
    addressId,
    networkId: "net-1",
    privatePort: 1,
  });
  cloud.addFirewallRule({ addressId });
  const steps = planKeeping(toScene(cloud.view(), toSpec()), [rule], [toBackend(1)], who);
  return steps.map(({ change }) => change.kind);
}

test("rules that stay for now get their backends", () => {
  expect(keep()).toEqual(["addBackends"]);
});

test("rules that stay for now keep out who may no longer connect", () => {
  expect(keep({ sources: ["10.0.0.0/8"] })).toEqual([
    "createFirewallRule",
    "deleteFirewallRule",
    "addBackends",
  ]);
  expect(keep({})).toEqual(["addBackends"]);
});
