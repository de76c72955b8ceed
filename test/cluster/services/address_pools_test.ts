/**
 * Services that get their addresses from pools, on a real API server: with real processes, of which the leader is
 * killed while it gives addresses.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { listRights, needAll } from "../../../lib/app/rights.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import type { Service } from "../../../lib/kube/kinds/service.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import {
  ClusterRig,
  type Controller,
  LEASE,
  READY,
  USERNAME,
  waitUntil,
} from "../../support/process/cluster_rig.ts";
import { listCodeBlocks } from "../../support/markdown_links.ts";
import { readSource } from "../../support/sources.ts";
import { killAll, PROGRAM } from "../../support/process/landfall_process.ts";

const SERVICES = "/api/v1/namespaces/default/services";
const ARGS = [
  "--controllers=*,service",
  "--leader-elect=true",
  `--leader-elect-resource-name=${LEASE.name}`,
  "--leader-elect-lease-duration=2s",
  "--leader-elect-renew-deadline=1400ms",
  "--leader-elect-retry-period=300ms",
];
const MAIN = "{ name: main, addresses: [10.20.0.0/24] }";
const TINY = "{ name: tiny, addresses: [192.0.2.7], autoAssign: false }";
const MANY = 60;
const SOME = 15;

describe.skipIf(skipsCluster())(`on a real API server, address pools of ${PROGRAM.name}`, () => {
  const controllers: Controller[] = [];
  let started: ClusterRig | undefined;
  const use = (): ClusterRig => {
    if (started === undefined) throw new Error("Cannot test: the cluster is not up");
    return started;
  };
  const start = async (): Promise<void> => {
    controllers.push(await use().startController(PROGRAM, { args: ARGS }));
  };
  const configure = (...pools: readonly string[]): Promise<void> =>
    use().configure([`loadBalancers: { pools: [${pools.join(", ")}] }`]);
  const create = (name: string, annotations: object = {}): Promise<void> =>
    use().cluster.create(SERVICES, {
      metadata: { name, annotations },
      spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 80 }] },
    });
  const read = async (name: string): Promise<Service> =>
    await use().cluster.read<Service>(`${SERVICES}/${name}`);
  const listAll = async (): Promise<Map<string, string>> => {
    const items = await use().cluster.list<Service>(SERVICES);
    return new Map(
      items.flatMap(({ metadata, status }) => {
        const ip = status?.loadBalancer?.ingress?.[0]?.ip;
        return ip === undefined ? [] : [[metadata.name, ip] as const];
      }),
    );
  };
  const untilServed = (name: string): Promise<string> =>
    waitUntil(`an address of ${name}`, async () => (await listAll()).get(name));
  const untilSaid = (name: string, reason: string): Promise<KubeEvent> =>
    waitUntil(`the Event ${reason} of ${name}`, async () => {
      const selector = `involvedObject.name=${name},reason=${reason}`;
      const path = `/api/v1/namespaces/default/events?${new URLSearchParams({ fieldSelector: selector }).toString()}`;
      return (await use().cluster.list<KubeEvent>(path))[0];
    });

  beforeAll(async () => {
    started = await ClusterRig.start();
    const needs = needAll(LEASE);
    const controllersChosen = new Set([...needs.controllers, "service"]);
    await use().allow(listRights({ ...needs, controllers: controllersChosen }));
    await configure(MAIN, TINY);
    await use().register("node-1", { taints: [], status: { conditions: [READY] } });
    await start();
  }, 120_000);
  afterAll(async () => {
    await killAll(controllers.map(({ landfall }) => landfall));
    await started?.stop();
  });

  test("a Service gets an address and a record, no finalizer, and then no more writes", async () => {
    await create("first");
    const address = await untilServed("first");
    expect(address).toStartWith("10.20.0.");
    const { metadata } = await read("first");
    expect(metadata.annotations?.["landfall.dev/load-balancer"]).toBe(
      `{"v":1,"addresses":["${address}"]}`,
    );
    expect(metadata.finalizers ?? []).toEqual([]);
    await untilSaid("first", "EnsuredLoadBalancer");
    await Bun.sleep(3_000);
    const requests = await use().cluster.listRequests();
    const patches = requests.filter(
      ({ username, verb, resource }) =>
        username === USERNAME && verb === "patch" && resource.startsWith("services"),
    );
    expect(patches).toHaveLength(1);
  }, 60_000);

  test("two Services that ask for the only address: one waits, and gets it when the other goes", async () => {
    const annotations = { "landfall.dev/address-pool": "tiny" };
    await create("has-it", annotations);
    expect(await untilServed("has-it")).toBe("192.0.2.7");
    await create("waits", annotations);
    const { message } = await untilSaid("waits", "AddressPoolExhausted");
    expect(message).toContain("every IPv4 address of the pool tiny is in use");
    await use().cluster.remove(`${SERVICES}/has-it`);
    expect(await untilServed("waits")).toBe("192.0.2.7");
  }, 60_000);

  test("the leader is killed while it gives addresses: none is given twice, none is lost", async () => {
    await start();
    const names = Array.from({ length: MANY }, (_, at) => `many-${at}`);
    await Promise.all(names.map((name) => create(name)));
    await waitUntil("some addresses", async () => (await listAll()).size >= SOME || undefined);
    controllers[0]?.landfall.signal("SIGKILL");
    const before = await listAll();
    const after = await waitUntil("all addresses", async () => {
      const all = await listAll();
      return names.every((name) => all.has(name)) ? all : undefined;
    });
    for (const [name, address] of before) expect([name, after.get(name)]).toEqual([name, address]);
    expect(new Set(after.values()).size).toBe(after.size);
  }, 90_000);

  test("a pool that goes takes no address away, and an Event says so", async () => {
    const before = await listAll();
    await configure("{ name: other, addresses: [198.51.100.7] }");
    const { message } = await untilSaid("first", "AddressOutsidePools");
    expect(message).toContain("is in no address pool");
    await create("late");
    expect(await untilServed("late")).toBe("198.51.100.7");
    for (const [name, address] of before) expect((await listAll()).get(name)).toBe(address);
  }, 90_000);

  test("the manifests of the guide are accepted, and a status as kube-vip writes it stays", async () => {
    const blocks = listCodeBlocks(await readSource("docs/guides/address-pools.md"), "yaml");
    const documents = blocks.flatMap((text) => parseAllDocuments(text).map((one) => one.toJS()));
    const settings = documents.find((one: object) => "loadBalancers" in one);
    await use().configure([`loadBalancers: ${JSON.stringify(settings?.loadBalancers)}`]);
    for (const name of ["web", "ingress"]) {
      await use().cluster.create("/api/v1/namespaces", { metadata: { name } });
    }
    const paths: Readonly<Record<string, string>> = {
      ClusterRole: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
      ClusterRoleBinding: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    };
    const services: string[] = [];
    for (const one of documents) {
      const { namespace, name } = one.metadata ?? {};
      const path = paths[one.kind] ?? `/api/v1/namespaces/${namespace}/services`;
      if (one.kind !== "Service" && paths[one.kind] === undefined) continue;
      await use().cluster.create(path, one);
      if (one.kind === "Service") services.push(`/api/v1/namespaces/${namespace}/services/${name}`);
    }
    expect(services).toHaveLength(4);
    const readAt = async (path: string): Promise<Service> =>
      await use().cluster.read<Service>(path);
    for (const path of services) {
      const ip = await waitUntil(`an address of ${path}`, async () => {
        const { metadata, status } = await readAt(path);
        const address = status?.loadBalancer?.ingress?.[0]?.ip;
        return metadata.annotations?.["kube-vip.io/loadbalancerIPs"] === address
          ? address
          : undefined;
      });
      const ingress = [{ ip, ports: [{ port: 443, protocol: "TCP" }] }];
      await use().cluster.patch(`${path}/status`, { status: { loadBalancer: { ingress } } });
    }
    await Bun.sleep(2_000);
    for (const path of services) {
      const { status } = await readAt(path);
      expect(status?.loadBalancer?.ingress?.[0]).toHaveProperty("ports");
    }
  }, 90_000);
});
