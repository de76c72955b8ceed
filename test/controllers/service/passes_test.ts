/**
 * What the controller does for many Services: Nodes, drift, network locks, a new leader, a stop.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { LeadershipLostError } from "../../../lib/core/fence.ts";
import { LoadBalancersDouble, NETWORK } from "../../support/cloud/load_balancers_double.ts";
import { type NodeOptions, toNode } from "../../support/nodes/nodes.ts";
import { FINALIZER } from "../../support/services/service.ts";
import { type ServiceRig, startServices, startShop } from "../../support/services/service_rig.ts";
import type {
  LiveServices,
  LoadBalancerLeftover,
} from "../../../lib/cloud/capabilities/load_balancers.ts";
import { LOAD_BALANCERS } from "../../../lib/cloud/pools/settings.ts";
import { runFullPasses } from "../../../lib/controllers/service/passes.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { toSettings } from "../../support/pools/services.ts";
import { longTest } from "../../support/long_tests.ts";

const KEY = "web/shop";
const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";

function readBackends(rig: ServiceRig, uid = "uid-2"): readonly string[] | undefined {
  return rig.cloud.rules.get(uid)?.get("TCP 80")?.backends;
}

function inNetwork(name: string): object {
  return { metadata: { annotations: { [NETWORK]: name } } };
}

describe("Nodes", () => {
  test("S-12 a new one is added to each load balancer by one step, in one pass for a burst", async () => {
    await using rig = await startServices();
    rig.server.add("shop");
    rig.server.add("other");
    await rig.add("internal", { spec: { type: "ClusterIP" } });
    rig.cloud.steps.length = 0;
    await rig.addNode("n3");
    await rig.addNode("n4");
    await rig.clock.advance(1_000);
    expect(rig.cloud.steps).toEqual(["set TCP 80", "set TCP 80"]);
    expect(readBackends(rig)).toEqual(["n1", "n2", "n3", "n4"]);
    expect(rig.listReasons(KEY).slice(2)).toEqual(["UpdatedLoadBalancer"]);
  });

  test("S-12 one that is gone leaves", async () => {
    await using rig = await startShop();
    rig.nodes.remove("n1");
    await rig.clock.advance(1_000);
    expect(readBackends(rig)).toEqual(["n2"]);
  });

  test("S-12 a failure is tried again through the queue, and its Event names the Nodes", async () => {
    await using rig = await startShop();
    rig.cloud.onStep = () => {
      throw new CloudError("unreachable", "no answer");
    };
    await rig.addNode("n3");
    await rig.clock.advance(1_000);
    const failed = rig.events.find(({ reason }) => reason === "UpdateLoadBalancerFailed");
    expect(failed?.message).toBe(
      "Error updating load balancer with new hosts [n1 n2 n3], error: no answer",
    );
    rig.cloud.onStep = () => undefined;
    await rig.clock.advance(6_500);
    expect(readBackends(rig)).toEqual(["n1", "n2", "n3"]);
    expect(rig.metrics.render()).toContain("service_controller_nodesync_error_total 1");
  });

  test("S-11 only exclusion, provider ID and InternalIP of a Node start a pass", async () => {
    await using rig = await startServices();
    rig.server.add("shop");
    await rig.clock.advance(2_000);
    const looks = rig.cloud.looks.length;
    const put = (name: string, options: NodeOptions): unknown =>
      rig.nodes.put(
        toNode(name, { providerId: `test://${name}`, uninitialized: false, ...options }),
      );
    put("n1", { ready: "False" });
    put("n1", { labels: { a: "1", [EXCLUDE]: "false" } });
    put("n1", { taints: [{ key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" }] });
    put("n2", { addresses: [["ExternalIP", "10.0.0.9"]] });
    await rig.clock.advance(10_000);
    expect(rig.cloud.looks.length).toBe(looks);
    put("n1", {});
    put("n2", { addresses: [["InternalIP", "10.0.0.9"]] });
    await rig.clock.advance(1_000);
    expect(rig.cloud.looks.length).toBeGreaterThan(looks);
    put("n2", { providerId: "test://n2-other" });
    await rig.clock.advance(1_000);
    expect(readBackends(rig)).toEqual(["n1", "n2-other"]);
    put("n1", { labels: { [EXCLUDE]: "" } });
    await rig.clock.advance(1_000);
    expect(readBackends(rig)).toEqual(["n2-other"]);
  });

  test("S-13 a change that leaves the backends as they are costs nothing", async () => {
    await using rig = await startServices();
    rig.server.add("shop");
    await rig.clock.advance(2_000);
    const looks = rig.cloud.looks.length;
    await rig.addNode("n3", (node) => ({
      ...node,
      metadata: { ...node.metadata, labels: { [EXCLUDE]: "true" } },
    }));
    await rig.clock.advance(5_000);
    expect(rig.cloud.looks.length).toBe(looks);
  });

  test("S-15 a slow pass does not undo a newer one", async () => {
    await using rig = await startServices();
    rig.server.add("shop");
    await rig.add("other");
    rig.cloud.onStep = async ({ uid }, signal) => {
      if (uid === "uid-2") await rig.clock.sleep(100_000, signal);
    };
    await rig.addNode("n3");
    await rig.clock.advance(30_000);
    await rig.addNode("n4");
    await rig.clock.advance(30_000);
    expect(readBackends(rig, "uid-3")).toEqual(["n1", "n2", "n3", "n4"]);
    await rig.clock.advance(300_000);
    for (const uid of ["uid-2", "uid-3"]) {
      expect(readBackends(rig, uid)).toEqual(["n1", "n2", "n3", "n4"]);
    }
  });

  test("of which the instance is not known are backends that nothing names", async () => {
    await using rig = await startServices({ nodes: 1 });
    rig.nodes.put({ metadata: { name: "n9", uid: "u9" } });
    rig.server.add("shop");
    await rig.clock.advance(2_000);
    expect(readBackends(rig)).toEqual(["n1", "?"]);
  });
});

describe("drift", () => {
  test("is put right by a full pass, with one look for all Services, and Events say so", async () => {
    await using rig = await startServices();
    for (const name of ["a", "b", "c"]) rig.server.add(name);
    await rig.clock.advance(0);
    const looks = rig.cloud.looks.length;
    rig.cloud.rules.delete("uid-2");
    await rig.clock.advance(670_000);
    expect(readBackends(rig)).toEqual(["n1", "n2"]);
    expect(rig.cloud.looks.slice(looks).filter(({ maxAgeMs }) => maxAgeMs === 0).length).toBe(1);
    expect(rig.listReasons("web/a").slice(2)).toEqual([
      "EnsuringLoadBalancer",
      "EnsuredLoadBalancer",
    ]);
    expect(rig.listReasons("web/b").length).toBe(2);
  });

  test("writes nothing when nothing differs", async () => {
    await using rig = await startShop();
    const before = [rig.server.writes.length, rig.cloud.steps.length, rig.events.length];
    await rig.clock.advance(7_000_000);
    expect([rig.server.writes.length, rig.cloud.steps.length, rig.events.length]).toEqual(before);
  });

  test("follows --service-sync-period", async () => {
    await using rig = await startServices({
      flags: { "service-sync-period": 60_000 },
      prepare: (server) => server.add("shop"),
    });
    await rig.clock.advance(600_000);
    const full = rig.cloud.looks.filter(({ maxAgeMs }) => maxAgeMs === 0).length;
    expect(full).toBeGreaterThanOrEqual(10);
    expect(full).toBeLessThanOrEqual(11);
  });

  test("asks the cloud nothing while no Service has a load balancer", async () => {
    await using rig = await startServices({ flags: { "service-sync-period": 60_000 } });
    await rig.clock.advance(600_000);
    expect(rig.cloud.looks).toEqual([]);
  });

  test("of status and finalizer is put right at once", async () => {
    await using rig = await startShop();
    await rig.change(KEY, { status: null, metadata: { finalizers: null } });
    expect(rig.readAddress(KEY)).toBe("192.0.2.1");
    expect(rig.server.find(KEY)?.metadata.finalizers).toEqual([FINALIZER]);
  });

  test("of our record costs nothing", async () => {
    await using rig = await startShop();
    const before = [rig.server.writes.length, rig.cloud.looks.length];
    await rig.change(KEY, { metadata: { annotations: { "landfall.dev/load-balancer": "x" } } });
    expect([rig.server.writes.length, rig.cloud.looks.length]).toEqual(before);
  });
});

describe("looks", () => {
  /** When those that came after so many questions were taken. */
  const listTaken = (rig: ServiceRig, from: number): readonly number[] => [
    ...new Set(rig.cloud.looks.slice(from).map(({ takenAtMs }) => takenAtMs)),
  ];
  const wait = (rig: ServiceRig, uid: string): void => {
    rig.cloud.problems.set(uid, [{ reason: "AddressNotOurs", message: "it is not ours" }]);
  };

  test("are new for a Service that is new or was changed, and many share one", async () => {
    await using rig = await startShop();
    await rig.clock.advance(30_000);
    const from = rig.cloud.looks.length;
    for (const name of ["a", "b", "c"]) rig.server.add(name);
    rig.server.change(KEY, { spec: { ports: [{ port: 443, nodePort: 30_443 }] } });
    await rig.clock.advance(20_000);
    expect(listTaken(rig, from).filter((takenAtMs) => takenAtMs > 0)).toEqual([30_000]);
  });

  test("of a change while a Service is worked on are new before it counts as ready", async () => {
    await using rig = await startServices();
    rig.cloud.onStep = (_step, signal) => rig.clock.sleep(20_000, signal);
    rig.server.add("shop");
    await rig.clock.advance(30_000);
    // The rule of port 80 is being made, and stays as it is.
    await rig.change(KEY, { metadata: { labels: { changed: "true" } } });
    await rig.clock.advance(60_000);
    expect(rig.listReasons(KEY)).toEqual(["EnsuringLoadBalancer", "EnsuredLoadBalancer"]);
    expect(listTaken(rig, 0)).toEqual([0, 40_000]);
  });

  test("that are a minute old serve no Service that something touches", async () => {
    await using rig = await startServices({ prepare: (server) => server.add("shop") });
    const touch = async (name: string): Promise<void> => {
      await rig.addNode(name);
      await rig.clock.advance(2_000);
    };
    await rig.clock.advance(50_000);
    await touch("n3");
    expect(listTaken(rig, 0)).toEqual([0]);
    await rig.clock.advance(20_000);
    await touch("n4");
    const isLater = (takenAtMs: number): boolean => takenAtMs > 60_000;
    expect(listTaken(rig, 0).map((one) => isLater(one))).toEqual([false, true]);
  });

  test("of a new leader are new before a release ends: a late request may have made something", async () => {
    await using rig = await startShop();
    rig.cloud.onStep = (_step, signal) => rig.clock.sleep(20_000, signal);
    rig.server.remove(KEY);
    await rig.clock.advance(50_000);
    expect(rig.server.find(KEY)).toBeUndefined();
    expect(listTaken(rig, 0)).toEqual([0, 40_000]);
  });

  test("serve many releases later on", async () => {
    await using rig = await startServices();
    for (const name of ["a", "b", "c"]) rig.server.add(name);
    await rig.clock.advance(590_000);
    rig.cloud.onStep = (_step, signal) => rig.clock.sleep(20_000, signal);
    const from = rig.cloud.looks.length;
    for (const name of ["a", "b", "c"]) rig.server.remove(`web/${name}`);
    await rig.clock.advance(100_000);
    expect(rig.cloud.addresses.size).toBe(0);
    expect(listTaken(rig, from).slice(0, 2)).toEqual([0, 590_000]);
  });

  test("are new each time for what prevents Services, and all of them share one", async () => {
    await using rig = await startServices({ prepare: (server) => server.add("first") });
    await rig.clock.advance(7_000);
    wait(rig, "uid-3");
    rig.server.add("shop");
    await rig.clock.advance(13_000);
    wait(rig, "uid-4");
    rig.server.add("other");
    await rig.clock.advance(280_000);
    const late = listTaken(rig, 1).filter((takenAtMs) => takenAtMs > 150_000);
    expect(late).toEqual([180_000, 240_000, 300_000]);
  });
});

