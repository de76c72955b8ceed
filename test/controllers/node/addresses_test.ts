/**
 * Which addresses the Node controller writes while machines report more than one, for every cloud.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { Instance } from "../../../lib/cloud/instance.ts";
import { parseCidr } from "../../../lib/core/net/ip.ts";
import { toInstance as toCloudStackInstance } from "../../../lib/providers/cloudstack/model/inventory.ts";
import { toInstances } from "../../../lib/providers/static/mod.ts";
import { toInstance as toXenOrchestraInstance } from "../../../lib/providers/xenorchestra/inventory.ts";
import { registerMetrics, NodeController } from "../../../lib/controllers/node/mod.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { SERVICES } from "../../../lib/kube/kinds/service.ts";
import type { AddressPool } from "../../../lib/cloud/pools/pool.ts";
import { parseAddressRange } from "../../../lib/cloud/pools/address_range.ts";
import type { Presence } from "../../../lib/cloud/provider.ts";
import { planAddresses } from "../../../lib/controllers/addresses.ts";
import { AddressIndex } from "../../../lib/controllers/address_index.ts";
import { FakeProvider, toInstance as toPlainInstance } from "../../support/cloud/instances.ts";
import { countQueued, isDone } from "../../support/nodes/node_cloud.ts";
import { type NodeOptions, toNode, toRegistration } from "../../support/nodes/nodes.ts";
import { type Rig, startRig, until } from "../../support/nodes/rig.ts";
import { createLifecycleWorld } from "../../support/nodes/lifecycle_rig.ts";
import { findFreePort } from "../../support/process/server_process.ts";
import { LOAD_BALANCERS } from "../../../lib/cloud/pools/settings.ts";
import { loadProviderConfig, toSectionParser } from "../../../lib/config/provider_config.ts";
import { requireProvider } from "../../../lib/providers/mod.ts";
import { SecretMount } from "../../support/process/secret_mount.ts";
import { toSettings } from "../../support/pools/services.ts";

type ToInstance = (ips: readonly string[], exclude?: readonly string[]) => Instance | undefined;

const SETTINGS = { exclude: [], externalCidrs: [], mainIpAsExternal: false } as const;
const toFamily = (ip: string): string => (ip.includes(":") ? "ipv6" : "ipv4");

const toXenOrchestra: ToInstance = (ips, exclude = []) =>
  toXenOrchestraInstance(
    {
      id: "vm",
      $pool: "pool",
      power_state: "Running",
      addresses: Object.fromEntries(ips.map((ip, at) => [`0/${toFamily(ip)}/${at}`, ip])),
    },
    { pools: new Map(), hosts: new Map() },
    {
      addresses: { ...SETTINGS, exclude: exclude.flatMap((one) => parseCidr(one) ?? []) },
      zoneLabelFrom: { kind: "host" },
    },
  );

const toCloudStack: ToInstance = (ips) => {
  const nic = ips.map((ip, at) => ({
    deviceid: String(at),
    ...(toFamily(ip) === "ipv6" ? { ip6address: ip } : { ipaddress: ip }),
  }));
  const vm = { id: "vm", name: "vm", state: "Running", nic };
  return toCloudStackInstance(vm, { addresses: SETTINGS, instanceTypeStyle: "squeezed" });
};

const toStatic: ToInstance = (ips) => {
  const addresses = ips.map((address) => ({ type: "InternalIP", address }) as const);
  const entry = { id: "vm", name: "vm", state: "running", addresses, labels: {} } as const;
  return toInstances({ scheme: "s", refreshInterval: 1_000, instances: [entry] }).get("vm");
};

/** Nodes whose machines report what a test says. */
class Stage implements AsyncDisposable {
  readonly rig: Rig;
  readonly #provider: FakeProvider;
  readonly #toInstance: ToInstance;

  readonly #port: number;

  private constructor(rig: Rig, provider: FakeProvider, toInstance: ToInstance, port: number) {
    this.#port = port;
    this.rig = rig;
    this.#provider = provider;
    this.#toInstance = toInstance;
  }

