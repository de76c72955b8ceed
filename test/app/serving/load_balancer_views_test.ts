import { expect, test } from "bun:test";
import { toLoadBalancerSource } from "../../../lib/app/serving/load_balancer_views.ts";
import { SERVICES } from "../../../lib/kube/kinds/service.ts";
import { toServedParts } from "../../support/page/served_parts.ts";

test("toLoadBalancerSource() lists the Services that the controller describes, in order", () => {
  const { controllers } = toServedParts(SERVICES, ["z/b", "y/a", "y/none"], {
    describe: ({ metadata: { name } }) =>
      name === "none" ? undefined : { state: "ready", ports: [name] },
  });
  const source = toLoadBalancerSource(controllers);
  expect([...(source?.list() ?? [])]).toMatchObject([
    { namespace: "y", name: "a", state: "ready", ports: ["a"], parts: [], lastReconcile: null },
    { namespace: "z", name: "b", state: "ready", ports: ["b"] },
  ]);
  expect(source?.listLeftovers()).toEqual([]);
  expect(source?.find("z/b")).toMatchObject({ name: "b" });
  expect([source?.find("y/none"), source?.find("y/other")]).toEqual([undefined, undefined]);
});

test("toLoadBalancerSource() has nothing without a controller of Services", () => {
  expect(toLoadBalancerSource([])).toBeUndefined();
});