describe("network locks", () => {
  test("let steps of one network run one at a time, and networks in parallel", async () => {
    await using rig = await startServices({ flags: { "concurrent-service-syncs": 2 } });
    rig.cloud.onStep = (_step, signal) => rig.clock.sleep(20_000, signal);
    for (let at = 0; at < 10; at += 1) rig.server.add(`a${at}`, inNetwork("net-a"));
    for (let at = 0; at < 3; at += 1) rig.server.add(`b${at}`, inNetwork("net-b"));
    // Three Services of two steps each take 120 s in their network, however many wait in the other one.
    await rig.clock.advance(125_000);
    const hasAddress = (name: string): boolean => rig.readAddress(`web/${name}`) !== undefined;
    expect(["b0", "b1", "b2"].map(hasAddress)).toEqual([true, true, true]);
    await rig.clock.advance(400_000);
    const all = Array.from({ length: 10 }, (_, at) => `a${at}`);
    expect(all.every(hasAddress)).toBe(true);
    expect([...rig.cloud.running.values()].map(({ most }) => most)).toEqual([1, 1]);
  });

  test("let a Service finish before the next one of its network begins", async () => {
    await using rig = await startServices();
    rig.cloud.onStep = (_step, signal) => rig.clock.sleep(20_000, signal);
    rig.server.add("a", inNetwork("net"));
    rig.server.add("b", inNetwork("net"));
    await rig.clock.advance(41_000);
    expect([rig.readAddress("web/a"), rig.readAddress("web/b")]).toEqual(["192.0.2.1", undefined]);
  });

  test("say in which network a Service waits, and which one has its turn", async () => {
    await using rig = await startServices();
    rig.cloud.onStep = (_step, signal) => rig.clock.sleep(20_000, signal);
    for (const name of ["a", "b", "c"]) rig.server.add(name, inNetwork("net"));
    const read = (name: string): unknown => {
      const service = rig.server.find(`web/${name}`);
      return service && rig.controller.describe(service)?.waitsFor;
    };
    await rig.clock.advance(10_000);
    const waits = (holder: string) => `its turn in network net: Service web/${holder} has it now`;
    expect(["a", "b", "c"].map(read)).toEqual(["take an address", waits("a"), waits("a")]);
    await rig.clock.advance(40_000);
    expect(["b", "c"].map(read)).toEqual(["take an address", waits("b")]);
  });

  longTest(
    "are given on after 20 steps: a Service with many ports does not hold up a small one",
    async () => {
      await using rig = await startServices();
      rig.cloud.onStep = (_step, signal) => rig.clock.sleep(1_000, signal);
      const ports = Array.from({ length: 300 }, (_, at) => ({
        port: 1 + at,
        nodePort: 30_000 + at,
      }));
      rig.server.add("large", { ...inNetwork("net"), spec: { ports } });
      await rig.clock.advance(10_000);
      rig.server.add("small", inNetwork("net"));
      await rig.clock.advance(20_000);
      expect([rig.readAddress("web/large"), rig.readAddress("web/small")]).toEqual([
        undefined,
        "192.0.2.2",
      ]);
      await rig.clock.advance(300_000);
      expect(rig.readAddress("web/large")).toBe("192.0.2.1");
      expect([...rig.cloud.running.values()].map(({ most }) => most)).toEqual([1]);
    },
  );

  test("are given on after a failure", async () => {
    await using rig = await startServices();
    rig.cloud.onStep = async ({ uid }, signal) => {
      await rig.clock.sleep(20_000, signal);
      if (uid === "uid-2") throw new CloudError("unreachable", "no answer");
    };
    rig.server.add("a", inNetwork("net"));
    rig.server.add("b", inNetwork("net"));
    await rig.clock.advance(70_000);
    expect([rig.readAddress("web/a"), rig.readAddress("web/b")]).toEqual([undefined, "192.0.2.1"]);
  });

  test("one that a Service waits for is planned again: what went meanwhile is not made", async () => {
    await using rig = await startServices();
    rig.cloud.onStep = (_step, signal) => rig.clock.sleep(20_000, signal);
    rig.server.add("a", inNetwork("net"));
    rig.server.add("b", inNetwork("net"));
    await rig.clock.advance(10_000);
    rig.server.remove("web/b");
    await rig.clock.advance(200_000);
    expect(rig.cloud.steps).toEqual(["take an address", "set TCP 80"]);
    expect(rig.server.find("web/b")).toBeUndefined();
  });
});

