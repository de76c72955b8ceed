/**
 * How hosts are chosen together with their addresses.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { HostChooser, toWants } from "../../../lib/controllers/sipcluster/choose.ts";
import { AddressReader } from "../../../lib/controllers/sipcluster/hosts/address_reader.ts";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { HostIndex } from "../../../lib/controllers/sipcluster/hosts/host_index.ts";
import type {
  LabelSelector,
  SipCluster,
  SipClusterSpec,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import type { RoleReport } from "../../../lib/controllers/sipcluster/schedule/types.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import type { KubeObject } from "../../../lib/kube/kinds/resource.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { toClaimLabels, toHost, toRecording } from "../../support/sipcluster/hosts.ts";
import { longTest } from "../../support/long_tests.ts";

const signal = AbortSignal.timeout(20_000);
const CLUSTER: SipCluster = { metadata: { namespace: "tenant", name: "a" } };
const SAME = '{"networks": [{"id": "oam", "ip_address": "192.0.2.1"}]}';
/** With an address of its own. */
const GOOD = '{"networks": [{"id": "oam", "ip_address": "10.0.HOST"}]}';
const FORBIDDEN = new KubeError("forbidden", "no");
const BROKEN = new KubeError("unavailable", "cannot decrypt", { code: 500 });
const BAD = '{"networks": [{"id": "oam", "type": "ipv4_dhcp"}]}';

interface Stage {
  readonly chooser: HostChooser;
  /** The Secrets that were read, in order. */
  readonly reads: string[];
}

/**
 * Hosts `h0`, `h1` … with these network data; in the place of some, what reading the Secret ends with.
 *
 * @param labels Of the first host
 */
function start(
  texts: readonly (string | KubeError)[],
  labels: Readonly<Record<string, string>> = {},
): Stage {
  const clock = new ManualClock();
  const store = new Store<BareMetalHost>({ resource: BARE_METAL_HOSTS, log: silentLogger });
  const names = texts.map((_, at) => `h${String(at).padStart(5, "0")}`);
  store.replace(
    names.map((name, at) =>
      toHost(name, { spec: { networkData: { name } }, ...(at === 0 && { labels }) }),
    ),
    "1",
  );
  const reads: string[] = [];
  const read = async (name: string): Promise<KubeObject> => {
    reads.push(name);
    const at = Number(name.slice(1));
    const text = texts[at] ?? "";
    if (text instanceof KubeError) throw text;
    const data = { networkData: btoa(text.replace("HOST", `${at >> 8}.${at & 255}`)) };
    return Object.assign({ metadata: { name } }, { data });
  };
  const client = { read: (_kind: unknown, { name = "" }) => read(name) } as Pick<
    KubeClient,
    "read"
  >;
  const index = new HostIndex({ hosts: store, clusters: toRecording([...store.values()]) });
  const addresses = new AddressReader({ client, clock, periodMs: 600_000 });
  return {
    chooser: new HostChooser({ index, addresses, allows: () => true, clock, errorGraceMs: 1 }),
    reads,
  };
}

const toSpec = (active: number, network = "oam"): SipClusterSpec => ({
  nodes: { Worker: { count: { active } } },
  services: {
    loadBalancerWorker: [
      { nodeInterfaceId: network, nodePortRange: { start: 30_001, end: 30_002 } },
    ],
  },
});

