import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  type GivenAddresses,
  explainRefusal,
  IpPoolError,
  listPoolUsage,
} from "../../../../lib/controllers/vino/addresses/ip_pools.ts";
import type { AddressRequest } from "../../../../lib/controllers/vino/addresses/ipam.ts";
import type { IpPool, IpPoolSpec } from "../../../../lib/controllers/vino/resource/ip_pool.ts";
import { isTimeout, systemClock } from "../../../../lib/core/clock.ts";
import { isKubeError, KubeError } from "../../../../lib/kube/api/errors.ts";
import { until } from "../../../support/nodes/rig.ts";
import {
  MANAGEMENT,
  STORAGE,
  toFacts,
  toNames,
  toRequest,
} from "../../../support/vino/address_requests.ts";
import {
  POOL_NAMESPACE,
  type PoolProcess,
  type PoolRig,
  startPools,
} from "../../../support/vino/pool_rig.ts";
import {
  PoolDraft,
  PoolIndexes,
  toIndex,
} from "../../../../lib/controllers/vino/addresses/pools/pool_set.ts";
import { toSpan } from "../../../../lib/controllers/vino/addresses/subnets.ts";
import { longTest } from "../../../support/long_tests.ts";

const { signal } = new AbortController();
const MANAGEMENT_POOL = "ippool-192-168-0-0-20";
const STORAGE_POOL = "ippool-2001-db8-0-1---64";

let rig: PoolRig;
let process: PoolProcess;

function allocate(
  request: AddressRequest,
  { pools }: PoolProcess = process,
): Promise<GivenAddresses> {
  return pools.allocate(request, toFacts(request), signal);
}

function listIps({ machines }: GivenAddresses): (string | undefined)[] {
  return [...machines.values()].flatMap((all) => all.map(({ ip }) => ip));
}

/** Waits until the watch has reported everything. */
function settle({ store }: PoolProcess = process): Promise<void> {
  const toVersions = (list: Iterable<{ metadata: { resourceVersion?: unknown } }>): string =>
    Array.from(list, ({ metadata }) => String(metadata.resourceVersion))
      .toSorted()
      .join();
  return until("the watch shows all", () => toVersions(store.values()) === toVersions(rig.list()));
}

function readAllocations(name: string): NonNullable<IpPoolSpec["allocatedIPs"]> {
  const spec = rig.spec(name) as IpPoolSpec | undefined;
  return spec?.allocatedIPs ?? [];
}