describe("one slow Service", () => {
  test("holds no worker: others get their load balancers at once", async () => {
    await using rig = await startServices({ flags: { "concurrent-service-syncs": 1 } });
    rig.cloud.onStep = ({ uid }, signal) =>
      uid === "uid-2" ? rig.clock.sleep(600_000, signal) : undefined;
    await rig.add("slow");
    rig.server.add("quick");
    await rig.clock.advance(10_000);
    expect(rig.readAddress("web/quick")).toBe("192.0.2.1");
    expect(rig.readAddress("web/slow")).toBeUndefined();
    expect(rig.controller.describe(rig.server.find("web/slow") ?? never())).toMatchObject({
      state: "working",
      waitsFor: "take an address",
    });
    await rig.clock.advance(1_300_000);
    expect(rig.readAddress("web/slow")).toBe("192.0.2.2");
  });

  test("sees what changes while it works", async () => {
    await using rig = await startServices();
    rig.cloud.onStep = (_step, signal) => rig.clock.sleep(30_000, signal);
    rig.server.add("shop");
    await rig.clock.advance(15_000);
    rig.server.change(KEY, { spec: { ports: [{ port: 443, nodePort: 30_443 }] } });
    await rig.clock.advance(60_000);
    expect([...(rig.cloud.rules.get("uid-2")?.keys() ?? [])]).toEqual(["TCP 443"]);
  });

  test("that fails late is tried again by its back-off", async () => {
    await using rig = await startServices();
    let starts = 0;
    rig.cloud.onStep = async (_step, signal) => {
      starts += 1;
      await rig.clock.sleep(30_000, signal);
      throw new CloudError("unreachable", "no answer");
    };
    rig.server.add("shop");
    await rig.clock.advance(34_000);
    expect(starts).toBe(1);
    await rig.clock.advance(3_000);
    expect(starts).toBe(2);
    await rig.clock.advance(37_000);
    expect(starts).toBe(2);
    await rig.clock.advance(5_000);
    expect(starts).toBe(3);
  });
});

