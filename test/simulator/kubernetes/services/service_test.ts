import { expect, test } from "bun:test";
import {
  ingressOf,
  needsHealthPort,
  needsNodePorts,
  numberAt,
  portsOf,
  specOf,
  textsAt,
  typeOf,
} from "../../../../lib/simulator/kubernetes/services/service.ts";

test("what is not there reads as nothing", () => {
  expect([specOf({}), typeOf({}), portsOf({}), ingressOf({})]).toEqual([{}, "", [], []]);
  expect([textsAt({}, "a"), numberAt({}, "a")]).toEqual([[], 0]);
});

test("portsOf(), ingressOf(), textsAt() and numberAt() read what has the right type", () => {
  const service = {
    spec: { ports: [{ port: 1 }, "x"] },
    status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
  };
  expect(portsOf(service)).toEqual([{ port: 1 }]);
  expect(ingressOf(service)).toEqual([{ ip: "192.0.2.1" }]);
  expect(textsAt({ list: ["a", 1, "b"] }, "list")).toEqual(["a", "b"]);
  expect([numberAt({ a: 2 }, "a"), numberAt({ a: "2" }, "a")]).toEqual([2, 0]);
});

test.each([
  ["ClusterIP", "Local", false, false],
  ["NodePort", "Local", true, false],
  ["LoadBalancer", "Cluster", true, false],
  ["LoadBalancer", "Local", true, true],
])(
  "needsNodePorts() and needsHealthPort() of %s with %s are %p and %p",
  (type, policy, ports, health) => {
    const service = { spec: { type, externalTrafficPolicy: policy } };
    expect([needsNodePorts(service), needsHealthPort(service)]).toEqual([ports, health]);
  },
);
