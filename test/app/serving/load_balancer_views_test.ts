import { expect, test } from "bun:test";
import type { Parts } from "../../../lib/app/parts.ts";
import { listObjectPages } from "../../../lib/app/serving/debug_views.ts";
import { toLoadBalancerSource } from "../../../lib/app/serving/load_balancer_views.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { SERVICES } from "../../../lib/kube/kinds/service.ts";

function choose(): Parts["controllers"] {
  const [definition] = CONTROLLERS;
  if (definition === undefined) throw new Error("there is no controller");
  const objects = new Store({ resource: SERVICES, log: silentLogger });
  const toService = (name: string, namespace: string) => ({
    metadata: { name, namespace, uid: `uid-${name}` },
  });
  objects.replace([toService("b", "z"), toService("a", "y"), toService("none", "y")], "1");
  const describe = ({ metadata }: { metadata: { name: string } }): object | undefined =>
    metadata.name === "none" ? undefined : { state: "ready", ports: [metadata.name] };
  const run = async (): Promise<void> => {};
  return [
    { definition: { ...definition, kind: SERVICES }, controller: { run, objects, describe } },
  ];
}

test("toLoadBalancerSource() lists the Services that the controller describes, in order", () => {
  const source = toLoadBalancerSource(choose());
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

test("listObjectPages() leaves Services to their own pages", () => {
  expect(listObjectPages(choose())).toEqual([]);
});
