/**
 * Which hosts a cluster has, and which changes wake which clusters.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  BARE_METAL_HOSTS,
  type BareMetalHost,
} from "../../../../lib/kube/kinds/bare_metal_host.ts";
import { HostIndex } from "../../../../lib/controllers/sipcluster/hosts/host_index.ts";
import type { HostFacts } from "../../../../lib/controllers/sipcluster/schedule/types.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { type Key, Store } from "../../../../lib/kube/cache/store.ts";
import { type HostInput, toClaimLabels, toHost } from "../../../support/sipcluster/hosts.ts";

interface Stage {
  readonly store: Store<BareMetalHost>;
  readonly index: HostIndex;
  /** Puts a host of this version into the store. */
  put(name: string, version: number, input?: HostInput): BareMetalHost;
  /** The keys that were told since the last time, sorted. */
  take(): Key[];
}

function start(): Stage {
  const store = new Store<BareMetalHost>({ resource: BARE_METAL_HOSTS, log: silentLogger });
  const index = new HostIndex(store);
  const told: Key[] = [];
  index.subscribe((keys) => told.push(...keys));
  return {
    store,
    index,
    put(name, version, input = {}) {
      const host = toHost(name, input, { resourceVersion: String(version) });
      store.apply(host);
      return host;
    },
    take: () => told.splice(0).toSorted(),
  };
}

const toKeys = (hosts: Iterable<HostFacts>): Key[] => [...hosts].map(({ key }) => key).toSorted();
const A = { labels: toClaimLabels("a") };
const B = { labels: toClaimLabels("b") };

const IMAGED = { ...A, status: { provisioning: { state: "externally provisioned" } } };
const CONSUMED = { ...IMAGED, spec: { consumerRef: { kind: "Metal3Machine", name: "m" } } };

describe("HostIndex", () => {
  test("knows the hosts of each cluster, and those that none has", () => {
    const { index, put } = start();
    put("a1", 1, A);
    put("a2", 2, { labels: toClaimLabels("a", { role: "Storage" }) });
    put("b1", 3, B);
    put("free", 4);
    put("half", 5, { labels: { "sip.airshipit.org/cluster-name": "a" } });
    expect(toKeys(index.listOf("tenant/a"))).toEqual(["metal3/a1", "metal3/a2"]);
    expect(toKeys(index.listOf("tenant/b"))).toEqual(["metal3/b1"]);
    expect(toKeys(index.listOf("tenant/c"))).toEqual([]);
    expect(toKeys(index.listOfOthers("tenant/a"))).toEqual(["metal3/b1"]);
    expect(toKeys(index.listFree())).toEqual(["metal3/free"]);
    expect(toKeys(index.listOwnerless())).toEqual(["metal3/half"]);
    put("half", 6);
    expect(toKeys(index.listOwnerless())).toEqual([]);
  });

  test("follows a host from cluster to cluster, and to its end", () => {
    const { index, put, store } = start();
    const look = (): Key[][] =>
      [index.listOf("tenant/a"), index.listOf("tenant/b"), index.listFree()].map(toKeys);
    put("h", 1, A);
    expect(look()).toEqual([["metal3/h"], [], []]);
    put("h", 2, B);
    expect(look()).toEqual([[], ["metal3/h"], []]);
    put("h", 3);
    expect(look()).toEqual([[], [], ["metal3/h"]]);
    store.replace([], "4");
    expect(look()).toEqual([[], [], []]);
    expect(index.findFacts("metal3/h")).toBeUndefined();
  });

  test("has what was in the store before it", () => {
    const { store, put } = start();
    put("h", 1, A);
    expect(toKeys(new HostIndex(store).listOf("tenant/a"))).toEqual(["metal3/h"]);
  });

  test("is read when the store has its first list", () => {
    const { index, store } = start();
    expect(index.reader.synced).toBe(false);
    store.replace([], "1");
    expect(index.reader.synced).toBe(true);
  });
});

describe("a change of a host wakes", () => {
  test.each<[string, HostInput | undefined, HostInput | undefined, Key[]]>([
    ["the cluster that takes it", {}, A, ["tenant/a"]],
    ["the one that has it and the one that had it", A, B, ["tenant/a", "tenant/b"]],
    ["the one that gave it back, and those that wait", A, {}, ["tenant/a", "tenant/w"]],
    [
      "its cluster if it gets into trouble",
      A,
      { ...A, status: { errorMessage: "x" } },
      ["tenant/a"],
    ],
    ["its cluster if it is gone", A, undefined, ["tenant/a"]],
    [
      "its cluster if it names other network data",
      A,
      { ...A, spec: { networkData: { name: "n" } } },
      ["tenant/a"],
    ],
    ["its cluster if its consumer goes and its image stays", CONSUMED, IMAGED, ["tenant/a"]],
    [
      "its cluster if a deletion need not wait for it any more",
      { ...A, status: { provisioning: { state: "provisioned" } } },
      IMAGED,
      ["tenant/a"],
    ],
    ["those that wait if it is new", undefined, {}, ["tenant/w"]],
    ["those that wait if its labels change", {}, { labels: { rack: "r1" } }, ["tenant/w"]],
    ["those that wait if its trouble ends", { status: { errorMessage: "x" } }, {}, ["tenant/w"]],
    [
      "those that wait if it names network data",
      {},
      { spec: { networkData: { name: "n" } } },
      ["tenant/w"],
    ],
    ["none if it cannot be taken", undefined, { status: { errorMessage: "x" } }, []],
    ["none if it is free and gone", {}, undefined, []],
    ["none if no fact changes", A, { ...A, status: { hardware: {}, poweredOn: true } }, []],
  ])("%s", (_what, before, after, expected) => {
    const { index, put, store, take } = start();
    if (before) put("h", 1, before);
    take();
    index.wait("tenant/w");
    if (after) put("h", 2, after);
    else store.replace([], "2");
    expect(take()).toEqual(expected);
  });

  test("only those clusters that could use it", () => {
    const { index, put, take } = start();
    index.wait("tenant/v", ({ labels }) => labels["flavor"] === "worker");
    index.wait("tenant/w", ({ labels }) => labels["flavor"] === "control-plane");
    put("h", 1, { labels: { flavor: "worker" } });
    expect(take()).toEqual(["tenant/v"]);
  });

  test("none that waits no more, and none once the subscription ended", () => {
    const { index, put, take } = start();
    index.wait("tenant/w");
    index.stopWaiting("tenant/w");
    put("h", 1);
    expect(take()).toEqual([]);
    const told: Key[] = [];
    const end = index.subscribe((keys) => told.push(...keys));
    end();
    put("h", 2, A);
    expect(told).toEqual([]);
  });

  test("the clusters of a host that was deleted and created again", () => {
    const { put, store, take } = start();
    put("h", 1, A);
    take();
    store.apply(toHost("h", A, { uid: "another", resourceVersion: "2" }));
    expect(new Set(take())).toEqual(new Set(["tenant/a"]));
  });
});
