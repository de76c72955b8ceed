import { expect, test } from "bun:test";
import { PoolCache } from "../../../../lib/controllers/vino/addresses/pools/pool_cache.ts";
import type { IpPool, IpPoolSpec } from "../../../../lib/controllers/vino/resource/ip_pool.ts";
import type { ListPage } from "../../../../lib/kube/api/client.ts";
import type { StoreListener } from "../../../../lib/kube/cache/store.ts";
import { ScriptedKubeClient } from "../../../support/kube/scripted_kube_client.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { PoolDraft } from "../../../../lib/controllers/vino/addresses/pools/pool_draft.ts";
import {
  PoolIndexes,
  toIndex,
} from "../../../../lib/controllers/vino/addresses/pools/pool_index.ts";
import { toSpan } from "../../../../lib/controllers/vino/addresses/subnets.ts";
import { listPoolUsage } from "../../../../lib/controllers/vino/addresses/pools/usage.ts";
import {
  explainRefusal,
  IpPoolError,
} from "../../../../lib/controllers/vino/addresses/pools/pool_error.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";

const { signal } = new AbortController();

function pool(resourceVersion: string, namespace = "metal"): IpPool {
  return {
    metadata: { name: "a", namespace, uid: "u", resourceVersion },
    spec: { subnet: "192.0.2.0/24" },
  };
}

/** A memory, and how often it read the list. */
class Rig extends ScriptedKubeClient {
  lists = 0;
  stored: readonly IpPool[] = [pool("1")];
  listener: StoreListener<IpPool> | undefined;
  readonly memory: PoolCache;

  constructor() {
    super(new ManualClock());
    const store = {
      subscribe: (listener: StoreListener<IpPool>) => {
        this.listener = listener;
        return () => (this.listener = undefined);
      },
    };
    this.memory = new PoolCache({ client: this, namespace: "metal", store });
  }

  override list<T>(): Promise<ListPage<T>> {
    this.lists += 1;
    const items = structuredClone(this.stored) as unknown as readonly T[];
    return Promise.resolve({ items, resourceVersion: "9" });
  }

  async countLists(): Promise<number> {
    await this.memory.refresh(signal);
    const { lists } = this;
    this.lists = 0;
    return lists;
  }
}

test("PoolCache reads the list once, and again only when the watch shows something else", async () => {
  const rig = new Rig();
  expect([await rig.countLists(), await rig.countLists()]).toEqual([1, 0]);
  rig.listener?.("metal/a", undefined, pool("1"));
  expect(await rig.countLists()).toBe(0);
  rig.listener?.("metal/a", pool("1"), pool("2"));
  rig.stored = [pool("2")];
  expect([await rig.countLists(), rig.memory.findVersion("a")]).toEqual([1, "2"]);
  rig.listener?.("metal/a", pool("2"), undefined);
  rig.stored = [];
  expect([await rig.countLists(), rig.memory.findVersion("a")]).toEqual([1, undefined]);
  rig.listener?.("other/a", undefined, pool("3", "other"));
  expect(await rig.countLists()).toBe(0);
});

test("PoolCache knows its own writes, whether the watch shows them before or after the answer", async () => {
  const rig = new Rig();
  await rig.countLists();
  rig.listener?.("metal/a", pool("1"), pool("2"));
  rig.memory.note(pool("2"));
  rig.memory.note(pool("3"));
  rig.listener?.("metal/a", pool("1"), pool("2"));
  expect(await rig.countLists()).toBe(0);
  rig.listener?.("metal/a", pool("2"), pool("3"));
  expect([await rig.countLists(), rig.memory.findVersion("a")]).toEqual([0, "3"]);
});

test("PoolCache hears of another change between its own write and the answer", async () => {
  const rig = new Rig();
  await rig.countLists();
  rig.listener?.("metal/a", pool("1"), pool("2"));
  rig.listener?.("metal/a", pool("2"), pool("3"));
  rig.memory.note(pool("2"));
  expect(await rig.countLists()).toBe(1);
});

test("PoolCache reads the list again after a doubt, and after a list that failed", async () => {
  const rig = new Rig();
  await rig.countLists();
  rig.memory.doubt();
  expect(await rig.countLists()).toBe(1);
  rig.memory.doubt();
  const { list } = rig;
  rig.list = () => Promise.reject(new Error("no answer"));
  expect(await rig.memory.refresh(signal).catch((error: unknown) => error)).toEqual(
    new Error("no answer"),
  );
  rig.list = list;
  expect(await rig.countLists()).toBe(1);
});

test("PoolCache gives the same spec as long as a pool has the same version", async () => {
  const rig = new Rig();
  await rig.countLists();
  const spec = rig.memory.pools.get("a");
  rig.memory.doubt();
  await rig.countLists();
  expect(rig.memory.pools.get("a")).toBe(spec);
});

test("PoolCache says which pools cannot be read, and why", async () => {
  const rig = new Rig();
  rig.stored = [{ ...pool("1"), spec: { subnet: "x" } }];
  await rig.countLists();
  expect(rig.memory.pools.size).toBe(0);
  expect([...rig.memory.damaged]).toEqual([
    ["a", expect.stringMatching(/^spec\.subnet: must be a subnet in CIDR form/)],
  ]);
});

test("close() ends the subscription", () => {
  const rig = new Rig();
  rig.memory.close();
  expect(rig.listener).toBeUndefined();
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
    { pool: "a", family: "IPv4", used: 2, total: 16 },
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
    { pool: "a", family: "IPv4", used: 0, total: 0 },
    { pool: "b", family: "IPv6", used: 0, total: 2 ** 64 },
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