describe("a new leader", () => {
  test("touches nothing before it leads, and nothing that is right after that", async () => {
    const first = await startServices();
    first.server.add("shop");
    await first.clock.advance(0);
    const service = first.server.find(KEY) ?? never();
    await first.stop();
    const { metadata, spec, status } = service;
    await using rig = await startServices({
      cloud: first.cloud,
      isStandby: true,
      prepare: (server) => server.add("shop", { metadata, spec, ...(status && { status }) }),
    });
    const steps = rig.cloud.steps.length;
    await rig.clock.advance(60_000);
    expect(rig.server.requests).toEqual([]);
    await rig.lead();
    await rig.clock.advance(60_000);
    expect([rig.server.writes.length, rig.cloud.steps.length - steps]).toEqual([0, 0]);
    expect(rig.events).toEqual([]);
  });

  test("waits for writes of the leader before that its watch does not show yet", async () => {
    await using rig = await startServices({
      prepare: (server) => {
        server.add("shop");
        server.isWatchHeld = true;
        server.change(KEY, { metadata: { labels: { a: "1" } } });
      },
    });
    await rig.clock.advance(15_000);
    expect(rig.cloud.looks).toEqual([]);
    rig.server.releaseWatch();
    await rig.clock.advance(0);
    expect(rig.readAddress(KEY)).toBe("192.0.2.1");
  });

  test("does nothing before it knows the cluster", async () => {
    await using rig = await startServices({
      prepare: (server) => {
        server.namespace = "unavailable";
        server.add("shop");
      },
    });
    await rig.clock.advance(60_000);
    expect([rig.server.writes.length, rig.cloud.looks.length]).toEqual([0, 0]);
    rig.server.namespace = "cluster-1";
    await rig.clock.advance(80_000);
    expect(rig.readAddress(KEY)).toBe("192.0.2.1");
  });

  test("gives the cloud every Service that may have something, and no other", async () => {
    await using rig = await startServices({
      prepare: (server) => {
        server.add("shop");
        server.add("internal", { spec: { type: "ClusterIP" } });
        server.add("leaving", {
          metadata: { finalizers: [FINALIZER] },
          spec: { type: "ClusterIP" },
        });
      },
    });
    const [look] = rig.cloud.looks;
    const names = look?.claims.map(({ owner }) => owner.name) ?? [];
    expect(names.toSorted()).toEqual(["leaving", "shop"]);
  });
});

