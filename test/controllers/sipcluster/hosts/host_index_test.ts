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
import type { SipCluster } from "../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { HostFacts } from "../../../../lib/controllers/sipcluster/schedule/types.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { type Key, Store } from "../../../../lib/kube/cache/store.ts";
import {
  type HostInput,
  toClaimLabels,
  toHost,
  toRecording,
} from "../../../support/sipcluster/hosts.ts";

interface Stage {
  readonly store: Store<BareMetalHost>;
  readonly clusters: Store<SipCluster>;
  readonly index: HostIndex;
  /** Puts a host of this version into the store, and has the clusters record the hosts with their labels. */
  put(name: string, version: number, input?: HostInput): BareMetalHost;
  /** The keys that were told since the last time, sorted. */
  take(): Key[];
}

function start(): Stage {
  const store = new Store<BareMetalHost>({ resource: BARE_METAL_HOSTS, log: silentLogger });
  const clusters = toRecording([]);
  const index = new HostIndex({ hosts: store, clusters });
  const told: Key[] = [];
  index.subscribe((keys) => told.push(...keys));
  return {
    store,
    clusters,
    index,
    put(name, version, input = {}) {
      const host = toHost(name, input, { resourceVersion: String(version) });
      store.apply(host);
      toRecording([...store.values()], clusters);
      return host;
    },
    take: () => [...new Set(told.splice(0))].toSorted(),
  };
}

const toKeys = (hosts: Iterable<HostFacts>): Key[] => [...hosts].map(({ key }) => key).toSorted();
const CLUSTER = { metadata: { namespace: "tenant", name: "a", uid: "a", resourceVersion: "1" } };
const RECORD = {
  uid: "uid-h",
  namespace: "metal3",
  name: "h",
  role: "Worker",
  standby: false,
  addresses: [],
} as const;
const A = { labels: toClaimLabels("a") };
const B = { labels: toClaimLabels("b") };

const IMAGED = { ...A, status: { provisioning: { state: "externally provisioned" } } };
const CONSUMED = { ...IMAGED, spec: { consumerRef: { kind: "Metal3Machine", name: "m" } } };

describe("HostIndex", () => {
  test("knows the hosts of each cluster, and those that none has", () => {
    const { index, put } = start();
    put("a1", 1, A);
    put("a2", 2, { labels: toClaimLabels("a", { role: "ControlPlane" }) });
    put("b1", 3, B);
    put("free", 4);
    put("half", 5, { labels: { "sip.airshipit.org/cluster-name": "a" } });
    expect(toKeys(index.listOf("tenant/a"))).toEqual(["metal3/a1", "metal3/a2"]);
    expect(toKeys(index.listOf("tenant/b"))).toEqual(["metal3/b1"]);
    expect(toKeys(index.listOf("tenant/c"))).toEqual([]);
    expect(toKeys(index.listOfOthers("tenant/a"))).toEqual(["metal3/b1"]);
    expect(toKeys(index.listFree())).toEqual(["metal3/free"]);
    expect(toKeys(index.listClaimants(""))).toEqual(["metal3/half"]);
    put("half", 6);
    expect(toKeys(index.listClaimants(""))).toEqual([]);
  });

  test("knows by the record whose a host is, whatever its labels say", () => {
    const { index, store, clusters } = start();
    store.replace([toHost("h", A), toHost("i"), toHost("j", B)], "1");
    expect(toKeys(index.listClaimants("tenant/a"))).toEqual(["metal3/h"]);
    const hosts = ["i", "j"].map((name) => ({ ...RECORD, uid: `uid-${name}`, name }));
    clusters.replace([{ ...CLUSTER, status: { hosts } }], "2");
    expect(toKeys(index.listOf("tenant/a"))).toEqual(["metal3/i", "metal3/j"]);
    expect(toKeys(index.listClaimants("tenant/a"))).toEqual(["metal3/h"]);
    expect(toKeys(index.listFree())).toEqual([]);
    clusters.replace([], "3");
    expect(toKeys(index.listOf("tenant/a"))).toEqual([]);
    expect(toKeys(index.listClaimants("tenant/b"))).toEqual(["metal3/j"]);
  });

  test.each([
    ["a host of another UID", { ...RECORD, uid: "another" }, A, "claimant"],
    ["an entry without a UID", { ...RECORD, uid: undefined }, A, "claimant"],
    ["a pending entry, with the labels", { ...RECORD, pending: true }, A, "own"],
    ["a pending entry, without the labels", { ...RECORD, pending: true }, {}, "free"],
  ])("reads %s", (_what, { uid, ...record }, input, expected) => {
    const { index, store, clusters } = start();
    store.replace([toHost("h", input)], "1");
    const hosts = [{ ...record, ...(uid !== undefined && { uid }) }];
    clusters.replace([{ ...CLUSTER, status: { hosts } }], "2");
    const lists = {
      own: index.listOf("tenant/a"),
      claimant: index.listClaimants("tenant/a"),
      free: index.listFree(),
    };
    const found = Object.entries(lists).filter(([, hosts]) => [...hosts].length > 0);
    expect(found.map(([name]) => name)).toEqual([expected]);
  });

  test("gives a host that two clusters record to the one that its labels name", () => {
    const { index, store, clusters } = start();
    store.replace([toHost("h", B)], "1");
    const status = { hosts: [RECORD] };
    const other = { ...CLUSTER, metadata: { ...CLUSTER.metadata, name: "b", uid: "b" } };
    clusters.replace(
      [
        { ...CLUSTER, status },
        { ...other, status },
      ],
      "2",
    );
    expect(toKeys(index.listOf("tenant/b"))).toEqual(["metal3/h"]);
    expect(toKeys(index.listOf("tenant/a"))).toEqual([]);
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
    const { store: hosts, clusters, put } = start();
    put("h", 1, A);
    expect(toKeys(new HostIndex({ hosts, clusters }).listOf("tenant/a"))).toEqual(["metal3/h"]);
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