describe("ip pools", () => {
  beforeEach(async () => {
    rig = await startPools();
    process = await rig.start();
    rig.takeRequests();
  });
  afterEach(async () => {
    await process[Symbol.asyncDispose]();
    await rig[Symbol.asyncDispose]();
  });

  test("allocate() writes nothing before it knows the MAC addresses of the cloud", async () => {
    const request = toRequest([MANAGEMENT], toNames(1));
    const { seen: _seen, ...facts } = toFacts(request);
    const given = await process.pools.allocate(request, facts, signal);
    expect(given.needsMacs).toBe(true);
    expect(rig.takeRequests().filter((one) => one !== "list")).toEqual([]);
    await allocate(request);
    expect(readAllocations(MANAGEMENT_POOL)).toHaveLength(1);
  });

  test("allocate() says that the namespace of all pools does not exist, and what to do", async () => {
    rig.kubernetes.objects.delete("namespaces", { name: POOL_NAMESPACE });
    const refused = allocate(toRequest([MANAGEMENT], toNames(1)));
    await expect(refused).rejects.toThrow(
      new IpPoolError(
        "namespace landfall-system does not exist, and --ip-pool-namespace says that all IPPools are there. " +
          "Correct the flag, or create the namespace",
      ),
    );
  });

  test.each([403, 404, 422])(
    "allocate() says that Kubernetes refuses pools by %d",
    async (status) => {
      rig.kubernetes.faults.refuse({ status, verb: "create", resource: "ippools" });
      const refused = allocate(toRequest([MANAGEMENT], toNames(1)));
      await expect(refused).rejects.toBeInstanceOf(IpPoolError);
      await expect(refused).rejects.toThrow(
        /refuses the IPPools in namespace landfall-system: Cannot create/,
      );
    },
  );

  test("allocate() makes the pools of a Vino in one namespace, with one write for each", async () => {
    const given = await allocate(toRequest([MANAGEMENT, STORAGE], toNames(15)));
    expect(given.problems.size).toBe(0);
    expect(rig.takeRequests()).toEqual(["create", "create"]);
    expect(
      rig.list().map(({ metadata }) => `${String(metadata["namespace"])}/${metadata.name}`),
    ).toEqual([`${POOL_NAMESPACE}/${MANAGEMENT_POOL}`, `${POOL_NAMESPACE}/${STORAGE_POOL}`]);
    expect(rig.spec(MANAGEMENT_POOL)).toMatchObject({
      subnet: "192.168.0.0/20",
      macPrefix: "52:54:00:06:00:00",
    });
  });

  test("allocate() asks for nothing while nothing changes, also after the watch showed its own writes", async () => {
    const request = toRequest([MANAGEMENT, STORAGE], toNames(3));
    const first = await allocate(request);
    await allocate(toRequest([MANAGEMENT, STORAGE], toNames(5)));
    await settle();
    rig.takeRequests();
    expect((await allocate(request)).machines).toEqual(first.machines);
    expect(rig.takeRequests()).toEqual([]);
  });

  test("allocate() gives the same addresses after a restart", async () => {
    const request = toRequest([MANAGEMENT, STORAGE], toNames(3));
    const first = await allocate(request);
    await using restarted = await rig.start();
    rig.takeRequests();
    expect((await allocate(request, restarted)).machines).toEqual(first.machines);
    expect(rig.takeRequests()).toEqual([]);
  });

  test("allocate() adds to a pool of the original operator, and keeps what it does not know", async () => {
    const old = {
      subnet: "192.168.2.0/20",
      allocatedIPs: [{ ip: "192.168.2.10", mac: "52:54:00:06:00:00", allocatedTo: "node01" }],
      nextMAC: "52:54:00:06:00:01",
    };
    rig.create("ippool-192-168-2-0-20", old);
    rig.edit("ippool-192-168-2-0-20", {
      spec: { later: { version: 2 } },
      metadata: { labels: { a: "b" } },
    });
    await settle();
    const given = await allocate(toRequest([MANAGEMENT], toNames(1)));
    expect(listIps(given)).toEqual(["192.168.2.11"]);
    expect(rig.takeRequests()).toEqual(["patch ippool-192-168-2-0-20"]);
    expect(rig.list()).toMatchObject([{ metadata: { labels: { a: "b" } } }]);
    expect(rig.spec("ippool-192-168-2-0-20")).toMatchObject({
      ...old,
      later: { version: 2 },
      allocatedIPs: [...old.allocatedIPs, { ip: "192.168.2.11" }],
    });
  });

  test("allocate() plans again when another program was quicker", async () => {
    await allocate(toRequest([MANAGEMENT], toNames(1)));
    const [first] = readAllocations(MANAGEMENT_POOL);
    const taken = { ip: "192.168.2.11", mac: "52:54:00:06:00:0b", allocatedTo: "other" };
    rig.takeRequests();
    rig.edit(MANAGEMENT_POOL, { spec: { allocatedIPs: [{ ...first }, taken] } });
    const given = await allocate(toRequest([MANAGEMENT], toNames(2)));
    expect(listIps(given)).toEqual(["192.168.2.10", "192.168.2.12"]);
    expect(readAllocations(MANAGEMENT_POOL).map(({ ip }) => ip)).toEqual([
      "192.168.2.10",
      "192.168.2.11",
      "192.168.2.12",
    ]);
  });

  test("allocate() reads the list again after a conflict that the watch has not shown", async () => {
    await allocate(toRequest([MANAGEMENT], toNames(1)));
    await settle();
    rig.kubernetes.faults.silentWatches = true;
    const taken = { ip: "192.168.2.11", mac: "52:54:00:06:00:0b", allocatedTo: "other" };
    const allocatedIPs = [...readAllocations(MANAGEMENT_POOL), taken].map((one) => ({ ...one }));
    rig.edit(MANAGEMENT_POOL, { spec: { allocatedIPs } });
    rig.takeRequests();
    const given = await allocate(toRequest([MANAGEMENT], toNames(2)));
    expect(listIps(given)).toEqual(["192.168.2.10", "192.168.2.12"]);
    const patch = `patch ${MANAGEMENT_POOL}`;
    // The newest version, then the pools of this version.
    expect(rig.takeRequests()).toEqual([patch, "list", "list", patch]);
  });

  test("allocate() makes a pool again that a user deleted, and keeps what machines have", async () => {
    const request = toRequest([MANAGEMENT], toNames(2));
    await allocate(request);
    await settle();
    rig.remove(MANAGEMENT_POOL);
    await settle();
    const [, second = ""] = toNames(2);
    const known = new Map([
      [`metal/tenant/${second}/eth0`, { mac: "52:54:00:06:00:09", ip: "192.168.2.11" }],
    ]);
    const one = toRequest([MANAGEMENT], [second]);
    const given = await process.pools.allocate(one, { ...toFacts(request), known }, signal);
    expect(listIps(given)).toEqual(["192.168.2.11"]);
    expect(given.restored).toEqual([
      { pool: MANAGEMENT_POOL, ip: "192.168.2.11", isPoolNew: true },
    ]);
    expect(readAllocations(MANAGEMENT_POOL)).toHaveLength(1);
    const again = await process.pools.allocate(one, { ...toFacts(request), known }, signal);
    expect(again.restored).toEqual([]);
  });

  test.each([
    { status: 409, verb: "patch" },
    { status: 404, verb: "patch" },
  ])("allocate() tries again after an answer $status to a $verb", async (rule) => {
    await allocate(toRequest([MANAGEMENT], toNames(1)));
    rig.takeRequests();
    rig.kubernetes.faults.refuse({ ...rule, resource: "ippools", times: 2 });
    expect(listIps(await allocate(toRequest([MANAGEMENT], toNames(2))))).toHaveLength(2);
    expect(rig.takeRequests().filter((one) => one.startsWith("patch"))).toHaveLength(3);
  });

  test("allocate() gives up when other programs change pools all the time", async () => {
    await allocate(toRequest([MANAGEMENT], toNames(1)));
    rig.kubernetes.faults.refuse({ status: 409, verb: "patch", resource: "ippools" });
    const error: unknown = await allocate(toRequest([MANAGEMENT], toNames(2))).catch(
      (thrown: unknown) => thrown,
    );
    expect(isKubeError(error, "conflict")).toBe(true);
  });

  test.each([
    { status: 403, verb: "create" },
    { status: 404, verb: "create" },
    { status: 500, verb: "create" },
  ])(
    "allocate() gives nothing after an answer $status to a $verb, and everything later",
    async (rule) => {
      const request = toRequest([MANAGEMENT], toNames(1));
      rig.kubernetes.faults.refuse({ ...rule, resource: "ippools", times: 1 });
      expect(await allocate(request).catch((error: unknown) => error)).toBeInstanceOf(Error);
      expect(rig.list()).toEqual([]);
      expect(listIps(await allocate(request))).toEqual(["192.168.2.10"]);
    },
  );

  test("allocate() gives nothing when only a part of the pools could be written, and the same later", async () => {
    const request = toRequest([MANAGEMENT, STORAGE], toNames(2));
    await allocate(toRequest([STORAGE], ["vino-1b4e28ba-a-0"]));
    rig.kubernetes.faults.refuse({ status: 500, verb: "patch", resource: "ippools", times: 1 });
    expect(await allocate(request).catch((error: unknown) => error)).toBeInstanceOf(Error);
    const [before] = [readAllocations(MANAGEMENT_POOL)];
    expect(before).toHaveLength(2);
    const given = await allocate(request);
    expect(listIps(given)).toEqual([
      "192.168.2.10",
      "2001:db8:0:1::2",
      "192.168.2.11",
      "2001:db8:0:1::3",
    ]);
    expect(readAllocations(MANAGEMENT_POOL)).toEqual(before);
  });

  test("allocate() never writes a pool that cannot be read", async () => {
    const mac = "52:54:00:06:00:00";
    const twice = ["a", "b"].map((allocatedTo) => ({ ip: "192.168.2.10", mac, allocatedTo }));
    rig.create(MANAGEMENT_POOL, { subnet: "192.168.0.0/20", allocatedIPs: twice });
    const given = await allocate(toRequest([MANAGEMENT], toNames(1)));
    expect([...given.problems.values()]).toMatchObject([
      {
        message: expect.stringContaining(
          "spec: allocatedIPs: 192.168.2.10 must not have two owners",
        ),
      },
    ]);
    expect(readAllocations(MANAGEMENT_POOL)).toEqual(twice);
  });

  test("allocate() does not see pools of other namespaces", async () => {
    const { objects } = rig.kubernetes;
    objects.create("namespaces", { metadata: { name: "elsewhere" } });
    const spec = {
      subnet: "192.168.0.0/16",
      allocatedIPs: [{ ip: "192.168.2.10", mac: "02:00:00:00:00:01", allocatedTo: "a" }],
    };
    objects.create("ippools", { metadata: { name: "other", namespace: "elsewhere" }, spec });
    expect(listIps(await allocate(toRequest([MANAGEMENT], toNames(1))))).toEqual(["192.168.2.10"]);
  });

  test("release() takes back only what is proven gone, in one write", async () => {
    const request = toRequest([MANAGEMENT, STORAGE], toNames(4));
    await allocate(request);
    rig.takeRequests();
    const [gone = "", ...kept] = toNames(4);
    const released = await process.pools.release(({ machine }) => machine === gone, signal);
    expect(released.map(({ interface: name }) => name)).toEqual(["eth0", "eth1"]);
    expect(rig.takeRequests()).toEqual([`patch ${MANAGEMENT_POOL}`, `patch ${STORAGE_POOL}`]);
    const owners = await process.pools.listOwners(signal);
    expect(new Set(owners.map(({ machine }) => machine))).toEqual(new Set(kept));
    expect(await process.pools.release(({ machine }) => machine === gone, signal)).toEqual([]);
    expect(rig.takeRequests()).toEqual([]);
    expect(listIps(await allocate(toRequest([MANAGEMENT], ["vino-1b4e28ba-a-0"])))).toEqual([
      "192.168.2.10",
    ]);
  });

  test("release() never asks about owners that another program wrote", async () => {
    const allocatedIPs = [{ ip: "192.168.2.10", mac: "02:00:00:00:00:01", allocatedTo: "node01" }];
    rig.create(MANAGEMENT_POOL, { subnet: "192.168.0.0/20", allocatedIPs });
    expect(await process.pools.release(() => true, signal)).toEqual([]);
    expect(readAllocations(MANAGEMENT_POOL)).toEqual(allocatedIPs);
  });

  test("allocate() ends at its deadline", async () => {
    await using late = await rig.start({ ...systemClock, sleep: () => Promise.resolve() });
    rig.kubernetes.faults.delayMs = 10_000;
    const error: unknown = await allocate(toRequest([MANAGEMENT], toNames(1)), late).catch(
      (thrown: unknown) => thrown,
    );
    expect(isTimeout(error)).toBe(true);
  });

  test("allocate() ends when its signal aborts", async () => {
    const stopping = new AbortController();
    rig.kubernetes.faults.delayMs = 10_000;
    const request = toRequest([MANAGEMENT], toNames(1));
    const ended = process.pools
      .allocate(request, toFacts(request), stopping.signal)
      .catch((error: unknown) => error);
    stopping.abort(new Error("stopped"));
    expect(await ended).toEqual(new Error("stopped"));
  });

  longTest(
    "processes that write at the same time never give an address twice, and lose none",
    async () => {
      await using second = await rig.start();
      await using third = await rig.start();
      const processes = [process, second, third];
      const wide = { ...MANAGEMENT, staticAllocationStop: "192.168.3.200" };
      const rounds = 4;
      for (let round = 0; round < rounds; round += 1) {
        const all = processes.flatMap((one, at) =>
          [0, 1].map(async (half) => {
            const machines = toNames(5, 1000 * at + 100 * round + 10 * half);
            const request = toRequest([wide, STORAGE], machines);
            return await allocate(request, one);
          }),
        );
        const given = await Promise.all(all);
        expect(given.flatMap(listIps)).toHaveLength(6 * 5 * 2);
      }
      const count = processes.length * 2 * rounds * 5;
      for (const name of [MANAGEMENT_POOL, STORAGE_POOL]) {
        const stored = readAllocations(name);
        expect(stored).toHaveLength(count);
        expect(new Set(stored.map(({ ip }) => ip)).size).toBe(count);
        expect(new Set(stored.map(({ mac }) => mac)).size).toBe(count);
        expect(new Set(stored.map(({ allocatedTo }) => allocatedTo)).size).toBe(count);
      }
    },
  );
});