describe("choose()", () => {
  test("skips a bad host and takes the next one", async () => {
    const { chooser, reads } = start([BAD, GOOD, GOOD, GOOD]);
    const { schedule, missed } = await chooser.choose(CLUSTER, toSpec(2), signal);
    expect(schedule.add.map(({ host }) => host)).toEqual(["metal3/h00001", "metal3/h00002"]);
    expect(missed).toEqual(["metal3/h00000"]);
    expect(reads).toEqual(["h00000", "h00001", "h00002"]);
  });

  test("reads no host twice, and none that would not be taken", async () => {
    const { chooser, reads } = start([GOOD, GOOD, GOOD]);
    for (let round = 0; round < 3; round += 1) await chooser.choose(CLUSTER, toSpec(1), signal);
    expect(reads).toEqual(["h00000"]);
  });

  test("reads nothing if no service needs an address", async () => {
    const { chooser, reads } = start([FORBIDDEN]);
    const spec = { ...toSpec(1), services: {} };
    expect((await chooser.choose(CLUSTER, spec, signal)).schedule.isSatisfied).toBe(true);
    expect(reads).toEqual([]);
  });

  test.each([
    ["that it may not read", FORBIDDEN],
    ["that cannot be decrypted", BROKEN],
  ])("takes another host than one with a Secret %s", async (_what, error) => {
    const { chooser } = start([error, GOOD]);
    const one = await chooser.choose(CLUSTER, toSpec(1), signal);
    expect(one.schedule.add.map(({ host }) => host)).toEqual(["metal3/h00001"]);
    expect([one.missed, one.schedule.unreadable]).toEqual([["metal3/h00000"], undefined]);
    // Also when it is not asked again.
    for (let round = 0; round < 2; round += 1) {
      const { schedule } = await chooser.choose(CLUSTER, toSpec(2), signal);
      expect(schedule).toMatchObject({ add: [], unreadable: error.message });
      expect([...(schedule.reports.get("Worker")?.rejected ?? [])]).toEqual([
        ["network data that the API server does not show", 1],
      ]);
    }
  });

  test("decides nothing if the API server does not serve", async () => {
    const down = new KubeError("unavailable", "down", { code: 503 });
    await expect(start([down, GOOD]).chooser.choose(CLUSTER, toSpec(1), signal)).rejects.toBe(down);
  });

  longTest("asks each host once, also if there are more than it remembers", async () => {
    const { chooser, reads } = start(Array<string>(10_100).fill(GOOD));
    const { schedule } = await chooser.choose(CLUSTER, toSpec(2, "oan"), signal);
    expect([schedule.add, reads.length]).toEqual([[], 10_100]);
  });

  test("finds the good host among many bad ones", async () => {
    const { chooser } = start([...Array<string>(200).fill(BAD), GOOD]);
    const { schedule } = await chooser.choose(CLUSTER, toSpec(1), signal);
    expect(schedule.add.map(({ host }) => host)).toEqual(["metal3/h00200"]);
  });

  longTest("takes hosts of 3,000 with the same address soon", async () => {
    const { chooser, reads } = start([GOOD, ...Array<string>(3_000).fill(SAME), GOOD]);
    const startMs = performance.now();
    const { schedule } = await chooser.choose(CLUSTER, toSpec(4), signal);
    expect(performance.now() - startMs).toBeLessThan(5_000);
    const hosts = ["h00000", "h00001", "h00002", "h03001"].map((name) => `metal3/${name}`);
    expect(schedule.add.map(({ host }) => host)).toEqual(hosts);
    expect(reads).toHaveLength(3_002);
  });

  test("says how many hosts that would suit other clusters have, and names none of them", async () => {
    const others = toClaimLabels("b", { role: "Worker" });
    const { chooser } = start([GOOD, GOOD], { ...others, flavor: "large" });
    const read = async (flavor: string): Promise<RoleReport | undefined> => {
      const labelSelector = { matchLabels: { flavor } };
      const spec = { ...toSpec(3), nodes: { Worker: { labelSelector, count: { active: 3 } } } };
      const { schedule } = await chooser.choose(CLUSTER, spec, signal);
      return schedule.reports.get("Worker");
    };
    const large = await read("large");
    expect([...(large?.rejected ?? [])]).toEqual([
      ["not matched by the selector", 1],
      ["of other SIPClusters", 1],
    ]);
    expect([...(large?.refused ?? [])]).toEqual([]);
    expect((await read("small"))?.rejected.get("of other SIPClusters")).toBeUndefined();
  });

  test("takes none of 3,000 hosts soon if the network is misspelt, and says why", async () => {
    const { chooser, reads } = start(Array<string>(3_000).fill(GOOD));
    const startMs = performance.now();
    const { schedule } = await chooser.choose(CLUSTER, toSpec(2, "oan"), signal);
    expect(performance.now() - startMs).toBeLessThan(2_500);
    expect([schedule.add, reads.length]).toEqual([[], 3_000]);
    const rejected = [...(schedule.reports.get("Worker")?.rejected ?? [])];
    expect(rejected).toEqual([['no network "oan"', 3_000]]);
  });
});

describe("toWants()", () => {
  const select = (flavor: string): LabelSelector => ({ matchLabels: { flavor } });
  const report = (wanted: number, have: number, missing: number): RoleReport => {
    return { wanted, have, missing, eligible: 0, rejected: new Map(), refused: new Map() };
  };
  const nodes = {
    ControlPlane: { labelSelector: select("cp") },
    Worker: { labelSelector: select("worker") },
  };
  const wants = toWants(
    { nodes, services: {} },
    {
      reports: new Map([
        ["ControlPlane", report(1, 0, 1)],
        ["Worker", report(2, 1, 0)],
      ]),
    },
  );

  test.each<[string, boolean]>([
    ["cp", true],
    ["worker", true],
    ["storage", false],
  ])(
    "of a host for %s, where a host for workers would set one for the control plane free",
    (flavor, expected) => {
      expect(wants({ labels: { flavor } })).toBe(expected);
    },
  );

  test("nothing for a role that has all its hosts", () => {
    const reports = new Map([["Worker" as const, report(2, 2, 0)]]);
    const { labels } = toHost("h", { labels: { flavor: "worker" } }).metadata;
    expect(toWants({ nodes, services: {} }, { reports })({ labels: labels ?? {} })).toBe(false);
  });
});
