/**
 * Contract of Services: defaults, what is allocated, the status, finalizers, and what is refused.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { Answer, ContractContext } from "./client.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const CLEANUP = "service.kubernetes.io/load-balancer-cleanup";
const BALANCED = { type: "LoadBalancer", ports: [{ port: 80 }] } as const;
const TWO_PORTS = [
  { name: "a", port: 80 },
  { name: "b", port: 81 },
];
const UDP = { name: "b", port: 80, protocol: "UDP" };

interface WirePort {
  readonly name?: string;
  readonly port: number;
  readonly nodePort?: number;
}

/** Adds the cases to the suite that is being described. */
export function addServiceCases(use: () => ContractContext): void {
  let count = 0;
  const post = (spec: object, more: object = {}): Promise<Answer> => {
    count += 1;
    const metadata = { name: `svc-${count}`, ...more };
    return use().client.send("POST", SERVICES, { metadata, spec });
  };
  const create = async (spec: object, more: object = {}): Promise<string> => {
    const answer = await post(spec, more);
    expect([answer.status, answer.body.message]).toEqual([201, undefined]);
    return `${SERVICES}/${answer.body.metadata.name}`;
  };
  const patch = (path: string, spec: object): Promise<Answer> =>
    use().client.patch(path, "merge", { spec });
  const patchIngress = (path: string, ingress: unknown, type: "merge" | "strategic" = "merge") =>
    use().client.patch(`${path}/status`, type, { status: { loadBalancer: { ingress } } });
  const portsOf = ({ body }: Answer): readonly WirePort[] => {
    const { ports } = { ports: [], ...body.spec };
    return ports;
  };
  const nodePortsOf = (answer: Answer): readonly (number | undefined)[] =>
    portsOf(answer).map(({ nodePort }) => nodePort);
  const refused = (answer: Answer, field: string): void => {
    const { message } = answer.body;
    expect([answer.status, message?.toLowerCase().includes(`: ${field}`) || message]).toEqual([
      422,
      true,
    ]);
  };

  describe("a Service", () => {
    test("is there for the API server itself, as is the namespace kube-system, each with a UID", async () => {
      const { client } = use();
      const [own, system] = await Promise.all(
        [`${SERVICES}/kubernetes`, "/api/v1/namespaces/kube-system"].map((path) =>
          client.get(path),
        ),
      );
      expect(own?.body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(system?.body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(own?.body.spec).toMatchObject({ type: "ClusterIP", clusterIP: "10.96.0.1" });
    });

    test("gets its defaults, and a cluster IP", async () => {
      const { body } = await post({ ports: [{ port: 80 }] });
      expect(body.spec).toMatchObject({
        type: "ClusterIP",
        sessionAffinity: "None",
        clusterIP: expect.stringMatching(/^10\./),
        clusterIPs: [body.spec?.["clusterIP"]],
        ports: [{ protocol: "TCP", port: 80, targetPort: 80 }],
      });
      expect(body.spec?.["externalTrafficPolicy"]).toBeUndefined();
      expect(body.status).toEqual({ loadBalancer: {} });
      expect(body.spec).toMatchObject({ ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" });
    });

    test("of type LoadBalancer gets a node port for each port, and no status that it brought", async () => {
      const { client } = use();
      const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
      const metadata = { name: "with-status" };
      const spec = { type: "LoadBalancer", ports: TWO_PORTS };
      const answer = await client.send("POST", SERVICES, { metadata, spec, status });
      expect(answer.body.status).toEqual({ loadBalancer: {} });
      expect(answer.body.spec).toMatchObject({ externalTrafficPolicy: "Cluster" });
      const nodePorts = nodePortsOf(answer);
      expect(new Set(nodePorts).size).toBe(2);
      for (const nodePort of nodePorts) expect(nodePort).toBeWithin(30_000, 32_768);
    });

    test("of type LoadBalancer gets no node ports if it wants none", async () => {
      const answer = await post({ ...BALANCED, allocateLoadBalancerNodePorts: false });
      expect(nodePortsOf(answer)).toEqual([undefined]);
      expect(answer.body.spec?.["allocateLoadBalancerNodePorts"]).toBe(false);
    });

    test("of type LoadBalancer may have several protocols, with one node port for a number", async () => {
      const answer = await post({ ...BALANCED, ports: [TWO_PORTS[0], UDP] });
      const [tcp, udp] = nodePortsOf(answer);
      expect([answer.status, udp]).toEqual([201, tcp]);
    });

    test("with traffic policy Local gets a port for health checks, and loses it with the policy", async () => {
      const path = await create({ ...BALANCED, externalTrafficPolicy: "Local" });
      const { spec } = (await use().client.get(path)).body;
      expect(spec?.["healthCheckNodePort"]).toBeWithin(30_000, 32_768);
      refused(await patch(path, { healthCheckNodePort: 30_999 }), "spec.healthchecknodeport");
      const cluster = await patch(path, { externalTrafficPolicy: "Cluster" });
      expect([cluster.status, cluster.body.spec?.["healthCheckNodePort"]]).toEqual([
        200,
        undefined,
      ]);
    });

    test("with affinity to clients has a time, 3 hours unless it says so, and loses it with the affinity", async () => {
      const path = await create({ ...BALANCED, sessionAffinity: "ClientIP" });
      const { spec } = (await use().client.get(path)).body;
      expect(spec?.["sessionAffinityConfig"]).toEqual({ clientIP: { timeoutSeconds: 10_800 } });
      const none = await patch(path, { sessionAffinity: "None" });
      expect(none.body.spec?.["sessionAffinityConfig"]).toBeUndefined();
    });

    test("keeps source ranges, load balancer IP and application protocol as they were written", async () => {
      const spec = {
        ...BALANCED,
        ports: [{ port: 80, appProtocol: "http" }],
        loadBalancerSourceRanges: ["10.0.0.0/8", "192.0.2.7/32"],
        loadBalancerIP: "192.0.2.7",
      };
      expect((await post(spec)).body.spec).toMatchObject(spec);
    });

    test("keeps its class as long as it is a load balancer", async () => {
      const path = await create({ ...BALANCED, loadBalancerClass: "example.com/a" });
      refused(await patch(path, { loadBalancerClass: "example.com/b" }), "spec.loadbalancerclass");
      refused(await patch(path, { loadBalancerClass: null }), "spec.loadbalancerclass");
      const other = await patch(path, { type: "ClusterIP" });
      expect(other.body.spec?.["loadBalancerClass"]).toBeUndefined();
    });
  });

  describe("an update of a Service", () => {
    test("that leaves out node ports keeps them by the name of the port", async () => {
      const path = await create({ type: "LoadBalancer", ports: TWO_PORTS });
      const before = nodePortsOf(await use().client.get(path));
      const after = await patch(path, { ports: [{ name: "b", port: 82 }, TWO_PORTS[0]] });
      expect(portsOf(after).map(({ name }) => name)).toEqual(["b", "a"]);
      expect(nodePortsOf(after)).toEqual(before.toReversed());
    });

    test("by a strategic patch merges ports by their number", async () => {
      const path = await create({ type: "LoadBalancer", ports: TWO_PORTS });
      const before = await use().client.get(path);
      const body = { spec: { ports: [{ name: "c", port: 81 }] } };
      const after = await use().client.patch(path, "strategic", body);
      expect(portsOf(after).find(({ port }) => port === 81)).toMatchObject({ name: "c" });
      expect(nodePortsOf(after).toSorted()).toEqual(nodePortsOf(before).toSorted());
    });

    test("to another type frees node ports, and the status of a load balancer goes", async () => {
      const path = await create({ ...BALANCED, externalTrafficPolicy: "Local" });
      await patchIngress(path, [{ ip: "192.0.2.1" }]);
      const { body } = await patch(path, { type: "ClusterIP" });
      expect(body.spec?.["ports"]).toEqual([{ protocol: "TCP", port: 80, targetPort: 80 }]);
      expect(body.spec).not.toHaveProperty("externalTrafficPolicy");
      expect(body.spec).not.toHaveProperty("healthCheckNodePort");
      expect(body.status).toEqual({ loadBalancer: {} });
    });

    test("that replaces the whole needs no cluster IP", async () => {
      const path = await create(BALANCED);
      const { metadata, spec } = (await use().client.get(path)).body;
      const { name, resourceVersion } = metadata;
      const body = { metadata: { name, resourceVersion }, spec: BALANCED };
      const answer = await use().client.send("PUT", path, body);
      expect(answer.body.spec).toEqual(spec);
    });

    test("never changes its cluster IP", async () => {
      const path = await create(BALANCED);
      refused(await patch(path, { clusterIP: "10.96.0.9" }), "spec.clusterips");
    });
  });

  describe("the status of a Service", () => {
    test("takes an ingress and metadata, and leaves the spec alone", async () => {
      const path = await create(BALANCED);
      const ingress = [{ hostname: "web.example.com" }];
      const answer = await use().client.patch(`${path}/status`, "merge", {
        metadata: { finalizers: [CLEANUP], annotations: { a: "b" } },
        spec: { sessionAffinity: "ClientIP" },
        status: { loadBalancer: { ingress } },
      });
      expect(answer.body.metadata).toMatchObject({
        finalizers: [CLEANUP],
        annotations: { a: "b" },
      });
      expect(answer.body.spec).toMatchObject({ sessionAffinity: "None" });
      expect(answer.body.status).toEqual({ loadBalancer: { ingress } });
    });

    test("is not changed by a write of the Service", async () => {
      const path = await create(BALANCED);
      const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
      const answer = await use().client.patch(path, "merge", { status });
      expect(answer.body.status).toEqual({ loadBalancer: {} });
    });

    test.each(["merge", "strategic"] as const)(
      "has an ingress that a %s patch replaces whole, and removes",
      async (type) => {
        const path = await create(BALANCED);
        await patchIngress(path, [{ hostname: "a.example" }, { hostname: "b.example" }]);
        const one = await patchIngress(path, [{ hostname: "c.example" }], type);
        expect(one.body.status).toEqual({ loadBalancer: { ingress: [{ hostname: "c.example" }] } });
        expect((await patchIngress(path, null, type)).body.status).toEqual({ loadBalancer: {} });
      },
    );

    test("keeps conditions beside the ingress", async () => {
      const path = await create(BALANCED);
      const condition = {
        type: "Example",
        status: "True",
        reason: "Test",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      };
      const body = { status: { conditions: [condition] } };
      await use().client.patch(`${path}/status`, "strategic", body);
      const answer = await patchIngress(path, [{ hostname: "a.example" }]);
      expect(answer.body.status).toMatchObject({ conditions: [condition] });
    });

    // Before 1.30 the mode is dropped.
    test("takes an IP with a mode, VIP or Proxy, and shows that mode or none", async () => {
      const path = await create(BALANCED);
      for (const ipMode of ["VIP", "Proxy"]) {
        const { status, body } = await patchIngress(path, [{ ip: "192.0.2.1", ipMode }]);
        expect(status).toBe(200);
        const entries = [{ ip: "192.0.2.1", ipMode }, { ip: "192.0.2.1" }];
        const known = entries.map((entry) => ({ loadBalancer: { ingress: [entry] } }));
        expect(known.some((one) => Bun.deepEquals(one, body.status))).toBe(true);
      }
    });

    test("is written with an ipMode twice without a change", async () => {
      const path = await create(BALANCED);
      const ingress = [{ ip: "192.0.2.1", ipMode: "VIP" }];
      const versions = [await patchIngress(path, ingress), await patchIngress(path, ingress)];
      const [first, second] = versions.map(({ body }) => body.metadata.resourceVersion);
      expect(second).toBe(first ?? "");
    });

    test.each([
      ["no IP", { ip: "a" }, "ip"],
      ["a name in capitals", { hostname: "A_b" }, "hostname"],
      ["an IP as a name", { hostname: "192.0.2.1" }, "hostname"],
    ])("refuses an ingress with %s", async (_title, entry, field) => {
      const path = await create(BALANCED);
      refused(await patchIngress(path, [entry]), `status.loadbalancer.ingress[0].${field}`);
    });
  });

  describe("finalizers of a Service", () => {
    const finalize = (path: string, metadata: object): Promise<Answer> =>
      use().client.patch(`${path}/status`, "strategic", { metadata });

    test("are added, ordered and removed by strategic patches of the status", async () => {
      const path = await create(BALANCED, { finalizers: ["example.com/x"] });
      const added = await finalize(path, {
        finalizers: [CLEANUP],
        "$setElementOrder/finalizers": ["example.com/x", CLEANUP],
      });
      expect(added.body.metadata["finalizers"]).toEqual(["example.com/x", CLEANUP]);
      const removed = await finalize(path, { "$deleteFromPrimitiveList/finalizers": [CLEANUP] });
      expect(removed.body.metadata["finalizers"]).toEqual(["example.com/x"]);
    });

    test("keep a deleted Service until the last one goes, and none comes then", async () => {
      const { client } = use();
      const path = await create(BALANCED, { finalizers: ["example.com/x", CLEANUP] });
      expect((await client.send("DELETE", path)).status).toBe(200);
      expect((await client.get(path)).body.metadata.deletionTimestamp).toBeString();
      refused(await finalize(path, { finalizers: ["example.com/y"] }), "metadata.finalizers");
      const ingress = [{ hostname: "a.example" }];
      expect((await patchIngress(path, ingress)).status).toBe(200);
      await finalize(path, { "$deleteFromPrimitiveList/finalizers": ["example.com/x"] });
      const last = await finalize(path, { "$deleteFromPrimitiveList/finalizers": [CLEANUP] });
      expect([last.status, last.body.metadata["finalizers"]]).toEqual([200, undefined]);
      expect((await client.get(path)).status).toBe(404);
    });

    test("stay in the order of a merge patch, which must be of the newest version if it says so", async () => {
      const { client } = use();
      const path = await create(BALANCED);
      const { resourceVersion } = (await client.get(path)).body.metadata;
      const body = { metadata: { resourceVersion, finalizers: [CLEANUP] } };
      expect((await client.patch(`${path}/status`, "merge", body)).status).toBe(200);
      expect((await client.patch(`${path}/status`, "merge", body)).status).toBe(409);
    });
  });

  describe("a Service is refused", () => {
    test.each<[string, object, string]>([
      ["without ports", { type: "LoadBalancer" }, "spec.ports"],
      ["with a port of 0", { ...BALANCED, ports: [{ port: 0 }] }, "[spec.ports[0].port"],
      ["with port 70000", { ...BALANCED, ports: [{ port: 70_000 }] }, "[spec.ports[0].port"],
      [
        "with two ports without names",
        { ports: [{ port: 1 }, { port: 2 }] },
        "[spec.ports[0].name",
      ],
      [
        "with a name twice",
        { ports: [TWO_PORTS[0], { name: "a", port: 9 }] },
        "spec.ports[1].name",
      ],
      ["with a port twice", { ports: [TWO_PORTS[0], { name: "b", port: 80 }] }, "spec.ports[1]"],
      ["with a name in capitals", { ports: [{ name: "A", port: 1 }] }, "spec.ports[0].name"],
      [
        "with an unknown protocol",
        { ports: [{ port: 1, protocol: "X" }] },
        "spec.ports[0].protocol",
      ],
      ["with a bad appProtocol", { ports: [{ port: 1, appProtocol: "a b" }] }, "spec.ports[0].app"],
      [
        "with a bad target",
        { ports: [{ port: 1, targetPort: "H_x" }] },
        "spec.ports[0].targetport",
      ],
      [
        "with a node port it has no use for",
        { ports: [{ port: 1, nodePort: 30_100 }] },
        "spec.ports",
      ],
      [
        "with a node port that is none",
        { ...BALANCED, ports: [{ port: 1, nodePort: 80 }] },
        "spec.p",
      ],
      ["of an unknown type", { ...BALANCED, type: "X" }, "spec.type"],
      ["with an unknown affinity", { ...BALANCED, sessionAffinity: "X" }, "spec.sessionaffinity"],
      [
        "with an affinity of more than a day",
        {
          ...BALANCED,
          sessionAffinity: "ClientIP",
          sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } },
        },
        "spec.sessionaffinityconfig",
      ],
      ["with a bad range", { ...BALANCED, loadBalancerSourceRanges: ["a"] }, "spec.loadbalancers"],
      [
        "with ranges it has no use for",
        { ports: [{ port: 1 }], loadBalancerSourceRanges: ["10.0.0.0/8"] },
        "spec.loadbalancers",
      ],
      ["with an unknown policy", { ...BALANCED, externalTrafficPolicy: "X" }, "spec.externalt"],
      [
        "with a policy it has no use for",
        { ports: [{ port: 1 }], externalTrafficPolicy: "Local" },
        "spec.externalt",
      ],
      [
        "with a health port for nothing",
        { ...BALANCED, healthCheckNodePort: 30_105 },
        "spec.health",
      ],
      ["as a headless load balancer", { ...BALANCED, clusterIP: "None" }, "spec.clusterip"],
      ["with a bad cluster IP", { ports: [{ port: 1 }], clusterIP: "x" }, "spec.clusterip"],
      [
        "with a foreign cluster IP",
        { ports: [{ port: 1 }], clusterIP: "192.0.2.1" },
        "spec.clusteri",
      ],
      [
        "with a bad external IP",
        { ports: [{ port: 1 }], externalIPs: ["x"] },
        "spec.externalips[0]",
      ],
      ["as a name without one", { type: "ExternalName" }, "spec.externalname"],
    ])("%s", async (_title, spec, field) => {
      refused(await post(spec), field);
    });

    test.each(["a".repeat(64), "a.b"])("with the name %s", async (name) => {
      refused(await post(BALANCED, { name }), "metadata.name");
    });

    test("with a node port that another one has", async () => {
      const path = await create(BALANCED);
      const [nodePort] = nodePortsOf(await use().client.get(path));
      refused(
        await post({ ...BALANCED, ports: [{ port: 1, nodePort }] }),
        "spec.ports[0].nodeport",
      );
      await use().client.send("DELETE", path);
      await create({ ...BALANCED, ports: [{ port: 1, nodePort }] });
    });

    test("with a finalizer whose name has no domain", async () => {
      refused(await post(BALANCED, { finalizers: ["nope"] }), "metadata.finalizers[0]");
    });
  });
}