const SPEC = { subnet: "192.0.2.0/24" };
const SPAN = toSpan({ start: "192.0.2.1", stop: "192.0.2.3" }) ?? { first: 0n, last: 0n };

function take(draft: PoolDraft, owner: string): string | undefined {
  return draft.take(SPAN, { owner, mac: "02:00:00:00:00:01" });
}

test("PoolDraft puts back nothing that was there before", () => {
  const allocatedIPs = [{ ip: "192.0.2.1", mac: "02:00:00:00:00:01", allocatedTo: "old" }];
  const draft = new PoolDraft(toIndex({ ...SPEC, allocatedIPs }), new Map());
  draft.putBack("192.0.2.1");
  expect(take(draft, "a")).toBe("192.0.2.2");
});

test("PoolDraft has no room for more than etcd accepts", () => {
  const allocatedIPs = Array.from({ length: 1000 }, (_, at) => ({
    ip: `192.0.2.${at & 255}`,
    mac: "02:00:00:00:00:01",
    allocatedTo: `${at}`.padEnd(1100),
  }));
  const draft = new PoolDraft(toIndex({ ...SPEC, allocatedIPs }), new Map());
  expect(draft.hasRoomFor("a")).toBe(false);
  const smaller = toIndex({ ...SPEC, allocatedIPs: allocatedIPs.slice(1) });
  expect(new PoolDraft(smaller, new Map()).hasRoomFor("a")).toBe(true);
});

