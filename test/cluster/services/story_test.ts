/**
 * The life of a Service of type LoadBalancer on a real API server, with the real program and a simulated CloudStack.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { listRights, needAll } from "../../../lib/app/rights.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import type { Service } from "../../../lib/kube/kinds/service.ts";
import {
  type CloudStackSimulator,
  createDemoWorld,
  startCloudStackSimulator,
} from "../../../lib/simulator/cloudstack/mod.ts";
import { type Ledger, toLedger } from "../../../lib/simulator/cloudstack/world/ledger.ts";
import { readJson } from "../../support/kube/contract_client.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import {
  ClusterRig,
  type Controller,
  READY,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import { listPrograms } from "../../support/process/landfall_process.ts";

const [program] = listPrograms();
const LEASE = { namespace: "kube-system", name: "cloud-controller-manager" } as const;
const SERVICES = "/api/v1/namespaces/default/services";
const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const RECORD = "landfall.dev/load-balancer";
const NAMES = ["worker-1", "worker-2"] as const;

describe.skipIf(skipsCluster())("a Service of type LoadBalancer on CloudStack", () => {
  const demo = createDemoWorld();
  const controllers: Controller[] = [];
  let started: { readonly rig: ClusterRig; readonly cloud: CloudStackSimulator } | undefined;
  const use = (): NonNullable<typeof started> => {
    if (started === undefined) throw new Error("Cannot test: the cluster is not up");
    return started;
  };

  beforeAll(async () => {
    const cloud = await startCloudStackSimulator({ clock: systemClock, world: demo.world });
    const rig = await ClusterRig.start();
    started = { rig, cloud };
    const needs = needAll(LEASE);
    const chosen = new Set([...needs.controllers, "service"]);
    await rig.allow(listRights({ ...needs, controllers: chosen }));
    for (const name of NAMES) await register(name);
    const { url, apiKey, secretKey } = cloud;
    const lines = ["[Global]", `api-url = ${url}`, `api-key = ${apiKey}`];
    const config = [...lines, `secret-key = ${secretKey}`, "refresh-interval = 1s", ""].join("\n");
    await writeFile(join(rig.cluster.folder, "cloud-config"), config);
  }, 120_000);
  afterAll(async () => {
    for (const { landfall } of controllers) await landfall.stop();
    await started?.cloud.stop();
    await started?.rig.stop();
  });

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
    if (program === undefined) throw new Error("Cannot find a program");
    const { rig } = use();
    const controller = await rig.startController(program, {
      args: [
        "--cloud-provider=external-cloudstack",
        `--cloud-config=${rig.cluster.folder}/cloud-config`,
        "--controllers=*,service",
        `--leader-elect-resource-name=${LEASE.name}`,
        ...args,
      ],
    });
    controllers.push(controller);
    return controller;
  };
  const create = async (name: string, spec: object = {}): Promise<void> => {
    await use().rig.cluster.create(SERVICES, {
      metadata: { name },
      spec: {
        type: "LoadBalancer",
        selector: { app: name },
        ports: [{ name: "http", port: 80 }],
        ...spec,
      },
    });
  };
  const change = async (name: string, patch: object): Promise<void> => {
    const response = await use().rig.cluster.adminFetch(`${SERVICES}/${name}`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify(patch),
    });
    if (!response.ok) throw new Error(`Cannot patch ${name}: ${await response.text()}`);
  };
  const remove = async (name: string): Promise<void> => {
    await use().rig.cluster.adminFetch(`${SERVICES}/${name}`, { method: "DELETE" });
  };
  const read = async (name: string): Promise<Service | undefined> => {
    const response = await use().rig.cluster.adminFetch(`${SERVICES}/${name}`);
    return response.status === 404 ? undefined : await readJson<Service>(response);
  };
  const listReasons = async (name: string): Promise<(string | undefined)[]> => {
    const selector = new URLSearchParams({ fieldSelector: `involvedObject.name=${name}` });
    const path = `/api/v1/namespaces/default/events?${selector.toString()}`;
    const { items } = await readJson<{ readonly items: readonly KubeEvent[] }>(
      await use().rig.cluster.adminFetch(path),
    );
    return items.map(({ reason }) => reason);
  };
  const showLogs = (): string => controllers.map(({ landfall }) => landfall.log).join("\n");
  const untilAddress = (name: string): Promise<string> =>
    waitUntil(
      () => `an address of ${name}:\n${showLogs()}`,
      async () => (await read(name))?.status?.loadBalancer?.ingress?.[0]?.ip,
    );
  const untilTrue = (what: string, holds: () => boolean | Promise<boolean>): Promise<true> =>
    waitUntil(
      () => `${what}:\n${showLogs()}`,
      async () => ((await holds()) ? true : undefined),
    );
  const ledger = (): Ledger => toLedger(use().cloud.state);
  /** What is on an address, as `80 → 10.10.0.21 10.10.0.22`. */
  const listRules = (address: string): string[] => {
    const { state } = use().cloud;
    const ip = [...state.publicIps.values()].find((one) => one.address === address);
    return [...state.loadBalancerRules.values()]
      .filter(({ ipId }) => ipId === ip?.id)
      .map(({ publicPort, members }) => `${publicPort} → ${members.map((one) => one.ip).join(" ")}`)
      .toSorted();
  };
  const listSources = (address: string): string[] =>
    ledger()
      .addresses.filter((one) => one.address === address)
      .flatMap(({ firewallRules }) => firewallRules.map((rule) => JSON.stringify(rule)));

  test("gets an address with rules, and Events and status say so", async () => {
    await start();
    await create("web");
    const address = await untilAddress("web");
    expect((await read("web"))?.metadata.finalizers).toEqual([FINALIZER]);
    expect(listRules(address)).toEqual(["80 → 10.10.0.21 10.10.0.22"]);
    await untilTrue("the Events", async () => (await listReasons("web")).length === 2);
    expect(await listReasons("web")).toEqual(["EnsuringLoadBalancer", "EnsuredLoadBalancer"]);
  }, 60_000);

  test("gets another port, and lets only those in that it names", async () => {
    const address = await untilAddress("web");
    const ports = [
      { name: "http", port: 80 },
      { name: "https", port: 443 },
    ];
    await change("web", { spec: { ports, loadBalancerSourceRanges: ["10.0.0.0/8"] } });
    await untilTrue("the second rule", () => listRules(address).length === 2);
    await untilTrue("the sources", () => {
      const sources = listSources(address);
      return sources.length === 2 && sources.every((rule) => rule.includes("10.0.0.0/8"));
    });
    expect(await untilAddress("web")).toBe(address);
    await untilTrue("rest", () => showLogs().split("Ensured load balancer").length === 3);
  }, 60_000);

  test("follows Nodes that come and go", async () => {
    const { rig } = use();
    const address = await untilAddress("web");
    await register("cp-1");
    await untilTrue("the new backend", () =>
      listRules(address).every((rule) => rule.includes("10.10.0.11")),
    );
    await untilTrue("the Event", async () =>
      (await listReasons("web")).includes("UpdatedLoadBalancer"),
    );
    await rig.cluster.adminFetch("/api/v1/nodes/cp-1", { method: "DELETE" });
    await untilTrue("its end", () =>
      listRules(address).every((rule) => !rule.includes("10.10.0.11")),
    );
  }, 60_000);

  test("loses everything when its type changes, and Kubernetes shows nothing of it", async () => {
    const address = await untilAddress("web");
    await change("web", { spec: { type: "ClusterIP", loadBalancerSourceRanges: null } });
    await untilTrue("the finalizer to go", async () => {
      const { metadata } = (await read("web")) ?? {};
      return (metadata?.finalizers ?? []).length === 0;
    });
    const service = await read("web");
    expect(service?.status?.loadBalancer).toEqual({});
    expect(service?.metadata.annotations?.[RECORD]).toBeUndefined();
    expect(ledger().addresses.map((one) => one.address)).not.toContain(address);
  }, 60_000);

  test("is gone after its deletion, with all that was made for it", async () => {
    const before = ledger();
    await create("api");
    await untilAddress("api");
    expect(ledger()).not.toEqual(before);
    await remove("api");
    await untilTrue("its end", async () => (await read("api")) === undefined);
    expect(ledger()).toEqual(before);
    await untilTrue("the Events", async () =>
      (await listReasons("api")).includes("DeletedLoadBalancer"),
    );
    for (const { landfall } of controllers.splice(0)) await landfall.stop();
  }, 60_000);

  test("gets one address although the leader dies while it is taken", async () => {
    const { cloud } = use();
    const before = ledger();
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
    await create("late");
    await untilTrue("the request", () => cloud.requests.count("associateIpAddress") > asked);
    first.landfall.signal("SIGKILL");
    cloud.settings.jobMs = 200;
    await untilAddress("late");
    await untilTrue("all rules", () => ledger().addresses.length === before.addresses.length + 1);
    await remove("late");
    await untilTrue("its end", async () => (await read("late")) === undefined);
    expect(ledger()).toEqual(before);
  }, 120_000);
});
