/**
 * What the controller of Services does for one Service: the acceptance cases by their numbers.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { RefusedStepError } from "../../../lib/cloud/capabilities/refused_errors.ts";
import { LOAD_BALANCERS } from "../../../lib/cloud/pools/settings.ts";
import { CloudError } from "../../../lib/cloud/errors.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import {
  HOSTNAME,
  IP_MODE,
  LoadBalancersDouble,
} from "../../support/cloud/load_balancers_double.ts";
import { toSettings } from "../../support/pools/services.ts";
import { FINALIZER } from "../../support/services/service.ts";
import { startServices, startShop } from "../../support/services/service_rig.ts";

const KEY = "web/shop";
const RECORD = "landfall.dev/load-balancer";

describe("a new Service", () => {
  test("gets an address, and Events say so", async () => {
    await using rig = await startShop();
    expect(rig.readAddress(KEY)).toBe("192.0.2.1");
    expect(rig.cloud.steps).toEqual(["take an address", "set TCP 80"]);
    expect(rig.listReasons(KEY)).toEqual(["EnsuringLoadBalancer", "EnsuredLoadBalancer"]);
    expect(rig.cloud.clusterIds).toEqual(["cluster-1", "cluster-2"]);
  });

  test("S-02 has the finalizer before the first step", async () => {
    await using rig = await startServices();
    const seen: unknown[] = [];
    rig.cloud.onStep = () => {
      seen.push(rig.server.find(KEY)?.metadata.finalizers);
    };
    await rig.add("shop", { metadata: { finalizers: ["example.org/mine"] } });
    expect(seen[0]).toEqual(["example.org/mine", FINALIZER]);
  });

  test("S-03 costs one patch each for finalizer, record and status, all of the subresource", async () => {
    await using rig = await startServices();
    rig.server.add("shop");
    await rig.clock.advance(60_000);
    const [finalizer, record, status, ...more] = rig.server.listPatches(KEY);
    expect(finalizer).toMatchObject({ metadata: { finalizers: [FINALIZER] } });
    expect(record).toMatchObject({ metadata: { annotations: { [RECORD]: expect.any(String) } } });
    expect(status).toMatchObject({
      status: { loadBalancer: { ingress: [{ ip: "192.0.2.1", ipMode: "VIP" }] } },
    });
    expect(more).toEqual([]);
    expect(rig.server.writes.every(({ path }) => path.subresource === "status")).toBe(true);
    const versions = rig.server.writes.map(({ body }) => Object(body["metadata"]).resourceVersion);
    expect(versions.every((version) => typeof version === "string")).toBe(true);
  });

  test.each([
    ["of another type", { spec: { type: "NodePort" } }],
    ["of a class that is not ours", { spec: { loadBalancerClass: "example.com/other" } }],
  ])("S-01 %s gets nothing, and no write", async (_what, input) => {
    await using rig = await startServices();
    rig.server.add("shop", input);
    await rig.clock.advance(60_000);
    expect([rig.server.writes.length, rig.cloud.steps, rig.events]).toEqual([0, [], []]);
  });

  test.each([
    ["", "", [false, true]],
    ["example.com/ours", "", [true, false]],
    ["example.com/ours", "true", [true, true]],
    ["", "false", [false, false]],
  ])("S-01 with the class %p and for Services without one %p is served: %p", async (...row) => {
    const [ownClass, classless, served] = row;
    const flags = {
      "load-balancer-class": ownClass,
      "serve-services-without-class": classless,
    };
    await using rig = await startServices({ flags });
    rig.server.add("shop", { spec: { loadBalancerClass: "example.com/ours" } });
    await rig.add("other");
    const isServed = (key: string): boolean => rig.readAddress(key) !== undefined;
    expect([KEY, "web/other"].map(isServed)).toEqual(served);
  });

  test("without a class that Landfall served before keeps all, and an Event names the flag", async () => {
    const ingress = [{ ip: "192.0.2.1" }];
    const metadata = { annotations: { "landfall.dev/load-balancer": "{}" } };
    await using rig = await startServices({
      flags: { "load-balancer-class": "example.com/ours" },
      pools: toSettings({ name: "a", addresses: ["192.0.2.1"] }),
      prepare: (server) => server.add("shop", { metadata, status: { loadBalancer: { ingress } } }),
    });
    await rig.clock.advance(3_600_000);
    expect(rig.server.writes).toEqual([]);
    expect(rig.events[0]).toMatchObject({ key: KEY, reason: "LoadBalancerClassNotServed" });
    expect(rig.events[0]?.message).toContain("--serve-services-without-class=true");
  });

  test("without a class, with a finalizer from before, is named in the log", async () => {
    await using rig = await startServices({
      flags: { "load-balancer-class": "example.com/ours" },
      prepare: (server) => server.add("shop", { metadata: { finalizers: [FINALIZER] } }),
    });
    await rig.clock.advance(60_000);
    expect(rig.server.writes).toEqual([]);
    expect(rig.lines.join("\n")).toContain("--serve-services-without-class=true");
  });

  test("with a field that cannot be used keeps what it has, and an Event names the field", async () => {
    await using rig = await startShop();
    const before = structuredClone(rig.cloud.rules);
    rig.server.change(KEY, { spec: { loadBalancerSourceRanges: ["all"] } });
    await rig.clock.advance(600_000);
    expect([rig.cloud.rules, rig.readAddress(KEY)]).toEqual([before, "192.0.2.1"]);
    const [event] = rig.events.slice(2);
    expect(event).toMatchObject({ type: "Warning", reason: "SyncLoadBalancerFailed" });
    expect(event?.message).toContain('spec.loadBalancerSourceRanges: "all" is not a CIDR');
  });

  test("with a hostname shows no ipMode", async () => {
    await using rig = await startServices();
    await rig.add("shop", { metadata: { annotations: { [HOSTNAME]: "shop.example" } } });
    expect(rig.server.find(KEY)?.status?.loadBalancer?.ingress).toEqual([
      { hostname: "shop.example" },
    ]);
  });

  test("S-14 without any Node gets its load balancer, and a warning", async () => {
    await using rig = await startShop({ nodes: 0 });
    expect(rig.readAddress(KEY)).toBe("192.0.2.1");
    expect(rig.events).toContainEqual({
      key: KEY,
      type: "Warning",
      reason: "UnAvailableLoadBalancer",
      message: "There are no available nodes for LoadBalancer",
    });
  });
});

describe("a Service that needs its load balancer no longer", () => {
  test("S-04 loses everything when it is deleted, the finalizer last", async () => {
    await using rig = await startShop();
    const finalizers: unknown[] = [];
    rig.cloud.onStep = () => {
      finalizers.push(rig.server.find(KEY)?.metadata.finalizers);
    };
    await rig.remove(KEY);
    expect(finalizers).toEqual([[FINALIZER], [FINALIZER]]);
    expect(rig.server.find(KEY)).toBeUndefined();
    expect([rig.cloud.addresses.size, rig.cloud.rules.size]).toEqual([0, 0]);
    expect(rig.listReasons(KEY).slice(2)).toEqual(["DeletingLoadBalancer", "DeletedLoadBalancer"]);
  });

  test("S-04 loses everything when its type changes, with record and status", async () => {
    await using rig = await startShop();
    await rig.change(KEY, { spec: { type: "ClusterIP" } });
    const { metadata, status } = rig.server.find(KEY) ?? {};
    expect(metadata?.finalizers).toEqual([]);
    expect(metadata?.annotations).toEqual({});
    expect(status?.loadBalancer?.ingress).toBeUndefined();
    expect(rig.cloud.addresses.size).toBe(0);
    const writes = rig.server.writes.length;
    await rig.clock.advance(1_300_000);
    expect(rig.server.writes.length).toBe(writes);
  });

  test("S-04 keeps the finalizer while something of it is left", async () => {
    await using rig = await startServices();
    const { metadata } = rig.server.add("shop");
    await rig.clock.advance(0);
    rig.cloud.problems.set(metadata.uid ?? "", [{ reason: "StillUsed", message: "it is in use" }]);
    rig.server.remove(KEY);
    await rig.clock.advance(200_000);
    expect(rig.server.find(KEY)?.metadata.finalizers).toEqual([FINALIZER]);
    expect(rig.listReasons(KEY)).toContain("StillUsed");
    rig.cloud.problems.clear();
    await rig.clock.advance(60_000);
    expect(rig.server.find(KEY)).toBeUndefined();
  });

  test("loses it although a user removed the finalizer first", async () => {
    await using rig = await startShop();
    await rig.change(KEY, { metadata: { finalizers: null }, spec: { type: "ClusterIP" } });
    expect(rig.cloud.addresses.size).toBe(0);
  });

  test("S-16 that vanished without its finalizer loses everything from memory", async () => {
    await using rig = await startShop();
    rig.server.isWatchHeld = true;
    rig.server.change(KEY, { metadata: { finalizers: null } });
    rig.server.remove(KEY);
    rig.server.releaseWatch();
    await rig.clock.advance(0);
    expect(rig.cloud.addresses.size).toBe(0);
    expect(rig.listReasons(KEY).slice(2)).toEqual(["DeletingLoadBalancer", "DeletedLoadBalancer"]);
  });

  test("S-16 that vanished is tried again after a failure", async () => {
    await using rig = await startShop();
    rig.cloud.onStep = () => {
      throw new CloudError("unreachable", "no answer");
    };
    rig.server.isWatchHeld = true;
    rig.server.change(KEY, { metadata: { finalizers: null } });
    rig.server.remove(KEY);
    rig.server.releaseWatch();
    await rig.clock.advance(60_000);
    expect(rig.cloud.addresses.size).toBe(1);
    const failed = rig.events.find(({ reason }) => reason === "DeleteLoadBalancerFailed");
    expect(failed?.message).toBe("Error deleting load balancer: no answer");
    rig.cloud.onStep = () => undefined;
    await rig.clock.advance(300_000);
    expect(rig.cloud.addresses.size).toBe(0);
  });

  test("S-16 is released before another one of its name gets a load balancer", async () => {
    await using rig = await startShop();
    rig.server.isWatchHeld = true;
    rig.server.change(KEY, { metadata: { finalizers: null } });
    rig.server.remove(KEY);
    rig.server.add("shop", { metadata: { uid: "another" } });
    rig.cloud.steps.length = 0;
    rig.server.releaseWatch();
    await rig.clock.advance(0);
    expect(rig.cloud.steps).toEqual([
      "delete TCP 80",
      "release 192.0.2.1",
      "take an address",
      "set TCP 80",
    ]);
    expect([...rig.cloud.addresses.keys()]).toEqual(["another"]);
    expect(rig.readAddress(KEY)).toBe("192.0.2.2");
  });

  test("is left alone if it has a class that is not served, because the flag may be wrong", async () => {
    const cloud = new LoadBalancersDouble();
    cloud.addresses.set("uid-9", "192.0.2.9");
    await using rig = await startServices({
      cloud,
      prepare: (server) =>
        server.add("shop", {
          metadata: { uid: "uid-9", finalizers: [FINALIZER], annotations: { [RECORD]: "{}" } },
          spec: { loadBalancerClass: "example.com/ours" },
        }),
    });
    await rig.clock.advance(700_000);
    expect([cloud.addresses.size, rig.server.writes.length]).toEqual([1, 0]);
    expect(rig.listReasons(KEY)).toContain("LoadBalancerClassNotServed");
  });

  test("is released if its class is new since this process made its load balancer", async () => {
    await using rig = await startShop();
    await rig.change(KEY, { spec: { loadBalancerClass: "example.com/other" } });
    expect(rig.cloud.addresses.size).toBe(0);
    expect(rig.server.find(KEY)?.metadata.finalizers).toEqual([]);
  });
});

describe("failures", () => {
  test("S-05 a conflict on the status is tried again, and is no failure if other fields changed", async () => {
    await using rig = await startServices();
    rig.server.beforeWrite = ({ body }) => {
      if (!("status" in body)) return;
      rig.server.beforeWrite = () => undefined;
      rig.server.isWatchHeld = true;
      rig.server.change(KEY, { metadata: { managedFields: [] } });
    };
    await rig.add("shop");
    expect(rig.readAddress(KEY)).toBe("192.0.2.1");
    expect(rig.listReasons(KEY)).toEqual(["EnsuringLoadBalancer", "EnsuredLoadBalancer"]);
  });

  test("S-05 a conflict that stays is a failure with an Event", async () => {
    await using rig = await startServices();
    rig.server.beforeWrite = ({ body }) => {
      if ("status" in body) throw new KubeError("conflict", "the object has been modified");
    };
    await rig.add("shop");
    expect(rig.listReasons(KEY)).toEqual(["EnsuringLoadBalancer", "SyncLoadBalancerFailed"]);
    rig.server.beforeWrite = () => undefined;
    await rig.clock.advance(12_500);
    expect(rig.readAddress(KEY)).toBe("192.0.2.1");
  });

  test("S-05 a Service that is gone at the last patch is right", async () => {
    await using rig = await startShop();
    rig.server.beforeWrite = () => {
      throw new KubeError("notFound", "services not found");
    };
    await rig.remove(KEY);
    expect(rig.listReasons(KEY).at(-1)).toBe("DeletedLoadBalancer");
  });

  test("a Service that is deleted before it has the finalizer leaves no Event and no warning", async () => {
    await using rig = await startServices();
    rig.server.beforeWrite = () => {
      rig.server.isWatchHeld = true;
      rig.server.beforeWrite = () => undefined;
      rig.server.remove(KEY);
    };
    await rig.add("shop");
    rig.server.releaseWatch();
    await rig.clock.advance(1_000);
    expect(rig.server.find(KEY)).toBeUndefined();
    expect([rig.listReasons(KEY), rig.lines.filter((one) => one.includes("warn"))]).toEqual([
      [],
      [],
    ]);
  });

  test("a Service that is deleted while its load balancer is made is no failure", async () => {
    await using rig = await startServices();
    rig.server.beforeWrite = ({ body }) => {
      if (!("status" in body)) return;
      rig.server.isWatchHeld = true;
      rig.server.beforeWrite = () => undefined;
      rig.server.remove(KEY);
    };
    await rig.add("shop");
    rig.server.releaseWatch();
    await rig.clock.advance(10_000);
    expect(rig.server.find(KEY)).toBeUndefined();
    expect(rig.cloud.addresses.size).toBe(0);
    expect(rig.listReasons(KEY)).toEqual([
      "EnsuringLoadBalancer",
      "DeletingLoadBalancer",
      "DeletedLoadBalancer",
    ]);
  });

  test("a step that the cloud refuses for a reason with a name has its Event", async () => {
    await using rig = await startServices();
    const problem = { reason: "AddressNotUsable", message: "name another address" };
    rig.cloud.onStep = () => {
      throw new RefusedStepError(problem, new CloudError("unreachable", "no such address"));
    };
    await rig.add("shop");
    expect(rig.events.at(-1)).toEqual({ key: KEY, type: "Warning", ...problem });
    expect(rig.listReasons(KEY)).not.toContain("SyncLoadBalancerFailed");
    const service = rig.server.find(KEY);
    expect(service && rig.controller.describe(service)).toMatchObject({
      state: "failing",
      failure: "name another address",
    });
  });

  test("S-06 an error with a time is tried again after that time, and is not counted", async () => {
    await using rig = await startServices();
    const times: number[] = [];
    let pauses = 3;
    rig.cloud.onStep = () => {
      times.push(rig.clock.monotonic());
      pauses -= 1;
      if (pauses >= 0) throw new CloudError("throttled", "slow down", { retryAfterMs: 42_000 });
      throw new CloudError("unreachable", "no answer");
    };
    rig.server.add("shop");
    await rig.clock.advance(42_000 * 3 + 6_100);
    expect(times.slice(0, 4)).toEqual([0, 42_000, 84_000, 126_000]);
    // The first failure that counts.
    const [fourth = 0, fifth = 0] = times.slice(3);
    expect(fifth - fourth).toBeGreaterThanOrEqual(5_000);
    expect(fifth - fourth).toBeLessThanOrEqual(6_000);
  });

  test("S-06 other errors are tried again after 5 s to 300 s", async () => {
    await using rig = await startServices();
    const times: number[] = [];
    rig.cloud.onStep = () => {
      times.push(rig.clock.monotonic());
      throw new CloudError("unreachable", "no answer");
    };
    rig.server.add("shop");
    await rig.clock.advance(2_000_000);
    const pauses = times.slice(1).map((ms, at) => ms - (times[at] ?? 0));
    const least = [5, 10, 20, 40, 80, 160, 300, 300].map((seconds) => seconds * 1_000);
    for (const [at, ms] of least.entries()) {
      expect(pauses[at]).toBeGreaterThanOrEqual(ms);
      expect(pauses[at]).toBeLessThanOrEqual(ms * 1.2);
    }
    const failures = rig.events.filter(({ reason }) => reason === "SyncLoadBalancerFailed");
    expect(failures[0]?.message).toBe(
      "Error syncing load balancer: failed to ensure load balancer: no answer",
    );
    // At most one in five minutes.
    expect(failures.length).toBeLessThanOrEqual(7);
  });

  test("the status stays while the cloud does not answer", async () => {
    await using rig = await startShop();
    rig.cloud.onLook = () => {
      throw new CloudError("unreachable", "no answer");
    };
    await rig.clock.advance(100_000);
    rig.server.change(KEY, { spec: { ports: [{ port: 443, nodePort: 30_443 }] } });
    await rig.clock.advance(2_000_000);
    expect(rig.readAddress(KEY)).toBe("192.0.2.1");
    rig.cloud.onLook = () => undefined;
    await rig.clock.advance(400_000);
    expect([...(rig.cloud.rules.get("uid-2")?.keys() ?? [])]).toEqual(["TCP 443"]);
  });

  test("what the cloud refuses for one port holds up no other one, and is the failure of the attempt", async () => {
    await using rig = await startServices();
    rig.cloud.mayGoOn = (error) => error instanceof CloudError && error.kind === "denied";
    rig.cloud.onStep = ({ part }) => {
      if (part === "TCP 80") throw new CloudError("denied", "not port 80");
    };
    const ports = [80, 81, 82].map((port) => ({ port, nodePort: 30_000 + port }));
    await rig.add("shop", { spec: { ports } });
    expect(rig.cloud.steps).toEqual(["take an address", "set TCP 80", "set TCP 81", "set TCP 82"]);
    expect(rig.readAddress(KEY)).toBeUndefined();
    expect(rig.events.at(-1)).toMatchObject({ reason: "SyncLoadBalancerFailed" });
    expect(rig.events.at(-1)?.message).toContain("not port 80");
    rig.cloud.onStep = () => undefined;
    await rig.clock.advance(10_000);
    expect(rig.readAddress(KEY)).toBe("192.0.2.1");
  });

  test("what a step fails with that all steps need, or in many parts, ends the attempt", async () => {
    await using rig = await startServices();
    rig.cloud.mayGoOn = () => true;
    rig.cloud.onStep = ({ part }) => {
      if (part !== undefined) throw new CloudError("denied", `not ${part}`);
    };
    const ports = [80, 81, 82, 83, 84].map((port) => ({ port, nodePort: 30_000 + port }));
    await rig.add("shop", { spec: { ports } });
    const tried = [80, 81, 82, 83].map((port) => `set TCP ${port}`);
    expect(rig.cloud.steps).toEqual(["take an address", ...tried]);
    rig.cloud.steps.length = 0;
    rig.cloud.onStep = ({ change }) => {
      if (change.kind === "address") throw new CloudError("denied", "no address");
    };
    await rig.remove(KEY);
    expect(rig.cloud.steps).toEqual(["release 192.0.2.1"]);
    expect(rig.server.find(KEY)).toBeDefined();
  });

  test("S-08 a step that changes nothing is a failure, not an endless loop", async () => {
    await using rig = await startServices();
    rig.cloud.isStuck = true;
    await rig.add("shop");
    expect(rig.cloud.steps.length).toBe(3);
    const failed = rig.events.find(({ reason }) => reason === "SyncLoadBalancerFailed");
    expect(failed?.message).toEndWith('"take an address" succeeded 3 times and is needed again');
  });

  test("S-07 a problem of the cloud that does not prevent anything leaves status and success", async () => {
    await using rig = await startServices();
    const problem = { reason: "WorthKnowing", message: "look at this", isWaiting: false };
    rig.cloud.problems.set("uid-2", [problem]);
    rig.server.add("shop");
    await rig.clock.advance(2_000_000);
    expect(rig.readAddress(KEY)).toBe("192.0.2.1");
    const said = rig.events.filter(({ reason }) => reason === "WorthKnowing");
    expect(said[0]).toMatchObject({ type: "Warning", message: "look at this" });
    expect(said.length).toBeLessThanOrEqual(4);
  });

  test("S-07 a problem to say once is said again only after it ended", async () => {
    await using rig = await startShop();
    const problem = { reason: "WorthKnowing", message: "look", isWaiting: false, isOnce: true };
    rig.cloud.problems.set("uid-2", [problem]);
    await rig.clock.advance(2_000_000);
    const count = (): number => rig.listReasons(KEY).filter((one) => one === "WorthKnowing").length;
    expect(count()).toBe(1);
    rig.cloud.problems.clear();
    await rig.clock.advance(700_000);
    rig.cloud.problems.set("uid-2", [problem]);
    await rig.clock.advance(2_000_000);
    expect(count()).toBe(2);
  });

  test("S-07 a problem that only a plan with steps shows is reported", async () => {
    await using rig = await startServices();
    const notice = { reason: "WorthKnowing", message: "look at this", isWaiting: false };
    const waiting = { reason: "NotYet", message: "wait for this" };
    rig.cloud.problems.set("uid-2", [notice, waiting]);
    rig.cloud.onStep = () => rig.cloud.problems.clear();
    rig.server.add("shop");
    await rig.clock.advance(1_000);
    expect(rig.readAddress(KEY)).toBe("192.0.2.1");
    expect(rig.listReasons(KEY)).toContain("WorthKnowing");
    expect(rig.listReasons(KEY)).not.toContain("NotYet");
  });

  test("S-20 a key of too many parts cannot come: it is the key of a stored Service", async () => {
    await using rig = await startShop();
    expect([...rig.controller.objects.keys()]).toContain(KEY);
  });
});

describe("S-18 ipMode", () => {
  test.each([
    ["VIP", true],
    ["VIP", false],
    ["Proxy", true],
    ["Proxy", false],
  ])("%s is written once on a server that keeps it: %p", async (mode, keeps) => {
    await using rig = await startServices({
      prepare: (server) => {
        server.keepsIpMode = keeps;
      },
    });
    await rig.add("shop", { metadata: { annotations: { [IP_MODE]: mode } } });
    const writes = rig.server.writes.length;
    await rig.clock.advance(3_000_000);
    expect(rig.server.writes.length).toBe(writes);
    const [first] = rig.server.find(KEY)?.status?.loadBalancer?.ingress ?? [];
    expect(first?.ipMode).toBe(keeps ? mode : undefined);
  });
});

describe("load balancers that leave nothing behind", () => {
  const toCloud = (): LoadBalancersDouble =>
    Object.assign(new LoadBalancersDouble(), { leavesNothingBehind: true });

  test("need no finalizer, and are released from memory when their Service is gone", async () => {
    await using rig = await startShop({ cloud: toCloud() });
    expect(rig.readAddress(KEY)).toBe("192.0.2.1");
    expect(rig.server.find(KEY)?.metadata.finalizers).toBeUndefined();
    await rig.remove(KEY);
    expect(rig.cloud.addresses.size).toBe(0);
    expect(rig.listReasons(KEY)).toEqual(["EnsuredLoadBalancer"]);
  });

  test("are released when the type changes, also by a process that did not make them", async () => {
    const cloud = toCloud();
    cloud.addresses.set("uid-9", "192.0.2.9");
    await using rig = await startServices({
      cloud,
      prepare: (server) =>
        server.add("shop", {
          metadata: { uid: "uid-9", annotations: { [RECORD]: "{}" } },
          spec: { type: "ClusterIP" },
        }),
    });
    expect(cloud.addresses.size).toBe(0);
    expect(rig.server.find(KEY)?.metadata.annotations).toEqual({});
  });
});

test("a cloud learns which namespaces may use which addresses, also after the settings changed", async () => {
  await using rig = await startShop();
  const seen: unknown[] = [];
  rig.cloud.onLook = ({ listSharingRules }) => void seen.push(listSharingRules?.());
  const sharing = [{ addresses: ["192.0.2.1"], namespaces: ["web"] }];
  const { settings } = LOAD_BALANCERS.parse({ sharing });
  rig.controller.reconfigure(settings, { isOtherCloud: true });
  await rig.clock.advance(600_000);
  expect(seen.at(-1)).toEqual(settings.sharing);
  expect(settings.sharing).toHaveLength(1);
});

test("a release that takes something from another Service has that one planned again at once", async () => {
  await using rig = await startShop();
  await rig.add("guest");
  const { uid = "" } = rig.server.find(KEY)?.metadata ?? {};
  const owner = { namespace: "web", name: "guest", uid: "any" };
  const notice = { reason: "AddressNotShared", message: "it goes", isWaiting: false };
  rig.cloud.problems.set(uid, [{ ...notice, others: [owner] }]);
  // Then nothing is left to say it about.
  rig.cloud.onStep = () => void rig.cloud.problems.delete(uid);
  rig.cloud.rules.get(rig.server.find("web/guest")?.metadata.uid ?? "")?.clear();
  const begin = rig.cloud.steps.length;
  await rig.remove(KEY);
  await rig.clock.advance(1_000);
  expect(rig.cloud.steps.slice(begin).filter((one) => one.startsWith("set"))).toEqual([
    "set TCP 80",
  ]);
});