describe("a stop", () => {
  test.each([
    ["lets a step end that needs a moment", 2_000, false, true],
    ["ends a step that needs longer", 60_000, false, false],
    ["ends a step at once without leadership", 2_000, true, false],
  ])("%s", async (_what, ms, isLost, isDone) => {
    const rig = await startServices();
    rig.cloud.onStep = (_step, signal) => rig.clock.sleep(ms, signal);
    rig.server.add("shop");
    await rig.clock.advance(100);
    await rig.stop(isLost);
    expect([rig.isEnded, rig.cloud.addresses.size > 0]).toEqual([true, isDone]);
  });

  test("writes no Event about work that the lost leadership ended", async () => {
    await using rig = await startServices();
    rig.cloud.onStep = () => {
      throw new LeadershipLostError("this process does not lead");
    };
    await rig.add("shop");
    expect(rig.listReasons(KEY)).toEqual(["EnsuringLoadBalancer"]);
  });

  test("ends work without a worker in time, and those that wait for a lock", async () => {
    const rig = await startServices();
    rig.cloud.onStep = (_step, signal) => rig.clock.sleep(600_000, signal);
    for (const name of ["a", "b", "c"]) rig.server.add(name, inNetwork("net"));
    await rig.clock.advance(30_000);
    const events = rig.events.length;
    await rig.stop();
    expect([rig.isEnded, rig.cloud.addresses.size]).toEqual([true, 0]);
    expect(rig.events.length).toBe(events);
  });
});

