import { expect, test } from "bun:test";
import { toLiveServices } from "../../../../lib/controllers/service/spec/live.ts";
import type { Service } from "../../../../lib/kube/kinds/service.ts";

function toService(uid: string, over: Partial<Service> = {}): Service {
  return { metadata: { name: uid, namespace: "web", uid }, ...over };
}

test("toLiveServices() knows every Service, and the addresses of those of type LoadBalancer", () => {
  const shown = {
    loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { hostname: "web.example.com" }] },
  };
  const live = toLiveServices([
    toService("a", { spec: { type: "LoadBalancer" }, status: shown }),
    toService("b", { spec: { type: "LoadBalancer", loadBalancerIP: " 192.0.2.2" } }),
    toService("c", {
      spec: { type: "LoadBalancer", loadBalancerIP: "typo", loadBalancerClass: "x" },
    }),
    toService("d", { spec: { type: "ClusterIP", loadBalancerIP: "192.0.2.3" } }),
    toService("e"),
  ]);
  expect([...live.uids]).toEqual(["a", "b", "c", "d", "e"]);
  expect([...live.addresses]).toEqual(["192.0.2.1", "192.0.2.2"]);
});
