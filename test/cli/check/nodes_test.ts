import { describe, expect, test } from "bun:test";
import { listNodePlans } from "../../../lib/cli/check/nodes.ts";
import { DEFAULT_DELETION } from "../../../lib/cloud/deletion/guard.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toSettings } from "../../support/pools/services.ts";
import { FakeProvider, toInstance, toInventory } from "../../support/cloud/instances.ts";

const signal = new AbortController().signal;
const ACTING = { hasLifecycle: true, deletion: DEFAULT_DELETION } as const;

function toNode(name: string, providerID?: string): Node {
  const conditions = [{ type: "Ready", status: "True" }];
  return {
    metadata: { name },
    spec: providerID === undefined ? {} : { providerID },
    status: { conditions },
  };
}

function plan(
  provider: FakeProvider,
  nodes: readonly Node[],
  end: AbortSignal = signal,
  others: Parameters<typeof listNodePlans>[1]["others"] = { services: [], pools: [] },
): ReturnType<typeof listNodePlans> {
  const inventory = toInventory([...provider.instances.values()]);
  return listNodePlans(nodes, { provider, inventory, acting: ACTING, selector: [], others }, end);
}

describe("listNodePlans()", () => {
  test("says by name what each Node matches", async () => {
    const provider = new FakeProvider();
    provider.instances.set("a", toInstance("a"));
    const nodes = ["d test://d", "c", "b other://b", "a test://a"].map((line) => {
      const [name = "", providerId] = line.split(" ");
      return toNode(name, providerId);
    });
    const common = { ready: true, uninitialized: false, changes: [], problems: [] };
    expect(await plan(provider, nodes)).toEqual([
      {
        ...common,
        name: "a",
        level: "ok",
        providerId: "test://a",
        presence: "present",
        matchedBy: "providerId",
        instance: { id: "a", name: "a", state: "running", providerId: "test://a" },
      },
      {
        ...common,
        name: "b",
        level: "ok",
        providerId: "other://b",
        presence: "foreign",
        message: "the provider ID is another cloud's: the Node is left alone",
      },
      {
        ...common,
        name: "c",
        level: "warning",
        presence: "unknown",
        reason: "notFound",
        message: "no such instance",
      },
      {
        ...common,
        name: "d",
        level: "warning",
        providerId: "test://d",
        presence: "absent",
        message: "scripted",
      },
    ]);
  });

  const taints = [{ key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" }];
  const toTainted = (name: string, providerID?: string): Node => {
    const node = toNode(name, providerID);
    return { ...node, spec: { ...node.spec, taints } };
  };

  test.each([
    ["would be initialised", "a", undefined, "ok"],
    ["matches nothing", "c", undefined, "failure"],
    ["has a machine that is gone", "d", "test://d", "failure"],
    ["is another cloud's", "b", "other://b", "warning"],
  ] as const)("of a tainted Node that %s", async (_title, name, providerId, level) => {
    const provider = new FakeProvider();
    provider.instances.set("a", toInstance("a"));
    const found = await plan(provider, [toTainted(name, providerId ?? undefined)]);
    expect(found).toMatchObject([{ name, level, uninitialized: true }]);
  });

  test("warns of a Node that registered without the taint, and says how to add it", async () => {
    const provider = new FakeProvider();
    provider.instances.set("a", toInstance("a"));
    const [found] = await plan(provider, [toNode("a")]);
    expect(found).toMatchObject({ presence: "present", level: "warning" });
    expect(found?.problems.join()).toContain(
      "kubectl taint node a node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule",
    );
  });

  test("fails a tainted Node whose machine another Node has", async () => {
    const provider = new FakeProvider();
    provider.instances.set("a", toInstance("a"));
    const [, tainted] = await plan(provider, [toNode("0", "test://a"), toTainted("a")]);
    expect(tainted).toMatchObject({ presence: "present", level: "failure", changes: [] });
    expect(tainted?.problems.join()).toContain("claimed by");
  });

  test("says who has an address of a Node: a pool, a Service, or another Node", async () => {
    const provider = new FakeProvider();
    const nodes = ["10.0.0.1", "10.0.0.1", "10.0.0.9"].map((address, at) => {
      const addresses = [{ type: "InternalIP", address } as const];
      provider.instances.set(`n${at}`, toInstance(`n${at}`, { addresses }));
      const node = toNode(`n${at}`, `test://n${at}`);
      return { ...node, status: { ...node.status, addresses } };
    });
    const others = {
      services: [
        { metadata: { name: "s", namespace: "web" }, spec: { externalIPs: ["10.0.0.9"] } },
        // A server other than kube-apiserver may write `null` for what is absent.
        JSON.parse('{"metadata":{"name":"t"},"status":{"loadBalancer":{"ingress":[{"ip":null}]}}}'),
      ],
      pools: toSettings({ name: "main", addresses: ["10.0.0.9"] }).pools,
    };
    const plans = await plan(provider, nodes, signal, others);
    expect(plans).toMatchObject(nodes.map(() => ({ level: "warning", changes: [] })));
    const said = plans.map(({ problems }) => problems.join());
    expect(said[0]).toContain("10.0.0.1 is also an address of the Node n1");
    expect(said[1]).toContain("10.0.0.1 is also an address of the Node n0");
    expect(said[2]).toContain("that of the Service web/s and in the address pool main");
  });

  test("asks directly only for what the inventory lacks, and for fifty Nodes at most", async () => {
    const provider = new FakeProvider();
    provider.instances.set("a", toInstance("a"));
    await plan(provider, [toNode("a"), toNode("b")]);
    expect(provider.reads).toBe(1);
    const many = Array.from({ length: 60 }, (_, at) => toNode(`n-${at}`));
    const plans = await plan(provider, many);
    expect(provider.reads).toBe(51);
    expect(plans.filter(({ reason }) => reason === "notListed")).toHaveLength(10);
  });

  test("leaves it at the inventory when time is up", async () => {
    const aborted = AbortSignal.abort(new Error("late"));
    const [found] = await plan(new FakeProvider(), [toNode("a")], aborted);
    expect(found).toMatchObject({ presence: "unknown", reason: "notListed" });
  });

  test("does not hide a bug", async () => {
    const provider = new FakeProvider();
    provider.missing = () => {
      throw new TypeError("bug");
    };
    await expect(plan(provider, [toNode("a")])).rejects.toThrow("bug");
  });
});