describe("metrics and pages", () => {
  test("show the states, and how long the oldest has waited", async () => {
    await using rig = await startShop();
    rig.cloud.onStep = () => {
      throw new CloudError("unreachable", "no answer");
    };
    rig.server.add("broken");
    await rig.clock.advance(360_000);
    const page = rig.metrics.render();
    expect(page).toContain('landfall_load_balancers{state="ready"} 1');
    expect(page).toContain('landfall_load_balancers{state="failing"} 1');
    expect(page).toContain("landfall_load_balancer_pending_seconds 360");
    const broken = rig.server.find("web/broken") ?? never();
    expect(rig.controller.describe(broken)).toMatchObject({
      state: "failing",
      failure: "no answer",
      steps: ["take an address", "set TCP 80"],
      lastReconcile: { outcome: "error", error: "no answer" },
    });
    const shop = rig.server.find(KEY) ?? never();
    expect(rig.controller.describe(shop)).toMatchObject({
      state: "ready",
      addresses: ["192.0.2.1"],
      backends: ["n1", "n2"],
      parts: [{ kind: "rule", name: "TCP 80" }],
      lastReconcile: { outcome: "ok" },
    });
    const internal = rig.server.add("internal", { spec: { type: "ClusterIP" } });
    expect(rig.controller.describe(internal)).toBeUndefined();
  });

  test("measure the passes over Nodes", async () => {
    await using rig = await startShop();
    rig.cloud.onStep = (_step, signal) => rig.clock.sleep(3_000, signal);
    await rig.addNode("n3");
    await rig.clock.advance(10_000);
    const page = rig.metrics.render();
    expect(page).toContain("service_controller_nodesync_latency_seconds_sum 3");
    expect(page).toContain("service_controller_update_loadbalancer_host_latency_seconds_count 1");
  });
});

function never(): never {
  throw new Error("it is there");
}

