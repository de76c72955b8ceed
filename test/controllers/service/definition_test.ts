import { expect, test } from "bun:test";
import { serviceController } from "../../../lib/controllers/service/definition.ts";
import { SERVICES } from "../../../lib/kube/kinds/service.ts";

test("the controller of Services has the names, the flags and the rights of the Go controller", () => {
  const { name, aliases, component, kind, flags, rights, needs } = serviceController;
  expect([name, ...aliases, component]).toEqual([
    "service",
    "service-lb-controller",
    "service-controller",
  ]);
  expect(kind).toBe(SERVICES);
  expect(needs).toEqual(["loadBalancers"]);
  expect(flags.map((flag) => `${flag.name}=${flag.default}`)).toEqual([
    "concurrent-service-syncs=5",
    "service-sync-period=10m0s",
    "load-balancer-class=",
  ]);
  const { access } = rights[1] ?? {};
  expect(access).toEqual({ group: "", resource: "services", subresource: "status", verb: "patch" });
});

test.each<[string, string | undefined]>([
  ["", undefined],
  ["example.com/mine", undefined],
  ["mine", undefined],
  ["two words", "a class such as example.com/name"],
  ["Example.com/mine", "a class such as example.com/name"],
])("--load-balancer-class=%p: %p", (text, problem) => {
  const flag = serviceController.flags.find(({ name }) => name === "load-balancer-class");
  expect(flag?.type).toBe("string");
  expect(flag?.type === "string" ? flag.findProblem(text) : "").toBe(problem);
});