test("PoolDraft looks at each address in use once, however many it gives", () => {
  const count = 8000;
  const allocatedIPs = Array.from({ length: count / 2 }, (_, at) => ({
    ip: `2001:db8::${(2 * at).toString(16)}`,
    mac: "02:00:00:00:00:01",
    allocatedTo: `${at}`,
  }));
  const half = { start: "2001:db8::8000:0", stop: "2001:db8:0:0:7fff::", allocatedTo: "x" };
  const index = toIndex({ subnet: "2001:db8::/64", allocatedIPs, allocatedRanges: [half] });
  let looks = 0;
  const has = (address: bigint): boolean => {
    looks += 1;
    return index.taken.has(address);
  };
  const taken: ReadonlySet<bigint> = Object.assign(new Set(index.taken), { has });
  const draft = new PoolDraft({ ...index, taken }, new Map());
  const last = (1n << 64n) - 1n + (index.subnet?.block.first ?? 0n);
  const span = { first: index.subnet?.block.first ?? 0n, last };
  const mac = "02:00:00:00:00:02";
  for (let at = 0; at < count; at += 1) draft.take(span, { owner: `y${at}`, mac });
  // The last ones are beyond all that is in use.
  expect(looks).toBeLessThan(2.5 * count);
  const far = { first: span.first + 0x8000_0000n, last };
  looks = 0;
  expect(draft.take(far, { owner: "z", mac })).toBe("2001:db8::7fff:0:0:1");
  expect(looks).toBe(1);
});

