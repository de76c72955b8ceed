/**
 * Which Nodes are behind a load balancer, and what a Service says about those that are not.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { JsonObject } from "../../../lib/simulator/kubernetes/patches/json.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { toNode } from "../../support/nodes/nodes.ts";
import { type ServiceRig, startServices, startShop } from "../../support/services/service_rig.ts";

const KEY = "web/shop";
const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";
const SELECTOR = "landfall.dev/load-balancer-node-selector";
const ABSENT = "NodesNotInLoadBalancer";

function readBackends(rig: ServiceRig, uid = "uid-2"): readonly string[] | undefined {
  return rig.cloud.rules.get(uid)?.get("TCP 80")?.backends;
}

/** A Ready Node with a provider ID, with or without its machine. */
function toReady(name: string, labels: Record<string, string> = {}): Node {
  return toNode(name, {
    providerId: `test://${name}`,
    uninitialized: false,
    ready: "True",
    labels,
  });
}

function listMessages(rig: ServiceRig, wanted: string): (string | undefined)[] {
  return rig.events.filter(({ reason }) => reason === wanted).map(({ message }) => message);
}

function select(selector: string): JsonObject {
  return { metadata: { annotations: { [SELECTOR]: selector } } };
}

/** A rig whose load balancers know only machines that the cloud shows. */
async function startHonest(): Promise<ServiceRig> {
  const rig = await startShop();
  rig.cloud.isShown = (id) => rig.provider.instances.has(id);
  return rig;
}

describe("the machine of a Node", () => {
  test("that an inventory shows after the Node came makes it a backend within seconds", async () => {
    await using rig = await startHonest();
    rig.nodes.put(toReady("n3"));
    await rig.clock.advance(10_000);
    expect(readBackends(rig)).toEqual(["n1", "n2"]);
    // What no Service asks about makes nothing else go unnoticed.
    rig.nodes.put(toReady("n1", { pool: "a" }));
    rig.provider.instances.set("n3", toInstance("n3"));
    // The next inventory, and two seconds.
    await rig.clock.advance(rig.provider.refreshIntervalMs + 2_000);
    expect(readBackends(rig)).toEqual(["n1", "n2", "n3"]);
    expect(listMessages(rig, ABSENT)).toEqual([]);
  });

  test("is followed: what an inventory shows of it may change the load balancer", async () => {
    await using rig = await startHonest();
    await rig.clock.advance(60_000);
    const looks = rig.cloud.looks.length;
    const { refreshIntervalMs } = rig.provider;
    await rig.clock.advance(refreshIntervalMs);
    expect(rig.cloud.looks.length).toBe(looks);
    const addresses = [{ type: "InternalIP", address: "10.0.0.9" }] as const;
    rig.provider.instances.set("n2", toInstance("n2", { addresses }));
    await rig.clock.advance(refreshIntervalMs + 2_000);
    expect(rig.cloud.looks.length).toBeGreaterThan(looks);
  });

  test("that is made again under its name: the Service names the Node once, until it is right", async () => {
    await using rig = await startHonest();
    rig.nodes.put(toReady("n2"));
    await rig.clock.advance(1_000);
    rig.provider.instances.delete("n2");
    rig.provider.instances.set("n2-new", toInstance("n2-new", { name: "n2" }));
    await rig.clock.advance(1_800_000);
    expect(readBackends(rig)).toEqual(["n1"]);
    const [message, ...more] = listMessages(rig, ABSENT);
    expect(message).toStartWith("The load balancer cannot use 1 Ready Node: n2: The provider ID");
    expect(message).toContain('machine "n2" (test://n2-new)');
    expect(message).toContain("delete the Node and restart its kubelet");
    expect(more).toEqual([]);
    const service = rig.server.find(KEY);
    expect(service && rig.controller.describe(service)).toMatchObject({
      state: "ready",
      problems: [{ reason: ABSENT, message }],
    });
    rig.nodes.remove("n2");
    rig.nodes.put({ ...toReady("n2"), spec: { providerID: "test://n2-new" } });
    await rig.clock.advance(2_000);
    expect(readBackends(rig)).toEqual(["n1", "n2-new"]);
    expect(service && rig.controller.describe(service)?.problems).toEqual([]);
  });

  test("is not missed on a Service while its kubelet may not know that it is gone", async () => {
    await using rig = await startHonest();
    rig.nodes.put(toReady("n2"));
    rig.provider.instances.delete("n2");
    await rig.clock.advance(50_000);
    rig.nodes.setReady("n2", "Unknown");
    await rig.clock.advance(1_800_000);
    expect(listMessages(rig, ABSENT)).toEqual([]);
  });

  test("of another cloud is named, and at most three have their reasons", async () => {
    await using rig = await startHonest();
    for (const name of ["a", "b", "c", "d"]) {
      rig.nodes.put({ ...toReady(name), spec: { providerID: `other://${name}` } });
    }
    await rig.clock.advance(120_000);
    const why = "its provider ID is of another cloud";
    expect(listMessages(rig, ABSENT)).toEqual([
      `The load balancer cannot use 4 Ready Nodes: a: ${why}; b: ${why}; c: ${why}; and 1 more`,
    ]);
    expect(readBackends(rig)).toEqual(["n1", "n2"]);
  });
});

