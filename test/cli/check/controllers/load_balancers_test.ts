import { describe, expect, test } from "bun:test";
import { addLoadBalancers } from "../../../../lib/cli/check/controllers/load_balancers.ts";
import type { NodePlan } from "../../../../lib/cli/check/nodes.ts";
import type { LoadBalancerInspection } from "../../../../lib/cloud/capabilities/load_balancers.ts";
import { CloudError } from "../../../../lib/cloud/errors.ts";
import type { Instance } from "../../../../lib/cloud/instance.ts";
import type { Finding } from "../../../../lib/cloud/inspection.ts";
import { LOAD_BALANCERS } from "../../../../lib/cloud/pools/settings.ts";
import type { Node } from "../../../../lib/kube/kinds/node.ts";
import type { Service } from "../../../../lib/kube/kinds/service.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { FakeProvider, toInstance, toInventory } from "../../../support/cloud/instances.ts";
import { LoadBalancersDouble } from "../../../support/cloud/load_balancers_double.ts";
import { ScriptedKubeClient, type ScriptStep } from "../../../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../../../support/manual_clock.ts";

const { signal } = new AbortController();
const STEP = { status: "skipped", skipped: "no reason", findings: [] } as const;
const SERVICE = {
  metadata: { name: "web", namespace: "default", uid: "u" },
  spec: { type: "LoadBalancer" },
  status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } },
};
const SERVING = {
  chosen: [{ name: "service" }],
  served: [SERVICE],
  nodes: [],
  sections: undefined,
  client: undefined,
};

function toPlanOf(name: string): NodePlan {
  const instance = { id: `id-of-${name}`, name, state: "running", providerId: "x" } as const;
  return {
    name,
    level: "ok",
    ready: true,
    uninitialized: false,
    presence: "present",
    matchedBy: "name",
    instance,
    changes: [],
    problems: [],
  };
}

class Inspected extends FakeProvider {
  readonly asked: LoadBalancerInspection[] = [];
  readonly loadBalancers = Object.assign(new LoadBalancersDouble(), {
    inspect: async (known: LoadBalancerInspection): Promise<readonly Finding[]> => {
      this.asked.push(known);
      return this.answer();
    },
  });
  readonly answer: () => readonly Finding[];
  constructor(answer: () => readonly Finding[]) {
    super();
    this.answer = answer;
  }
}