const MAC = "02:00:00:00:00:01";

function toPool(name: string, spec: IpPoolSpec): IpPool {
  return { metadata: { name, namespace: "landfall" }, spec };
}

test("listPoolUsage() counts addresses that are given out, and those of all ranges once", () => {
  const ranges = [
    { start: "192.0.2.10", stop: "192.0.2.19" },
    { start: "192.0.2.15", stop: "192.0.2.24" },
  ];
  const allocatedIPs = ["192.0.2.10", "192.0.2.99"].map((ip) => ({
    ip,
    mac: MAC,
    allocatedTo: ip,
  }));
  expect(listPoolUsage([toPool("a", { subnet: "192.0.2.0/24", ranges, allocatedIPs })])).toEqual([
    { pool: "landfall/a", family: "IPv4", used: 2, total: 16 },
  ]);
});

test("listPoolUsage() is in order of names, and leaves out what it cannot read", () => {
  const ranges = [{ start: "2001:db8::", stop: "2001:db8::ffff:ffff:ffff:ffff" }];
  const pools = [
    toPool("b", { subnet: "2001:db8::/64", ranges }),
    toPool("a", { subnet: "192.0.2.0/24" }),
    toPool("c", { subnet: "none" }),
    { metadata: { name: "d" } },
  ];
  expect(listPoolUsage(pools)).toEqual([
    { pool: "landfall/a", family: "IPv4", used: 0, total: 0 },
    { pool: "landfall/b", family: "IPv6", used: 0, total: 2 ** 64 },
  ]);
});