describe("a Service that chooses its Nodes", () => {
  const addPools = async (rig: ServiceRig): Promise<void> => {
    await rig.addNode("n1", () => toReady("n1", { pool: "a" }));
    await rig.addNode("n2", () => toReady("n2", { pool: "b" }));
  };

  test("has those with the labels, and follows labels and its annotation", async () => {
    await using rig = await startServices();
    await addPools(rig);
    rig.server.add("shop", select("pool in (a, c)"));
    await rig.add("other");
    expect([readBackends(rig), readBackends(rig, "uid-3")]).toEqual([["n1"], ["n1", "n2"]]);
    const looks = rig.cloud.looks.length;
    await rig.addNode("n2", () => toReady("n2", { pool: "c" }));
    await rig.clock.advance(1_000);
    expect([readBackends(rig), readBackends(rig, "uid-3")]).toEqual([
      ["n1", "n2"],
      ["n1", "n2"],
    ]);
    expect(rig.listReasons("web/other")).toEqual(["EnsuringLoadBalancer", "EnsuredLoadBalancer"]);
    // Those of one Service: the other one was not planned again.
    expect(rig.cloud.looks.length - looks).toBe(2);
    await rig.change(KEY, select("pool=c"));
    expect(readBackends(rig)).toEqual(["n2"]);
    expect([...(rig.cloud.excluded.get("uid-2") ?? [])]).toEqual(["n1"]);
    await rig.change(KEY, { metadata: { annotations: null } });
    expect(readBackends(rig)).toEqual(["n1", "n2"]);
  });

  test("by labels that Nodes got before it asked for any has those Nodes", async () => {
    await using rig = await startShop();
    await addPools(rig);
    await rig.change(KEY, select("pool=b"));
    expect(readBackends(rig)).toEqual(["n2"]);
  });

  test.each([
    ["pool in a", '"pool in a" is not a label selector'],
    [",".repeat(501), "has more than 500 characters"],
    ["a,b,c,d,e,f,g,h,i,j,k", "has more than 10 parts"],
  ])("by something that is no selector keeps what it has, and says so: %#", async (bad, text) => {
    await using rig = await startServices();
    await addPools(rig);
    await rig.add("shop", select("pool=a"));
    const before = [structuredClone(rig.cloud.rules), rig.readAddress(KEY)];
    await rig.change(KEY, select(bad));
    await rig.addNode("n3", () => toReady("n3", { pool: "a" }));
    await rig.clock.advance(700_000);
    expect([rig.cloud.rules, rig.readAddress(KEY)]).toEqual(before);
    expect(listMessages(rig, "SyncLoadBalancerFailed")[0]).toContain(
      `annotation ${SELECTOR}: ${text}`,
    );
    await rig.change(KEY, select("pool=a"));
    expect(readBackends(rig)).toEqual(["n1", "n3"]);
  });
});

test("the Event for a change names the Nodes that a label excludes", async () => {
  await using rig = await startServices();
  await rig.addNode("n2", () => toReady("n2", { [EXCLUDE]: "" }));
  await rig.add("shop");
  expect(listMessages(rig, "EnsuredLoadBalancer")).toEqual([
    `Ensured load balancer; the label ${EXCLUDE} excludes n2`,
  ]);
  await rig.addNode("n1", () => toReady("n1", { [EXCLUDE]: "" }));
  await rig.addNode("n3");
  await rig.clock.advance(700_000);
  expect(listMessages(rig, "UpdatedLoadBalancer")).toEqual([
    `Updated load balancer with new hosts; the label ${EXCLUDE} excludes n1; n2`,
  ]);
});

describe("the Event for a load balancer without Nodes", () => {
  const NONE = "There are no available nodes for LoadBalancer";
  const listProblems = (rig: ServiceRig): string[] => {
    const service = rig.server.find(KEY);
    const { state, problems = [] } = (service && rig.controller.describe(service)) ?? {};
    expect(state).toBe("ready");
    return problems.map(({ message }) => message);
  };

  test("names the label that excludes the last one", async () => {
    await using rig = await startShop({ nodes: 1 });
    await rig.addNode("n1", () => toReady("n1", { [EXCLUDE]: "" }));
    await rig.clock.advance(2_000);
    expect(readBackends(rig)).toEqual([]);
    expect(listMessages(rig, "UnAvailableLoadBalancer")).toEqual([
      `${NONE}: the label ${EXCLUDE} excludes n1`,
    ]);
    expect(listProblems(rig)).toEqual([`${NONE}: the label ${EXCLUDE} excludes n1`]);
  });

  test("names the annotation that no Node fulfils", async () => {
    await using rig = await startServices();
    await rig.add("shop", select("pool=none"));
    expect(readBackends(rig)).toEqual([]);
    const message = `${NONE}: no Node has the labels that the annotation ${SELECTOR} asks for: label one, or change it`;
    expect(listMessages(rig, "UnAvailableLoadBalancer")).toEqual([message]);
    expect(listProblems(rig)).toEqual([message]);
  });
});
