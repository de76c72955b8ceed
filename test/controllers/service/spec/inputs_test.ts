import { describe, expect, test } from "bun:test";
import { isDeepStrictEqual } from "node:util";
import { isDrift, listInputs } from "../../../../lib/controllers/service/spec/inputs.ts";
import type { Service } from "../../../../lib/kube/kinds/service.ts";
import { FINALIZER, toService } from "../../../support/services/service.ts";

function isSame(one: Service, other: Service): boolean {
  return isDeepStrictEqual(listInputs(one, undefined), listInputs(other, undefined));
}

describe("S-09 listInputs()", () => {
  const port = { name: "a", port: 80, protocol: "TCP", nodePort: 30_080, targetPort: 1 };
  const before = toService({ spec: { ports: [port], externalIPs: ["192.0.2.1"] } });
  const change = (spec: Service["spec"]): Service => ({
    ...before,
    spec: { ...before.spec, ...spec },
  });

  test.each<[string, Service]>([
    ["source ranges", change({ loadBalancerSourceRanges: ["10.0.0.0/8"] })],
    ["one port more", change({ ports: [port, { port: 81 }] })],
    ["the name of a port", change({ ports: [{ ...port, name: "b" }] })],
    ["its protocol", change({ ports: [{ ...port, protocol: "UDP" }] })],
    ["its number", change({ ports: [{ ...port, port: 81 }] })],
    ["its node port", change({ ports: [{ ...port, nodePort: 30_081 }] })],
    ["its target port", change({ ports: [{ ...port, targetPort: 2 }] })],
    ["its app protocol", change({ ports: [{ ...port, appProtocol: "http" }] })],
    ["affinity", change({ sessionAffinity: "ClientIP" })],
    [
      "the time of affinity",
      change({ sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } }),
    ],
    ["the wanted address", change({ loadBalancerIP: "192.0.2.9" })],
    ["external IPs", change({ externalIPs: ["192.0.2.2"] })],
    ["the number of external IPs", change({ externalIPs: [] })],
    ["the traffic policy", change({ externalTrafficPolicy: "Local" })],
    ["the health check port", change({ healthCheckNodePort: 30_900 })],
    ["S-19 IP families", change({ ipFamilies: ["IPv4", "IPv6"] })],
    ["the type", change({ type: "ClusterIP" })],
    ["the class", change({ loadBalancerClass: "example.com/other" })],
    ["an annotation", toService({ ...before, metadata: { annotations: { a: "1" } } })],
    [
      "a label: address pools select by labels",
      toService({ ...before, metadata: { labels: { a: "1" } } }),
    ],
    ["the UID", toService({ ...before, metadata: { uid: "uid-2" } })],
    ["a deletion", toService({ ...before, metadata: { deletionTimestamp: "2026" } })],
  ])("differ with %s", (_what, after) => {
    expect(isSame(before, after)).toBe(false);
    expect(isSame(before, before)).toBe(true);
  });

  test.each<[string, Service]>([
    [
      "our own record",
      toService({ metadata: { annotations: { "landfall.dev/load-balancer": "x" } } }),
    ],
    ["the finalizer", toService({ metadata: { finalizers: [FINALIZER] } })],
    ["the status", toService({ status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } })],
    ["the version", toService({ metadata: { resourceVersion: "2" } })],
  ])("are the same with %s", (_what, after) => {
    expect(isSame(toService(), after)).toBe(true);
  });

  test("are the same for Services without a load balancer", () => {
    const one = toService({ spec: { type: "ClusterIP" } });
    const other = toService({ metadata: { annotations: { a: "1" } }, spec: { type: "NodePort" } });
    expect(isSame(one, other)).toBe(true);
  });
});

describe("isDrift()", () => {
  const settled = toService({ metadata: { finalizers: [FINALIZER] } });
  const isSettled = (service: Service): boolean => service === settled;

  test("sees a status or a finalizer that others changed, and not our own writes", () => {
    const others = toService({ metadata: { finalizers: [] } });
    expect(isDrift(settled, others, isSettled)).toBe(true);
    expect(isDrift(others, settled, isSettled)).toBe(false);
    const cleared = toService({
      ...settled,
      status: { loadBalancer: { ingress: [{ ip: "x" }] } },
    });
    expect(isDrift(settled, cleared, isSettled)).toBe(true);
  });

  test("ignores other fields", () => {
    const labelled = { ...settled, metadata: { ...settled.metadata, labels: { a: "1" } } };
    expect(isDrift(settled, labelled, isSettled)).toBe(false);
  });
});
