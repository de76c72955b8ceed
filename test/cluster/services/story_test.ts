/**
 * The life of a Service of type LoadBalancer on a real API server, as its owner sees it through kubectl, with the real
 * program and a simulated CloudStack.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Service } from "../../../lib/kube/kinds/service.ts";
import { createDemoWorld } from "../../../lib/simulator/cloudstack/mod.ts";
import {
  type CloudSummary,
  summarizeCloud,
} from "../../../lib/simulator/cloudstack/world/summary.ts";
import { requireTool, withFile } from "../../support/deploy/deploy_tools.ts";
import { findKubectl } from "../../support/kube/kubectl.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import { type Controller, READY, waitUntil } from "../../support/process/cluster_rig.ts";
import { PROGRAM } from "../../support/process/landfall_process.ts";
import { ServiceCluster } from "../../support/services/service_cluster.ts";

const kubectl = skipsCluster() ? undefined : await findKubectl();
const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const RECORD = "landfall.dev/load-balancer";
const NAMES = ["worker-1", "worker-2"] as const;
const HTTP = { name: "http", port: 80 };
const HTTPS = { name: "https", port: 443 };

describe.skipIf(kubectl === undefined)("a Service of type LoadBalancer on CloudStack", () => {
  const demo = createDemoWorld();
  let started: ServiceCluster | undefined;
  const use = (): ServiceCluster => {
    if (started === undefined) throw new Error("Cannot test: the cluster is not up");
    return started;
  };

  beforeAll(async () => {
    started = await ServiceCluster.start(demo.world);
    for (const name of NAMES) await register(name);
  }, 120_000);
  afterAll(() => started?.stop());

  const register = async (name: string): Promise<void> => {
    const vmId = demo.machines.get(name)?.vmId ?? "";
    const { nics } = use().cloud.state.vm(vmId);
    const addresses = nics.map(({ ipAddress }) => ({ type: "InternalIP", address: ipAddress }));
    await use().rig.register(name, {
      taints: [],
      providerID: `external-cloudstack://${vmId}`,
      status: { addresses, conditions: [READY] },
    });
  };
  const start = async (...args: readonly string[]): Promise<Controller> => {
    return await use().startController(PROGRAM, ...args);
  };
  /** Runs kubectl as an administrator. */
  const run = async (...args: readonly string[]): Promise<string> => {
    const { adminKubeconfigPath, folder } = use().rig.cluster;
    const flags = [
      `--kubeconfig=${adminKubeconfigPath}`,
      `--cache-dir=${join(folder, "kubectl-cache")}`,
    ];
    return await requireTool(kubectl ?? "", [...flags, ...args]);
  };
  const apply = async (name: string, spec: object = {}): Promise<void> => {
    const manifest = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name },
      spec: { type: "LoadBalancer", selector: { app: name }, ports: [HTTP], ...spec },
    };
    await withFile(JSON.stringify(manifest), (file) => run("apply", `--filename=${file}`));
  };
  const read = async (name: string): Promise<Service> => {
    const service: Service = JSON.parse(await run("get", "service", name, "--output=json"));
    return service;
  };
  const untilAddress = (name: string): Promise<string> =>
    waitUntil(
      () => `an address of ${name}:\n${use().logs}`,
      async () => {
        const path = "{.status.loadBalancer.ingress[0].ip}";
        const address = await run("get", "service", name, `--output=jsonpath=${path}`);
        return address === "" ? undefined : address;
      },
    );
  const untilTrue = (what: string, holds: () => boolean | Promise<boolean>): Promise<void> =>
    use().untilTrue(what, holds);
  /** Waits until `kubectl describe` shows an Event. Returns all that it shows. */
  const untilDescribed = (name: string, reason: string): Promise<string> =>
    waitUntil(
      () => `the Event ${reason} of ${name}:\n${use().logs}`,
      async () => {
        const text = await run("describe", "service", name);
        return text.includes(` ${reason} `) ? text : undefined;
      },
    );
  const summary = (): CloudSummary => summarizeCloud(use().cloud.state);
  /** What the router runs for an address, as `80 tcp → 10.10.0.21 10.10.0.22`. */
  const listRules = (address: string): string[] => {
    const { state } = use().cloud;
    const ip = [...state.publicIps.values()].find((one) => one.address === address);
    return [...state.loadBalancerRules.values()]
      .filter(({ ipId }) => ipId === ip?.id)
      .map(({ publicPort, applied }) => {
        const backends = applied?.backends.toSorted().join(" ");
        return `${publicPort} ${applied?.protocol} → ${backends}`;
      })
      .toSorted();
  };
  /** Who may connect to an address, as `80-80 tcp: 10.0.0.0/8`. */
  const listSources = (address: string): string[] => {
    const { state } = use().cloud;
    const ip = [...state.publicIps.values()].find((one) => one.address === address);
    return [...state.firewallRules.values()]
      .filter(({ ipId }) => ipId === ip?.id)
      .map(({ startPort, endPort, protocol, cidrs }) => {
        return `${startPort}-${endPort} ${protocol}: ${cidrs.join(" ")}`;
      })
      .toSorted();
  };

  test("gets an address with rules, and kubectl describe shows both and the Events", async () => {
    await start();
    await apply("web");
    const address = await untilAddress("web");
    expect((await read("web")).metadata.finalizers).toEqual([FINALIZER]);
    expect(listRules(address)).toEqual(["80 tcp → 10.10.0.21 10.10.0.22"]);
    expect(listSources(address)).toEqual(["80-80 tcp: 0.0.0.0/0"]);
    const text = await untilDescribed("web", "EnsuredLoadBalancer");
    expect(text).toMatch(new RegExp(`^LoadBalancer Ingress: +${RegExp.escape(address)}\\b`, "m"));
    expect(text).toMatch(/Normal +EnsuringLoadBalancer .* Ensuring load balancer$/m);
    expect(text).toMatch(/Normal +EnsuredLoadBalancer .* Ensured load balancer$/m);
  }, 60_000);

  test("gets another port, and lets only those in that it names", async () => {
    const address = await untilAddress("web");
    await apply("web", { ports: [HTTP, HTTPS], loadBalancerSourceRanges: ["10.0.0.0/8"] });
    await untilTrue("the second rule and the sources", () => {
      const both = ["443-443 tcp: 10.0.0.0/8", "80-80 tcp: 10.0.0.0/8"];
      return listRules(address).length === 2 && Bun.deepEquals(listSources(address), both);
    });
    expect(await untilAddress("web")).toBe(address);
    await untilTrue("rest", () => use().logs.split("Ensured load balancer").length === 3);
  }, 60_000);

  test("loses a port, gets another protocol and other clients, and keeps its address", async () => {
    const address = await untilAddress("web");
    await apply("web", {
      ports: [{ ...HTTPS, protocol: "UDP" }],
      loadBalancerSourceRanges: ["192.168.0.0/16"],
    });
    await untilTrue("rest", () => use().logs.split("Ensured load balancer").length === 4);
    expect(listRules(address)).toEqual(["443 udp → 10.10.0.21 10.10.0.22"]);
    expect(listSources(address)).toEqual(["443-443 udp: 192.168.0.0/16"]);
    expect(await untilAddress("web")).toBe(address);
  }, 60_000);

  test("follows Nodes that come and go", async () => {
    const address = await untilAddress("web");
    await register("cp-1");
    await untilTrue("the new backend", () =>
      listRules(address).every((rule) => rule.includes("10.10.0.11")),
    );
    await untilDescribed("web", "UpdatedLoadBalancer");
    await run("delete", "node", "cp-1");
    await untilTrue("its end", () =>
      listRules(address).every((rule) => !rule.includes("10.10.0.11")),
    );
  }, 60_000);

  test("loses everything when its type changes, and Kubernetes shows nothing of it", async () => {
    const address = await untilAddress("web");
    await apply("web", { type: "ClusterIP" });
    await untilTrue("the finalizer to go", async () => {
      const { metadata } = await read("web");
      return (metadata.finalizers ?? []).length === 0;
    });
    const service = await read("web");
    expect(service.status?.loadBalancer).toEqual({});
    expect(service.metadata.annotations?.[RECORD]).toBeUndefined();
    expect(summary().addresses.map((one) => one.address)).not.toContain(address);
  }, 60_000);

  test("is gone after its deletion, with all that was made for it", async () => {
    const before = summary();
    await apply("api");
    await untilAddress("api");
    expect(summary()).not.toEqual(before);
    // It waits until the finalizer is gone.
    await run("delete", "service", "api", "--timeout=30s");
    expect(summary()).toEqual(before);
    await untilTrue("the Events", async () => {
      const path = "{.items[*].reason}";
      const selector = "--field-selector=involvedObject.name=api";
      const reasons = await run("get", "events", selector, `--output=jsonpath=${path}`);
      return reasons.split(" ").includes("DeletedLoadBalancer");
    });
    await use().stopControllers();
  }, 60_000);

  test("gets one address although the leader dies while it is taken", async () => {
    const { cloud } = use();
    const before = summary();
    const election = [
      "--leader-elect=true",
      "--leader-elect-lease-duration=3s",
      "--leader-elect-renew-deadline=2s",
      "--leader-elect-retry-period=500ms",
    ];
    const first = await start(...election);
    await waitUntil("the first leader", async () =>
      first.landfall.log.includes("Cluster ID") ? true : undefined,
    );
    await start(...election);
    cloud.settings.jobMs = 3_000;
    const asked = cloud.requests.count("associateIpAddress");
    await apply("late");
    await untilTrue("the request", () => cloud.requests.count("associateIpAddress") > asked);
    first.landfall.signal("SIGKILL");
    cloud.settings.jobMs = 200;
    await untilAddress("late");
    await untilTrue("all rules", () => summary().addresses.length === before.addresses.length + 1);
    await run("delete", "service", "late", "--timeout=30s");
    expect(summary()).toEqual(before);
  }, 120_000);
});