  static async start(toInstance: ToInstance = toXenOrchestra): Promise<Stage> {
    const provider = new FakeProvider();
    provider.providedNodeIps = toInstance === toStatic ? "verified" : "trusted";
    provider.refreshIntervalMs = 20;
    const loadBalancers = toSettings({ name: "main", addresses: ["10.0.0.200/29", "8.8.4.200"] });
    const port = await findFreePort();
    const debugAddress = { kind: "tcp", host: "127.0.0.1", port } as const;
    const rig = await startRig({ provider, sections: { loadBalancers }, debugAddress });
    return new Stage(rig, provider, toInstance, port);
  }

  /** A machine reports these IPs, in this order; resolves when the controller had time to act. */
  async report(
    name: string,
    ips: readonly string[],
    exclude: readonly string[] = [],
  ): Promise<void> {
    const instance = this.#toInstance(ips, exclude);
    if (instance === undefined) throw new Error("no instance");
    const own = { id: name, name, providerId: `test://${name}` };
    this.#provider.instances.set(name, { ...instance, ...own });
    await this.pass();
  }

  async pass(): Promise<void> {
    const wanted = this.#provider.lists + 3;
    await until("the cloud was listed again", () => this.#provider.lists >= wanted);
    await Bun.sleep(20);
  }

  /** A Node registers, and its machine reports these IPs. */
  async join(name: string, ips: readonly string[], options: NodeOptions = {}): Promise<void> {
    await this.report(name, ips);
    this.rig.kubernetes.objects.createNode(toRegistration(name, options));
    await until("it is initialised", () => this.rig.listEvents(name, "Synced").length > 0);
    await this.pass();
  }

  addService(name: string, fields: { spec?: object; status?: object; annotation?: string }): void {
    const { spec = {}, status = {}, annotation } = fields;
    const annotations = annotation ? { "kube-vip.io/loadbalancerIPs": annotation } : {};
    this.rig.kubernetes.objects.create("services", {
      metadata: { name, namespace: "default", annotations },
      spec: { type: "LoadBalancer", ports: [{ port: 80 }], ...spec },
    });
    const path = { name, namespace: "default", subresource: "status" };
    this.rig.kubernetes.objects.patch("services", path, { status: { ...status } });
  }

  /** `in 10.0.0.1, ex 8.8.8.8` */
  read(name: string): string {
    const words: Record<string, string> = { InternalIP: "in", ExternalIP: "ex" };
    const addresses = this.rig.readNode(name)?.status?.addresses ?? [];
    const ips = addresses.filter(({ type }) => type in words);
    return ips.map(({ type, address }) => `${words[type]} ${address}`).join(", ");
  }

  /** Messages of the Events about conflicts. */
  conflicts(name: string): string {
    return this.rig
      .listEvents(name, "NodeAddressConflict")
      .map(({ message }) => message)
      .join("\n");
  }

  async readJson(name: string): Promise<unknown> {
    const headers = { accept: "application/json" };
    const reply = await fetch(`http://127.0.0.1:${this.#port}/debug/nodes/${name}`, { headers });
    return await reply.json();
  }

  async readPage(name: string): Promise<string> {
    const headers = { accept: "text/html" };
    const reply = await fetch(`http://127.0.0.1:${this.#port}/debug/nodes/${name}`, { headers });
    return await reply.text();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rig[Symbol.asyncDispose]();
  }
}

const toStatusOf = (ip: string): object => ({ loadBalancer: { ingress: [{ ip }] } });
const CLOUDS = { "Xen Orchestra": toXenOrchestra, CloudStack: toCloudStack, file: toStatic };

describe.each(Object.entries(CLOUDS))(
  "the first InternalIP of a Node, with %s",
  (name, toInstance) => {
    test("stays while virtual IPs come before it, on one machine after the other and on both", async () => {
      await using stage = await Stage.start(toInstance);
      await stage.join("a", ["10.0.0.11"]);
      await stage.join("b", ["10.0.0.12"]);
      const { length } = [stage.read("a"), stage.read("b")];
      expect(length).toBe(2);
      const check = (): void => {
        expect(stage.read("a")).toStartWith("in 10.0.0.11");
        expect(stage.read("b")).toStartWith("in 10.0.0.12");
      };
      await stage.report("a", ["10.0.0.5", "10.0.0.11"]);
      check();
      await stage.report("a", ["10.0.0.11"]);
      await stage.report("b", ["10.0.0.5", "10.0.0.12"]);
      check();
      expect(stage.conflicts("a") + stage.conflicts("b")).toBe("");
      await stage.report("a", ["10.0.0.5", "10.0.0.11"]);
      check();
      for (const [one, other] of [
        ["a", "b"],
        ["b", "a"],
      ] as const) {
        await until("both say it", () => stage.conflicts(one) !== "");
        expect(stage.conflicts(one)).toContain(`10.0.0.5 is also an address of the Node ${other}`);
      }
      const { requests } = stage.rig.kubernetes;
      if (name !== "file")
        expect(requests.count({ verb: "patch", resource: "nodes/status" })).toBe(2);
    });

    test("stays while temporary IPv6 addresses come and go before it, also after a restart", async () => {
      await using stage = await Stage.start(toInstance);
      await stage.join("a", ["10.0.0.11", "2001:db8:1::11"]);
      for (const first of ["2001:db8:1::aaaa", "2001:db8:1::bbbb"]) {
        await stage.report("a", ["10.0.0.11", first, "2001:db8:1::11"]);
        expect(stage.read("a")).toStartWith("in 10.0.0.11, in 2001:db8:1::11");
      }
      // A Node that was there before this process.
      await stage.report("b", ["10.0.0.5", "10.0.0.12"]);
      const before = { uninitialized: false, providerId: "test://b" };
      const addresses = [["InternalIP", "10.0.0.12"]] as const;
      stage.rig.kubernetes.objects.createNode(toRegistration("b", { ...before, addresses }));
      await stage.pass();
      expect(stage.read("b")).toStartWith("in 10.0.0.12");
      expect(stage.rig.listEvents("a").map(({ reason }) => reason)).toEqual(["Synced"]);
    });

    test("is followed by the next one when it is gone, with an Event that has both", async () => {
      await using stage = await Stage.start(toInstance);
      await stage.join("a", ["10.0.0.11"]);
      await stage.report("a", ["10.0.0.12", "10.0.0.13"]);
      const reason = "NodeInternalIPChanged";
      await until("it is told", () => stage.rig.listEvents("a", reason).length > 0);
      expect(stage.read("a")).toStartWith("in 10.0.0.12");
      const [event] = stage.rig.listEvents("a", reason);
      expect(event?.message).toBe("InternalIP changed from 10.0.0.11 to 10.0.0.12");
    });

    test("is none of a pool or a Service, if the machine reports another one", async () => {
      await using stage = await Stage.start(toInstance);
      stage.addService("status", { status: toStatusOf("10.0.0.50") });
      stage.addService("spec", { spec: { type: "ClusterIP", externalIPs: ["10.0.0.51"] } });
      const status = toStatusOf("2001:db8::52");
      stage.addService("vip", { annotation: "10.0.0.52,2001:db8::52", status });
      await stage.pass();
      await stage.join("a", ["10.0.0.202", "10.0.0.50", "10.0.0.51", "10.0.0.52", "10.0.0.11"]);
      await stage.join("b", ["10.0.0.12", "2001:db8::52"]);
      expect(stage.read("a")).toBe("in 10.0.0.11");
      expect(stage.read("b")).toBe("in 10.0.0.12");
      expect(stage.conflicts("b")).toBe("");
      const said =
        '10.0.0.202 of instance "a" is in the address pool main, so the Node does not get it: ' +
        "take it out of the pool, or give the machine another address";
      await until("it is told", () => stage.conflicts("a") !== "");
      expect(stage.conflicts("a")).toBe(said);
      expect(stage.rig.listEvents("a", "NodeAddressConflict")).toHaveLength(1);
      expect(await stage.readJson("a")).toMatchObject({ addressConflict: said });
    });

    test("is told of no pool while its machine announces an address that a Service has or had", async () => {
      await using stage = await Stage.start(toInstance);
      stage.addService("vip", { status: toStatusOf("10.0.0.202") });
      await stage.join("a", ["10.0.0.11", "10.0.0.202"]);
      stage.rig.kubernetes.objects.delete("services", { name: "vip", namespace: "default" });
      await stage.pass();
      await stage.report("a", ["10.0.0.11", "10.0.0.202"]);
      expect(stage.conflicts("a")).toBe("");
      await stage.report("a", ["10.0.0.11"]);
      expect(stage.conflicts("a")).toBe("");
      await stage.report("a", ["10.0.0.11", "10.0.0.202"]);
      await until("it is told", () => stage.conflicts("a") !== "");
    });

    test("is none of another Node, until that Node gives it up; the new Node is initialised all the same", async () => {
      await using stage = await Stage.start(toInstance);
      await stage.join("a", ["10.0.0.11"]);
      await stage.join("b", ["10.0.0.11"]);
      expect(stage.read("b")).toBe("");
      await until("both say it", () => stage.conflicts("a") !== "" && stage.conflicts("b") !== "");
      const said = "10.0.0.11 is that of the Node a";
      expect(stage.conflicts("b")).toContain(said);
      expect(await stage.readPage("b")).toContain(said);
      await stage.report("a", ["10.0.0.12"]);
      await until("it has it", () => stage.read("b") === "in 10.0.0.11");
    });
  },
);

describe("an ExternalIP", () => {
  test.each([undefined, "10.0.0.11"])(
    "is none of a pool or a Service, with --node-ip %p",
    async (nodeIp) => {
      await using stage = await Stage.start();
      stage.addService("spec", { spec: { externalIPs: ["8.8.4.50"] } });
      await stage.pass();
      const options = nodeIp === undefined ? {} : { nodeIp };
      await stage.join("a", ["10.0.0.11", "8.8.4.200", "8.8.4.50", "8.8.4.8"], options);
      expect(stage.read("a")).toBe("in 10.0.0.11, ex 8.8.4.8");
      await until("it is told", () => stage.conflicts("a") !== "");
      expect(stage.conflicts("a")).toStartWith(
        '8.8.4.200 of instance "a" is in the address pool main, so the Node does not get it: ',
      );
      expect(await stage.readPage("a")).toContain("is in the address pool main");
      stage.rig.kubernetes.objects.delete("services", { name: "spec", namespace: "default" });
      await until("it has what is free", () => stage.read("a").endsWith("ex 8.8.4.50, ex 8.8.4.8"));
      // What a Node has, no Service takes away.
      stage.addService("late", { spec: { externalIPs: ["8.8.4.50", "8.8.4.8"] } });
      await stage.pass();
      expect(stage.read("a")).toBe("in 10.0.0.11, ex 8.8.4.50, ex 8.8.4.8");
    },
  );
});

describe("a Service that names an address of a Node", () => {
  test("takes it from no Node, keeps none from joining, and both are told", async () => {
    await using stage = await Stage.start();
    await stage.join("a", ["10.0.0.11", "10.0.0.21"]);
    stage.addService("tenant", { spec: { externalIPs: ["10.0.0.11", "10.0.0.12"] } });
    await stage.join("b", ["10.0.0.12"]);
    expect([stage.read("a"), stage.read("b")]).toEqual(["in 10.0.0.11", "in 10.0.0.12"]);
    for (const name of ["a", "b"]) {
      await until("it is told", () => stage.conflicts(name) !== "");
      expect(stage.conflicts(name)).toContain("is also that of the Service default/tenant");
    }
  });

  test("does not keep a Node from following its machine", async () => {
    await using stage = await Stage.start();
    await stage.join("a", ["10.0.0.11", "fd00::1"]);
    stage.addService("tenant", { annotation: "10.0.0.12" });
    await stage.report("a", ["10.0.0.12", "fd00::1"]);
    await until("it follows", () => stage.read("a") === "in 10.0.0.12, in fd00::1");
  });

  test.each([true, false])(
    "gives a Node no virtual IP of a family that it does not have, if it joined before it: %p",
    async (isBefore) => {
      await using stage = await Stage.start();
      if (isBefore) await stage.join("a", ["10.0.0.11"]);
      stage.addService("vip", { annotation: "10.0.0.41, fd00::41" });
      await stage.pass();
      if (isBefore) await stage.report("a", ["10.0.0.11", "fd00::41"]);
      else await stage.join("a", ["10.0.0.11", "fd00::41"]);
      expect([stage.read("a"), stage.conflicts("a")]).toEqual(["in 10.0.0.11", ""]);
      stage.rig.kubernetes.objects.delete("services", { name: "vip", namespace: "default" });
      await until("it has what is free", () => stage.read("a") === "in 10.0.0.11, in fd00::41");
    },
  );

  test("and that has it from a pool is told, too", async () => {
    await using stage = await Stage.start();
    stage.addService("s3", { status: toStatusOf("10.0.0.202") });
    await stage.join("a", ["10.0.0.202"]);
    expect(stage.read("a")).toBe("in 10.0.0.202");
    await until("it is told", () => stage.conflicts("a") !== "");
    expect(stage.conflicts("a")).toContain(
      "that of the Service default/s3 and in the address pool main",
    );
  });

  test("only in its status, as programs without load balancers write it, is no conflict", async () => {
    await using stage = await Stage.start();
    await stage.join("a", ["10.0.0.11", "8.8.4.8"]);
    stage.addService("klipper", { status: toStatusOf("10.0.0.11") });
    await stage.pass();
    expect(stage.read("a")).toBe("in 10.0.0.11, ex 8.8.4.8");
    expect(stage.conflicts("a")).toBe("");
  });
});

test("Nodes wait 5 s for a list of Services, and join without one, if it is refused", async () => {
  const { clock, server, source, provider, context, metrics, lines } = createLifecycleWorld();
  provider.instances.set("a", toPlainInstance("a"));
  server.put(toNode("a"));
  const controller = new NodeController({
    context,
    metrics: registerMetrics(metrics),
    services: new Store({ resource: SERVICES, log: context.log }),
    findPools: () => [],
    fullPassIntervalMs: 60_000,
  });
  const stopping = new AbortController();
  const running = [controller.run(stopping.signal), source.run(stopping.signal)];
  await clock.advance(4_900);
  expect(isDone(server.find("a"))).toBe(false);
  await clock.advance(200);
  expect(isDone(server.find("a"))).toBe(true);
  expect(
    lines.filter((line) => line.includes("allow Landfall to list and watch services")),
  ).toHaveLength(1);
  stopping.abort(new Error("the test is over"));
  await clock.advance(60_000);
  await Promise.all(running);
});

test("a changed file gives an address to a pool at once, with an Event, and back", async () => {
  const toText = (pool: string): string =>
    `instances: []\nloadBalancers: { pools: [{ name: main, addresses: [${pool}] }] }\n`;
  using mount = new SecretMount({ "config.yaml": toText("192.0.2.0/28") });
  const definition = toSectionParser(await requireProvider("static"));
  const file = { path: mount.path("config.yaml"), env: {}, definition, sections: [LOAD_BALANCERS] };
  const provider = new FakeProvider();
  const addresses = [
    { type: "InternalIP", address: "10.0.0.11" },
    { type: "ExternalIP", address: "8.8.4.8" },
  ] as const;
  provider.instances.set("a", toPlainInstance("a", { addresses }));
  await using rig = await startRig({
    provider,
    // Neither a full pass nor a refresh comes to help.
    fullPassIntervalMs: 86_400_000,
    configuration: { ...file, current: await loadProviderConfig(file) },
  });
  rig.kubernetes.objects.createNode(toRegistration("a"));
  const hasBoth = (): boolean => {
    const has = rig.readNode("a")?.status?.addresses ?? [];
    return has.some(({ address }) => address === "8.8.4.8");
  };
  await until("it has both", hasBoth);
  const { lists } = provider;
  mount.update({ "config.yaml": toText("8.8.4.0/28") });
  await until("the pool has it", () => !hasBoth());
  await until("it is told", () => rig.listEvents("a", "NodeAddressConflict").length > 0);
  expect(provider.lists).toBe(lists);
  mount.update({ "config.yaml": toText("192.0.2.0/28") });
  await until("the Node has it again", hasBoth);
});

test("AddressIndex finds addresses in the pools of changed settings", () => {
  let pools: readonly AddressPool[] = [];
  const presence: Presence = { kind: "unknown", reason: "notFound", message: "" };
  const index = new AddressIndex({
    getNode: () => undefined,
    findPresence: () => presence,
    findPools: () => pools,
    hasServices: () => true,
  });
  expect(index.findPool("10.0.0.1")).toBeUndefined();
  for (const name of ["one", "two"]) {
    const { range } = parseAddressRange("10.0.0.1");
    pools = [{ name, ranges: range ? [range] : [], isShareable: false, isAutoAssigned: true }];
    expect(index.findPool("10.0.0.1")).toBe(`the address pool ${name}`);
  }
  pools = [];
  expect(index.findPool("10.0.0.1")).toBeUndefined();
});

describe("a kubelet that says more than its machine", () => {
  test("takes no address from another Node, and gets its own back", async () => {
    await using stage = await Stage.start();
    await stage.join("liar", ["10.0.0.11"]);
    await stage.join("b", ["10.0.0.12", "10.0.0.22"]);
    const write = { verb: "patch", resource: "nodes/status", name: "liar" };
    const endRefusals = stage.rig.kubernetes.faults.refuse({ ...write, status: 500 });
    const lie = ["10.0.0.12", "10.0.0.13"].map((address) => ({ type: "InternalIP", address }));
    stage.rig.kubernetes.objects.patchNodeStatus("liar", { addresses: lie });
    await stage.join("c", ["10.0.0.13", "10.0.0.23"]);
    expect([stage.read("b"), stage.read("c")]).toEqual(["in 10.0.0.12", "in 10.0.0.13"]);
    expect(stage.read("liar")).toContain("10.0.0.13");
    endRefusals();
    await until("it has its own", () => stage.read("liar") === "in 10.0.0.11");
  });
});

describe("two Nodes with one --node-ip", () => {
  test.each([
    ["whose machine reports it", ["10.0.0.13"], "an address of the Node c or its machine"],
    ["that no machine reports", ["10.0.0.23"], "the --node-ip of the Node c"],
  ])("%s both have it, and both are told", async (_title, ips, who) => {
    await using stage = await Stage.start();
    await stage.join("c", ips, { nodeIp: "10.0.0.13" });
    await stage.join("b", ["10.0.0.12"]);
    const annotations = { "alpha.kubernetes.io/provided-node-ip": "10.0.0.13" };
    stage.rig.kubernetes.objects.patchNode("b", { metadata: { annotations } });
    await until("both say it", () => stage.conflicts("b") !== "" && stage.conflicts("c") !== "");
    expect([stage.read("b"), stage.read("c")]).toEqual(["in 10.0.0.13", "in 10.0.0.13"]);
    expect(stage.conflicts("b")).toContain(`10.0.0.13 is also ${who}`);
    expect(stage.conflicts("c")).toContain("10.0.0.13 is also the --node-ip of the Node b");
    expect(await stage.readPage("c")).toContain("is also the --node-ip of the Node b");
  });
});

test("Nodes that register at the same time do not get the same address", async () => {
  const provider = new FakeProvider();
  const inventory = Promise.withResolvers<void>();
  provider.gate = inventory.promise;
  const machines = { s5: ["10.1.0.5"], s6: ["10.1.0.5", "10.1.0.6"], s7: ["10.1.0.5"] };
  for (const [name, ips] of Object.entries(machines)) {
    const instance = toStatic(ips);
    if (instance === undefined) throw new Error("no instance");
    const own = { id: name, name, providerId: `test://${name}` };
    provider.instances.set(name, { ...instance, ...own });
  }
  await using rig = await startRig({ provider });
  const names = Object.keys(machines);
  for (const name of names) rig.kubernetes.objects.createNode(toRegistration(name));
  await until("they wait", () => countQueued(rig.metrics.render()) >= names.length);
  rig.kubernetes.faults.delayMs = 50;
  inventory.resolve();
  await until("they are initialised", () =>
    names.every((name) => rig.listEvents(name, "Synced").length > 0),
  );
  const readIps = (): string[] =>
    names.flatMap((name) => {
      const addresses = rig.readNode(name)?.status?.addresses ?? [];
      return addresses.flatMap(({ type, address }) => (type === "InternalIP" ? [address] : []));
    });
  expect(readIps().sort()).toEqual(["10.1.0.5", "10.1.0.6"]);
});

test("a Node whose addresses cannot be written keeps them from no other Node", async () => {
  await using stage = await Stage.start();
  const { kubernetes } = stage.rig;
  const write = { verb: "patch", resource: "nodes/status", name: "a" };
  kubernetes.faults.refuse({ ...write, status: 500 });
  await stage.report("a", ["10.0.0.11"]);
  kubernetes.objects.createNode(toRegistration("a"));
  // The next try is far away then.
  await until("it was refused", () => kubernetes.requests.count(write) >= 3);
  await stage.join("b", ["10.0.0.11"]);
  expect(stage.read("b")).toBe("in 10.0.0.11");
});

test("an InternalIP that the settings exclude is followed by the next one", async () => {
  await using stage = await Stage.start();
  await stage.join("a", ["10.0.0.5", "10.0.0.11"]);
  expect(stage.read("a")).toBe("in 10.0.0.5");
  await stage.report("a", ["10.0.0.5", "10.0.0.11"], ["10.0.0.5"]);
  await until("it follows", () => stage.read("a") === "in 10.0.0.11");
});

test.each([
  ["excluded by the settings", ["10.0.0.16", "10.0.0.18"], ["10.0.0.16"]],
  ["not reported any more", ["10.0.0.18"], []],
])(
  "an InternalIP that is %s stays if nothing else is free, and the reason is told",
  async (_title, ips, exclude) => {
    await using stage = await Stage.start();
    stage.addService("lb1", { status: toStatusOf("10.0.0.18") });
    await stage.join("f", ["10.0.0.16", "10.0.0.18"]);
    await stage.report("f", ips, exclude);
    await until("it is told", () => stage.conflicts("f") !== "");
    expect(stage.read("f")).toBe("in 10.0.0.16");
    expect(stage.conflicts("f")).toStartWith("The Node keeps InternalIP 10.0.0.16, although ");
    expect(stage.conflicts("f")).toContain("10.0.0.18 is that of the Service default/lb1");
    expect(stage.conflicts("f")).toContain("correct addresses.exclude");
    expect(await stage.readPage("f")).toContain("The Node keeps InternalIP 10.0.0.16");
  },
);

test("a Node says so, too, if the only address of its machine is in a pool", () => {
  const instance = toPlainInstance("a", {
    addresses: [{ type: "ExternalIP", address: "8.8.4.200" }],
  });
  const uses = new AddressIndex({
    getNode: () => undefined,
    findPresence: () => ({ kind: "present", instance, matchedBy: "name" }),
    findPools: () => toSettings({ name: "main", addresses: ["8.8.4.200"] }).pools,
    hasServices: () => true,
  });
  expect(planAddresses(toNode("a"), instance, "verified", uses)).toEqual({
    kind: "keep",
    conflict: expect.stringContaining('8.8.4.200 of instance "a" is in the address pool main'),
  });
});
