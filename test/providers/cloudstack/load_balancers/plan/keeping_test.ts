import { expect, test } from "bun:test";
import type { LoadBalancerPort } from "../../../../../lib/cloud/capabilities/load_balancers.ts";
import { planKeeping } from "../../../../../lib/providers/cloudstack/load_balancers/plan/keeping.ts";
import { toScene } from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import { createCloud, HTTP, LB_NAME, toBackend, toSpec } from "../cloud/services.ts";

function keep(
  who?: { readonly sources?: readonly string[] },
  port: LoadBalancerPort = { ...HTTP, protocol: "UDP" },
): readonly string[] {
  const cloud = createCloud();
  const { id: addressId } = cloud.addAddress({ ip: "192.0.2.1", networkId: "net-1" });
  const rule = cloud.addRule({
    name: `${LB_NAME}-udp-80`,
    addressId,
    networkId: "net-1",
    privatePort: 1,
    protocol: "udp",
  });
  cloud.addFirewallRule({ addressId, protocol: "udp" });
  const spec = toSpec({ ports: [port], backends: [toBackend(1)] });
  const steps = planKeeping(toScene(cloud.view(), spec), [rule], spec, who);
  return steps.map(({ change }) => change.kind);
}

test("rules that stay for now get their backends", () => {
  expect(keep()).toEqual(["addBackends"]);
});

test.each<[string, LoadBalancerPort]>([
  ["port", { ...HTTP, protocol: "UDP", port: 81 }],
  ["protocol", HTTP],
])(
  "rules that stay for now let no client in once the Service asks for another %s",
  (_what, port) => {
    for (const who of [{ sources: ["10.0.0.0/8"] }, {}]) {
      expect(keep(who, port)).toEqual(["deleteFirewallRule", "addBackends"]);
    }
    expect(keep(undefined, port)).toEqual(["addBackends"]);
  },
);

test("rules that stay for now keep out who may no longer connect", () => {
  expect(keep({ sources: ["10.0.0.0/8"] })).toEqual([
    "createFirewallRule",
    "deleteFirewallRule",
    "addBackends",
  ]);
  expect(keep({})).toEqual(["addBackends"]);
});