test("a program that empties the status again and again is not answered every time", async () => {
  await using rig = await startShop();
  const before = rig.server.listPatches("web/shop").length;
  for (let count = 0; count < 300; count += 1) {
    rig.server.change("web/shop", { status: { loadBalancer: { ingress: null } } });
    await rig.clock.advance(1_000);
  }
  expect(rig.server.listPatches("web/shop").length - before).toBe(5);
  expect(rig.lines.filter((line) => line.includes("Another program writes"))).toHaveLength(1);
  await rig.clock.advance(11 * 60_000);
  expect(rig.readAddress("web/shop")).toBe("192.0.2.1");
});

describe("a program that writes its own address into the status", () => {
  const write = async (rig: ServiceRig, ip?: string): Promise<void> => {
    const ingress = ip === undefined ? null : [{ ip }];
    await rig.change("web/shop", { status: { loadBalancer: { ingress } } });
  };

  test.each([
    ["a cloud with load balancers", {}, "192.0.2.1"],
    ["address pools", { pools: toSettings({ name: "a", addresses: ["192.0.2.7"] }) }, "192.0.2.7"],
  ])("has it after the second time, also after full passes: %s", async (_what, options, ours) => {
    await using rig = await startShop(options);
    await write(rig, "172.16.0.5");
    expect(rig.readAddress("web/shop")).toBe(ours);
    const before = rig.server.listPatches("web/shop").length;
    await write(rig, "172.16.0.5");
    await rig.clock.advance(3_600_000);
    await write(rig, "172.16.0.6");
    await rig.addNode("n9");
    await rig.clock.advance(3_600_000);
    expect(rig.readAddress("web/shop")).toBe("172.16.0.6");
    expect(rig.server.listPatches("web/shop").length - before).toBe(0);
    expect(rig.listReasons("web/shop")).toContain("LoadBalancerStatusOverwritten");
    const service = rig.server.find("web/shop");
    expect(service && rig.controller.describe(service)).toMatchObject({ state: "waiting" });
  });

  test.each([
    ["empties it", (rig: ServiceRig) => write(rig)],
    [
      "is followed by a change of the Service",
      (rig: ServiceRig) => rig.change("web/shop", { metadata: { labels: { a: "b" } } }),
    ],
  ])("loses it when it %s", async (_what, end) => {
    await using rig = await startShop();
    await write(rig, "172.16.0.5");
    await write(rig, "172.16.0.5");
    await end(rig);
    await rig.clock.advance(1_000);
    expect(rig.readAddress("web/shop")).toBe("192.0.2.1");
    const service = rig.server.find("web/shop");
    expect(service && rig.controller.describe(service)).toMatchObject({ state: "ready" });
  });
});

/** Shows an address of each Service; those without one in Kubernetes are leftovers. */
class Tagged extends LoadBalancersDouble {
  readonly tagged = new Map([["uid-gone", "192.0.2.99"]]);
  listLeftovers(_view: object, { uids }: LiveServices): readonly LoadBalancerLeftover[] {
    const all = [...this.addresses, ...this.tagged];
    return all
      .filter(([uid]) => !uids.has(uid))
      .map(([serviceUid, ip]) => ({
        ip,
        id: `id-${ip}`,
        service: "web/old",
        serviceUid,
        rules: 1,
      }));
  }
}

const PERIOD_MS = 700_000;

async function start(): Promise<{ readonly rig: ServiceRig; readonly cloud: Tagged }> {
  const cloud = new Tagged();
  return { rig: await startServices({ cloud }), cloud };
}

function listWarnings({ lines }: ServiceRig): string[] {
  return lines.filter((line) => line.includes("have no Service"));
}