describe("addLoadBalancers()", () => {
  test("adds what the cloud says about Services and instances of Nodes", async () => {
    const provider = new Inspected(() => [{ level: "warning", code: "x", message: "look" }]);
    const step = await addLoadBalancers(STEP, { ...SERVING, provider }, signal);
    expect(step).toMatchObject({ status: "warning", findings: [{ message: "look" }] });
    expect(provider.asked[0]?.claims.map(({ owner }) => owner.name)).toEqual(["web"]);
  });

  test("tells the cloud which Nodes may get traffic, with their InternalIPs", async () => {
    const provider = new Inspected(() => []);
    const toNode = (name: string, labels: Record<string, string>): Node => ({
      metadata: { name, labels },
      status: { addresses: [{ type: "InternalIP", address: "10.0.0.7" }] },
    });
    const excluded = { "node.kubernetes.io/exclude-from-external-load-balancers": "" };
    const items = [toNode("a", {}), toNode("b", excluded), toNode("c", {})];
    const nodes = ["a", "b", "d"].map((name) => toPlanOf(name));
    const search = { ...SERVING, provider, nodes };
    const client = new ScriptedKubeClient(new ManualClock(), [
      { page: { items, resourceVersion: "1" } },
    ]);
    await addLoadBalancers(STEP, { ...search, client }, signal);
    expect(provider.asked[0]?.backends).toEqual([
      { nodeName: "a", instanceId: "id-of-a", internalIps: ["10.0.0.7"] },
    ]);
    await addLoadBalancers(STEP, search, signal);
    expect(provider.asked[1]?.backends.map(({ nodeName }) => nodeName)).toEqual(["a", "b", "d"]);
  });

  test.each<[string, (name: string) => object, object | undefined]>([
    [
      "IDs and Services",
      (name) => ({ metadata: { name, uid: "of-namespace" } }),
      {
        ids: ["of-namespace", "of-service"],
        services: { uids: new Set(["u", "of-service"]), addresses: new Set(["192.0.2.1"]) },
      },
    ],
    [
      "nothing if Kubernetes does not answer",
      () => {
        throw new KubeError("unavailable", "no answer");
      },
      undefined,
    ],
  ])("lets the cloud ask for what Kubernetes has now: %s", async (_what, answerRead, expected) => {
    const provider = new Inspected(() => []);
    const own = { metadata: { name: "kubernetes", namespace: "default", uid: "of-service" } };
    const page = { items: [SERVICE, own], resourceVersion: "1" };
    const client = new ScriptedKubeClient(new ManualClock(), [{ page }]);
    client.answerRead = ({ name }) => answerRead(name ?? "");
    await addLoadBalancers(STEP, { ...SERVING, provider, client }, signal);
    expect(client.requests).toEqual([]);
    expect(await provider.asked[0]?.readCluster?.(signal)).toEqual(expected as never);
  });

  test("fails if the cloud cannot answer", async () => {
    const provider = new Inspected(() => {
      throw new CloudError("unreachable", "no answer");
    });
    const step = await addLoadBalancers(STEP, { ...SERVING, provider }, signal);
    expect(step).toMatchObject({ status: "failure", findings: [{ message: "no answer" }] });
  });

  test("says how full the pools are where the cloud has no load balancers", async () => {
    const { settings } = LOAD_BALANCERS.parse({ pools: [{ name: "a", addresses: ["192.0.2.1"] }] });
    const sections = new Map([[LOAD_BALANCERS.key, settings]]);
    const provider = new FakeProvider();
    const step = await addLoadBalancers(STEP, { ...SERVING, sections, provider }, signal);
    expect(step.findings).toMatchObject([{ code: "addressPoolFull" }]);
  });

  test("names the addresses of pools that Nodes, machines and externalIPs have", async () => {
    const range = "192.0.2.1-192.0.2.9";
    const { settings } = LOAD_BALANCERS.parse({ pools: [{ name: "a", addresses: [range] }] });
    const sections = new Map([[LOAD_BALANCERS.key, settings]]);
    const node: Node = {
      metadata: { name: "n1" },
      status: { addresses: [{ type: "InternalIP", address: "192.0.2.2" }] },
    };
    const manual = {
      metadata: { name: "manual", namespace: "default", uid: "m" },
      spec: { type: "ClusterIP", externalIPs: ["192.0.2.4"] },
    };
    const toMachine = (name: string, address: string): Instance =>
      toInstance(name, { addresses: [{ type: "InternalIP", address }] });
    // The Node announces the address of the Service.
    const machines = [toMachine("db", "192.0.2.3"), toMachine("n1", "192.0.2.1")];
    const client = new ScriptedKubeClient(new ManualClock(), [
      { page: { items: [node], resourceVersion: "1" } },
      { page: { items: [SERVICE, manual], resourceVersion: "1" } },
    ]);
    const inventory = toInventory(machines);
    const search = { ...SERVING, sections, provider: new FakeProvider(), client, inventory };
    const { findings } = await addLoadBalancers(STEP, search, signal);
    expect(findings).toMatchObject([
      { code: "addressPool", message: "address pool a: 4 of 9 IPv4 addresses are in use" },
      {
        level: "warning",
        code: "addressPoolInUse",
        message:
          "address pool a holds addresses that something else uses: 192.0.2.2 is an address of the Node n1; " +
          '192.0.2.3 is an address of the machine "db"; 192.0.2.4 is in spec.externalIPs of the Service default/manual',
      },
    ]);
  });

  test("says which flags serve the Services that Landfall gave addresses of pools", async () => {
    const range = "192.0.2.1-192.0.2.9";
    const { settings } = LOAD_BALANCERS.parse({ pools: [{ name: "a", addresses: [range] }] });
    const sections = new Map([[LOAD_BALANCERS.key, settings]]);
    const annotations = { "landfall.dev/load-balancer": "{}" };
    const toOwn = (name: string, ip: string): Service => ({
      ...SERVICE,
      metadata: { name, namespace: "default", uid: name, annotations },
      status: { loadBalancer: { ingress: [{ ip }] } },
    });
    const own = [toOwn("m1", "192.0.2.2"), toOwn("m2", "192.0.2.3")];
    const ask = async (services: readonly Service[]): Promise<unknown> => {
      const client = new ScriptedKubeClient(new ManualClock(), [
        { page: { items: [], resourceVersion: "1" } },
        { page: { items: services, resourceVersion: "1" } },
      ]);
      const search = { ...SERVING, served: [], sections, provider: new FakeProvider(), client };
      return (await addLoadBalancers(STEP, search, signal)).findings;
    };
    const unserved = {
      level: "warning",
      code: "addressPoolUnserved",
      message:
        "Landfall gave 2 Services addresses of a pool and does not serve them now: default/m1 (192.0.2.2); " +
        "default/m2 (192.0.2.3)",
      advice: "set --load-balancer-class or --serve-services-without-class so that it does",
    };
    expect(await ask(own)).toMatchObject([{ code: "addressPool" }, unserved]);
    expect(await ask([...own.slice(1), SERVICE])).toMatchObject([
      { code: "addressPool" },
      {
        message:
          "Landfall gave 1 Service an address of a pool and does not serve it now: default/m2 (192.0.2.3)",
      },
      { code: "addressPoolInUse" },
    ]);
  });

  test("warns of Services that pools served, after the last pool is gone", async () => {
    const annotations = { "landfall.dev/load-balancer": "{}" };
    const items = [{ ...SERVICE, metadata: { ...SERVICE.metadata, annotations } }];
    const gone = { ...SERVING, provider: new FakeProvider(), served: [] };
    const ask = (
      steps: readonly ScriptStep[],
      chosen = gone.chosen,
    ): ReturnType<typeof addLoadBalancers> => {
      const client = new ScriptedKubeClient(new ManualClock(), [...steps]);
      return addLoadBalancers(STEP, { ...gone, chosen, client }, signal);
    };
    const { findings } = await ask([{ page: { items, resourceVersion: "1" } }]);
    expect(findings).toMatchObject([{ level: "warning", code: "noAddressPools" }]);
    expect(await ask([{ fail: new KubeError("forbidden", "no") }])).toBe(STEP);
    // Another process serves them.
    expect(await ask([{ page: { items, resourceVersion: "1" } }], [{ name: "vino" }])).toBe(STEP);
  });

  test.each([
    ["the controller service does not run", { chosen: [{ name: "cloud-node" }] }],
    ["the settings cannot be used", { provider: undefined }],
  ])("adds nothing if %s", async (_what, over) => {
    const provider = new Inspected(() => [{ level: "warning", code: "x", message: "look" }]);
    const step = await addLoadBalancers(STEP, { ...SERVING, provider, ...over }, signal);
    expect(step).toBe(STEP);
  });
});