const HEAD = "the API server refuses the IPPools in namespace ipam: ";
const ADVICE = ". Run landfall check, which names what is missing";

test.each<[string, KubeError, string]>([
  [
    "a namespace that does not exist",
    new KubeError("notFound", 'Cannot create "x": 404 NotFound: namespaces "ipam" not found'),
    "namespace ipam does not exist, and --ip-pool-namespace says that all IPPools are there. " +
      "Correct the flag, or create the namespace",
  ],
  ["a kind that does not exist", new KubeError("notFound", "404"), `${HEAD}404${ADVICE}`],
  ["a missing right", new KubeError("forbidden", "403"), `${HEAD}403${ADVICE}`],
  ["a webhook", new KubeError("invalid", "422"), `${HEAD}422`],
])("explainRefusal() says what to do about %s", (_what, error, message) => {
  const explained = explainRefusal(error, "ipam");
  expect(explained).toBeInstanceOf(IpPoolError);
  expect(explained).toMatchObject({ message, cause: error });
});

test("explainRefusal() leaves alone what may pass by itself", () => {
  for (const kind of ["conflict", "throttled", "unavailable", "unauthorized"] as const) {
    const error = new KubeError(kind, "later");
    expect(explainRefusal(error, "ipam")).toBe(error);
  }
  const bug = new TypeError("a bug");
  expect(explainRefusal(bug, "ipam")).toBe(bug);
});

const MIXED_SPEC = {
  subnet: "192.168.2.0/20",
  allocatedIPs: [
    { ip: "::ffff:192.168.2.10", mac: "52:54:00:06:00:0A", allocatedTo: "node01" },
    { ip: "192.168.2.11", mac: "52:54:00:06:00:0b", allocatedTo: "metal/a/vino-1-w-0/eth0" },
  ],
  allocatedRanges: [
    { allocatedTo: "b", start: "192.168.4.8", stop: "192.168.4.15" },
    { allocatedTo: "a", start: "192.168.4.0", stop: "192.168.4.7" },
  ],
};

test("PoolIndexes reads a state once, and of the next one only what changed", () => {
  const indexes = new PoolIndexes();
  const first = indexes.read(new Map([["a", MIXED_SPEC]])).get("a");
  expect(indexes.read(new Map([["a", MIXED_SPEC]])).get("a")).toBe(first);
  const [kept, changed] = MIXED_SPEC.allocatedIPs;
  const allocatedIPs = [{ ...kept }, { ...changed, mac: "52:54:00:06:00:0c" }].flatMap((one) =>
    "ip" in one && one.ip !== undefined
      ? [{ ip: one.ip, mac: one.mac ?? "", allocatedTo: one.allocatedTo ?? "" }]
      : [],
  );
  const next = indexes.read(new Map([["a", { ...MIXED_SPEC, allocatedIPs }]])).get("a");
  expect(next?.byOwner.get("node01")).toBe(first?.byOwner.get("node01"));
  expect([...(next?.macs ?? [])]).toEqual(["52:54:00:06:00:0a", "52:54:00:06:00:0c"]);
});
