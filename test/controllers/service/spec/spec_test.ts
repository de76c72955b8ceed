import { describe, expect, test } from "bun:test";
import { toClaim, toSpec } from "../../../../lib/controllers/service/spec/spec.ts";
import type { Service } from "../../../../lib/kube/kinds/service.ts";
import { toService } from "../../../support/services/service.ts";

const RECORD = "landfall.dev/load-balancer";

describe("toClaim()", () => {
  test("takes the record out of the annotations, and everything else as it is", () => {
    const service = toService({
      metadata: { labels: { tier: "front" }, annotations: { mine: "1", [RECORD]: "text" } },
      spec: { loadBalancerIP: " 192.0.2.7 " },
      status: {
        loadBalancer: { ingress: [{ ip: "192.0.2.7", ipMode: "VIP" }, { hostname: "a.example" }] },
      },
    });
    expect(toClaim(service)).toEqual({
      owner: { namespace: "web", name: "shop", uid: "uid-1" },
      annotations: { mine: "1" },
      labels: { tier: "front" },
      address: "192.0.2.7",
      ports: [{ port: 80, protocol: "TCP" }],
      ingress: [{ ip: "192.0.2.7", ipMode: "VIP" }, { hostname: "a.example" }],
      record: "text",
    });
  });

  test("fails on nothing", () => {
    const ports = [
      { port: 80, protocol: "TCP" },
      { port: 1, protocol: "QUIC" },
    ];
    const ingress = [{}, { ip: "x", ipMode: "Strange" }];
    const claim = toClaim(
      toService({ spec: { ports, ipFamilies: ["IPv7"] }, status: { loadBalancer: { ingress } } }),
    );
    expect(claim).toMatchObject({ ports: [{ port: 80 }], ingress: [{ ip: "x" }] });
    expect(toClaim({ metadata: { name: "shop" } }).owner).toEqual({
      namespace: "",
      name: "shop",
      uid: "",
    });
  });
});

describe("toSpec()", () => {
  function read(spec: Service["spec"]): unknown {
    const reading = toSpec(toService({ spec }), []);
    return "spec" in reading ? reading.spec : reading.problem;
  }

  test("has the defaults of the API server", () => {
    expect(read({ ports: [{ port: 80 }] })).toEqual({
      owner: { namespace: "web", name: "shop", uid: "uid-1" },
      annotations: {},
      labels: {},
      ingress: [],
      ports: [{ protocol: "TCP", port: 80 }],
      trafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      backends: [],
    });
  });

  test.each<[string, Service["spec"], object]>([
    [
      "ports",
      { ports: [{ name: "dns", port: 53, protocol: "UDP", nodePort: 30_053, appProtocol: "dns" }] },
      { ports: [{ name: "dns", protocol: "UDP", port: 53, nodePort: 30_053, appProtocol: "dns" }] },
    ],
    [
      "ports without node ports",
      { ports: [{ port: 53, nodePort: 0 }] },
      { ports: [{ protocol: "TCP", port: 53 }] },
    ],
    ["affinity", { sessionAffinity: "ClientIP" }, { clientIpAffinity: { timeoutSeconds: 10_800 } }],
    [
      "its time",
      { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } },
      { clientIpAffinity: { timeoutSeconds: 5 } },
    ],
    [
      "S-17 the health check of Local",
      { externalTrafficPolicy: "Local", healthCheckNodePort: 30_900 },
      { trafficPolicy: "Local", healthCheckNodePort: 30_900 },
    ],
    [
      "dual-stack",
      { ipFamilies: ["IPv6", "IPv4"], ipFamilyPolicy: "PreferDualStack" },
      { ipFamilies: ["IPv6", "IPv4"], ipFamilyPolicy: "PreferDualStack" },
    ],
    [
      "source ranges",
      { loadBalancerSourceRanges: ["10.0.0.0/8"] },
      { sourceRanges: ["10.0.0.0/8"] },
    ],
  ])("reads %s", (_what, spec, expected) => {
    expect(read(spec)).toMatchObject(expected);
  });

  test("S-17 has no health check port of Cluster, nor of Local without one", () => {
    const hasPort = (spec: Service["spec"]): boolean =>
      Object.hasOwn(Object(read(spec)), "healthCheckNodePort");
    expect(hasPort({ externalTrafficPolicy: "Cluster", healthCheckNodePort: 30_900 })).toBe(false);
    expect(hasPort({ externalTrafficPolicy: "Local", healthCheckNodePort: 0 })).toBe(false);
  });

  test.each<[string, Service["spec"]]>([
    ["spec.ports: there is none", { ports: [] }],
    ['spec.ports[0].protocol: "QUIC" is not known', { ports: [{ port: 80, protocol: "QUIC" }] }],
    ["spec.ports[0].port: 65536 is not a port", { ports: [{ port: 65_536 }] }],
    ["spec.ports[0].nodePort: -1 is not a port", { ports: [{ port: 80, nodePort: -1 }] }],
    ["spec.ports[1]: TCP 80 is there twice", { ports: [{ port: 80 }, { port: 80 }] }],
    ['spec.ipFamilies: "IPv7" is not known', { ipFamilies: ["IPv7"] }],
  ])("says %s", (problem, spec) => {
    expect(read(spec)).toBe(problem);
  });
});