describe("Leftovers", () => {
  test("shows what a look found without a Service, and costs no look", async () => {
    const { rig, cloud } = await start();
    await using _ = rig;
    rig.server.add("shop");
    // Nobody serves it here; another process may.
    rig.server.add("other", { spec: { type: "LoadBalancer", loadBalancerClass: "x" } });
    cloud.tagged.set(rig.server.find("web/other")?.metadata.uid ?? "", "192.0.2.98");
    await rig.clock.advance(0);
    const looks = cloud.looks.length;
    expect(rig.controller.listLeftovers().map(({ ip }) => ip)).toEqual(["192.0.2.99"]);
    expect(rig.metrics.render()).toContain("landfall_load_balancer_leftovers 1");
    expect(cloud.looks.length).toBe(looks);
  });

  test("does not show the address of a Service that is being removed", async () => {
    const { rig, cloud } = await start();
    await using _ = rig;
    rig.server.add("shop");
    await rig.add("stays");
    cloud.isStuck = true;
    rig.server.change("web/shop", { metadata: { finalizers: null } });
    rig.server.remove("web/shop");
    await rig.clock.advance(1_000);
    expect(cloud.addresses.size).toBe(2);
    expect(rig.controller.listLeftovers().map(({ ip }) => ip)).toEqual(["192.0.2.99"]);
  });

  test("stays when the last Service goes, with the time of the look, and costs no other look", async () => {
    const { rig, cloud } = await start();
    await using _ = rig;
    rig.server.add("shop");
    await rig.clock.advance(PERIOD_MS);
    rig.server.remove("web/shop");
    await rig.clock.advance(1_000);
    expect(cloud.addresses.size).toBe(0);
    const [looks, [before]] = [cloud.looks.length, rig.controller.listLeftovers()];
    await rig.clock.advance(3 * PERIOD_MS);
    expect(cloud.looks.length).toBe(looks);
    expect(rig.controller.listLeftovers()).toEqual(before === undefined ? [] : [before]);
    expect(rig.metrics.render()).toContain("landfall_load_balancer_leftovers 1");
    const ageMs = rig.clock.now() - Date.parse(before?.asOf ?? "");
    expect(ageMs).toBeGreaterThanOrEqual(3 * PERIOD_MS);
    expect(ageMs).toBeLessThan(5 * PERIOD_MS);
    // An address that a Service names again is none.
    cloud.tagged.clear();
    await rig.add("shop");
    expect(rig.controller.listLeftovers()).toEqual([]);
  });

  test("forgets what another cloud showed", async () => {
    const { rig } = await start();
    await using _ = rig;
    await rig.add("shop");
    rig.controller.reconfigure(LOAD_BALANCERS.standard, { isOtherCloud: true });
    expect(rig.controller.listLeftovers()).toEqual([]);
  });

  test("shows nothing before the first Service: nothing was looked at", async () => {
    const { rig, cloud } = await start();
    await using _ = rig;
    await rig.clock.advance(PERIOD_MS);
    expect(cloud.looks).toEqual([]);
    expect(rig.controller.listLeftovers()).toEqual([]);
    expect(rig.metrics.render()).toContain("landfall_load_balancer_leftovers 0");
  });

  test("is written to the log once for each change, not at each pass", async () => {
    const { rig, cloud } = await start();
    await using _ = rig;
    rig.server.add("shop");
    await rig.clock.advance(3 * PERIOD_MS);
    expect(listWarnings(rig)).toHaveLength(1);
    expect(listWarnings(rig)[0]).toContain("192.0.2.99 (web/old)");
    cloud.tagged.set("uid-gone-too", "192.0.2.97");
    await rig.clock.advance(PERIOD_MS);
    expect(listWarnings(rig)).toHaveLength(2);
    cloud.tagged.clear();
    await rig.clock.advance(PERIOD_MS);
    expect(listWarnings(rig)).toHaveLength(2);
    expect(rig.controller.listLeftovers()).toEqual([]);
  });
});

test("runFullPasses() looks once for all Services, at once and each period", async () => {
  const clock = new ManualClock();
  const stop = new AbortController();
  const times: number[] = [];
  let isDown = false;
  const running = runFullPasses(
    {
      clock,
      log: silentLogger,
      periodMs: 600_000,
      random: () => 0.5,
      isNeeded: () => true,
      look: async () => {
        if (isDown) throw new Error("the cloud does not answer");
      },
      enqueueAll: () => times.push(clock.monotonic()),
    },
    stop.signal,
  );
  await clock.advance(700_000);
  expect(times).toEqual([0, 630_000]);
  isDown = true;
  await clock.advance(600_000);
  expect(times.length).toBe(2);
  isDown = false;
  await clock.advance(60_000);
  expect(times.length).toBe(3);
  stop.abort();
  await running;
  expect(clock.pending).toBe(0);
});
