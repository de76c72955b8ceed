/**
 * IPPools on a real API server: several writers, and the largest pool that there may be.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AddressRequest } from "../../../lib/controllers/vino/addresses/ipam.ts";
import type { GivenAddresses } from "../../../lib/controllers/vino/addresses/ip_pools.ts";
import { IP_POOL_KIND } from "../../../lib/controllers/vino/resource/crd.ts";
import { IP_POOLS, type IpPool } from "../../../lib/controllers/vino/resource/ip_pool.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { loadCredentials } from "../../../lib/kube/credentials/mod.ts";
import { toPath } from "../../../lib/kube/kinds/resource.ts";
import { readJson } from "../../support/kube/contract/client.ts";
import { CRDS_PATH } from "../../support/kube/crd.ts";
import { until } from "../../support/nodes/rig.ts";
import { type Cluster, skipsCluster, startCluster } from "../../support/process/cluster.ts";
import {
  MANAGEMENT,
  STORAGE,
  toFacts,
  toNames,
  toRequest,
} from "../../support/vino/address_requests.ts";
import { POOL_NAMESPACE, type PoolProcess, startPoolProcess } from "../../support/vino/pool_rig.ts";

const WAIT_MS = 30_000;
const { signal } = new AbortController();

describe.skipIf(skipsCluster())("IPPools on a real API server", () => {
  let cluster: Cluster;
  const processes: PoolProcess[] = [];

  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.create(CRDS_PATH, IP_POOL_KIND.crd);
    const list = toPath(IP_POOLS, { namespace: POOL_NAMESPACE });
    await until("the kind is served", async () => (await cluster.adminFetch(list)).ok, WAIT_MS);
    const credentials = await loadCredentials({
      kubeconfig: cluster.adminKubeconfigPath,
      env: {},
      clock: systemClock,
    });
    for (let at = 0; at < 3; at += 1) processes.push(await startPoolProcess(credentials));
  }, 120_000);
  afterAll(async () => {
    for (const one of processes) await one[Symbol.asyncDispose]();
    await cluster?.stop();
  });

  function allocate(request: AddressRequest, at = 0): Promise<GivenAddresses> {
    const one = processes[at];
    if (one === undefined) throw new Error("there is no such process");
    return one.pools.allocate(request, toFacts(request), signal);
  }

  async function read(name: string): Promise<IpPool> {
    const path = toPath(IP_POOLS, { namespace: POOL_NAMESPACE, name });
    return await readJson<IpPool>(await cluster.adminFetch(path));
  }

  // Before the other tests: they need the namespace.
  test("a namespace that does not exist is said", async () => {
    const refused = allocate(toRequest([MANAGEMENT], toNames(1)));
    await expect(refused).rejects.toThrow(`namespace ${POOL_NAMESPACE} does not exist, and`);
    await cluster.create("/api/v1/namespaces", { metadata: { name: POOL_NAMESPACE } });
  });

  test("three processes that write at the same time give no address twice, and lose none", async () => {
    const wide = { ...MANAGEMENT, staticAllocationStop: "192.168.15.250" };
    for (let round = 0; round < 5; round += 1) {
      const given = await Promise.all(
        processes.map((_, at) =>
          allocate(toRequest([wide, STORAGE], toNames(20, 1000 * at + 20 * round)), at),
        ),
      );
      expect(given.map(({ problems }) => problems.size)).toEqual([0, 0, 0]);
    }
    for (const name of ["ippool-192-168-0-0-20", "ippool-2001-db8-0-1---64"]) {
      const { spec } = await read(name);
      const stored = spec?.allocatedIPs ?? [];
      expect(stored).toHaveLength(3 * 5 * 20);
      for (const one of ["ip", "mac", "allocatedTo"] as const) {
        expect(new Set(stored.map((entry) => entry[one])).size).toBe(stored.length);
      }
    }
  });

  test.each([
    ["8,192 addresses", "a", "metal", 8192],
    ["the longest names", "r".repeat(32), "n".repeat(63), undefined],
  ] as const)("takes a pool with %s, and gives no more", async (_, role, namespace, count) => {
    const subnet = role === "a" ? "2001:db8:0:a::/64" : "2001:db8:0:b::/64";
    const start = subnet.replace("::/64", ":8888:8888:8888:1000");
    const stop = subnet.replace("::/64", ":8888:8888:8888:ffff");
    const network = {
      name: "wide",
      subnet,
      staticAllocationStart: start,
      staticAllocationStop: stop,
    };
    const names = Array.from({ length: 8300 }, (__, at) => `vino-1b4e28ba-${role}-${at}`);
    const request = toRequest([network], names);
    const owner = { ...request.owner, namespace, name: namespace };
    const machines = names.map((name) => ({
      name,
      interfaces: [{ name: namespace, network: "wide" }],
    }));
    const given = await allocate({ ...request, owner, machines });
    const { spec } = await read(`ippool-${subnet.replaceAll(/[:/]/g, "-")}`);
    const stored = spec?.allocatedIPs ?? [];
    expect(given.machines.size).toBe(stored.length);
    if (count !== undefined) expect(stored).toHaveLength(count);
    expect([...given.problems.values()][0]?.message).toContain("as an IPPool can list");
    // A change of a large pool is a large request, too.
    const [gone = ""] = names;
    const released = await processes[0]?.pools.release(({ machine }) => machine === gone, signal);
    expect(released).toHaveLength(1);
  });
});
