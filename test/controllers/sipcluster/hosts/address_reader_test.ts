/**
 * Which Secrets are read, when they are read again, and what their absence means.
 * @module
 */
import { describe, expect, test } from "bun:test";
import {
  AddressReader,
  type HostNetworks,
} from "../../../../lib/controllers/sipcluster/hosts/address_reader.ts";
import type { BareMetalHost } from "../../../../lib/kube/kinds/bare_metal_host.ts";
import { toAddresses } from "../../../../lib/controllers/sipcluster/hosts/network_data.ts";
import type { KubeClient } from "../../../../lib/kube/api/client.ts";
import { isKubeError, KubeError } from "../../../../lib/kube/api/errors.ts";
import { toKey } from "../../../../lib/kube/cache/store.ts";
import type { JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import { untilAborted } from "../../../support/kube/scripted_kube_client.ts";
import { ManualClock, settle } from "../../../support/manual_clock.ts";
import {
  HOST_NAMESPACE,
  type HostServer,
  startHostServer,
  toHost,
} from "../../../support/sipcluster/hosts.ts";
import { connect } from "../../../support/kube/connect.ts";
import { longTest } from "../../../support/long_tests.ts";

const signal = AbortSignal.timeout(30_000);
const PERIOD_MS = 600_000;
const READ = "get secrets h-networkdata";

interface Stage extends AsyncDisposable {
  readonly server: HostServer;
  readonly clock: ManualClock;
  readonly reader: AddressReader;
  /** Writes the Secret that `h` names, or another; `undefined` deletes it. */
  write(data: Record<string, string> | undefined, name?: string): void;
  /** The address on network `oam`, or why there is none. */
  read(host?: BareMetalHost): Promise<string>;
}

function findTrouble({ reader }: Stage, host: BareMetalHost, networks: string[]): unknown {
  const known = reader.findKnown(host, networks);
  return known?.kind === "trouble" ? known.trouble : undefined;
}

async function start(): Promise<Stage> {
  const server = await startHostServer();
  const clock = new ManualClock();
  const { client, kubernetes } = server;
  const reader = new AddressReader({ client, clock, periodMs: PERIOD_MS, random: () => 0.5 });
  return {
    server,
    clock,
    reader,
    write(texts, name = "h-networkdata") {
      const path = { name, namespace: HOST_NAMESPACE };
      kubernetes.objects.delete("secrets", path);
      if (texts === undefined) return;
      const data: JsonObject = Object.fromEntries(
        Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
      );
      kubernetes.objects.create("secrets", { metadata: path, data });
    },
    async read(host = HOST) {
      const networks = (await reader.readAll([host], signal)).get(toKey(host));
      return describeOam(networks);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function describeOam(networks: HostNetworks | undefined): string {
  if (networks === undefined) return "nothing";
  const result = toAddresses(networks, ["oam"]);
  return result.kind === "trouble" ? result.trouble : (result.addresses.get("oam") ?? "");
}

const HOST = toHost("h", { spec: { networkData: { name: "h-networkdata" } } }, { generation: 1 });
const toText = (ip: string): string =>
  JSON.stringify({ networks: [{ id: "oam", ip_address: ip }] });
const TEXT = toText("192.0.2.1");

describe("the Secret of a host", () => {
  test.each<[string, JsonObject]>([
    ["without a namespace", { networkData: { name: "h-networkdata" } }],
    [
      "with the host's namespace",
      { networkData: { name: "h-networkdata", namespace: HOST_NAMESPACE } },
    ],
    ["with an empty namespace", { networkData: { name: "h-networkdata", namespace: "" } }],
    ["for the time before it is provisioned", { preprovisioningNetworkDataName: "h-networkdata" }],
    [
      "rather than the one for the time before",
      { networkData: { name: "h-networkdata" }, preprovisioningNetworkDataName: "early" },
    ],
  ])("is read if it is named %s", async (_what, spec) => {
    await using stage = await start();
    stage.write({ networkData: TEXT });
    expect(await stage.read(toHost("h", { spec }))).toBe("192.0.2.1");
    expect(stage.server.takeRequests()).toEqual([READ]);
  });

  test.each<[string, Record<string, string>, string]>([
    ["key networkData", { networkData: TEXT }, "192.0.2.1"],
    ["key value", { value: TEXT }, "192.0.2.1"],
    ["both keys, of which networkData counts", { networkData: TEXT, value: "x" }, "192.0.2.1"],
    ["neither key", { userData: TEXT }, "no text in the key networkData of its Secret"],
    ["an empty text", { networkData: "" }, "no text in the key networkData of its Secret"],
    ["nmstate", { nmstate: TEXT }, "network data in the form of nmstate, not of OpenStack"],
    ["damage", { networkData: "{" }, "network data is neither JSON nor YAML"],
    ["a book", { networkData: "x".repeat(600_000) }, "network data is too long"],
  ])("may have %s", async (_what, data, expected) => {
    await using stage = await start();
    stage.write(data);
    expect(await stage.read()).toBe(expected);
  });

  test.each<[string, JsonObject, string]>([
    ["names none", {}, "no network data"],
    ["names it without a name", { networkData: {} }, "no network data"],
    [
      "names one of another namespace",
      { networkData: { name: "h-networkdata", namespace: "tenant" } },
      "network data in another namespace",
    ],
  ])("is not read if the host %s", async (_what, spec, expected) => {
    await using stage = await start();
    const host = toHost("h", { spec });
    expect(findTrouble(stage, host, ["oam"])).toBe(expected);
    expect(await stage.read(host)).toBe(expected);
    expect(stage.server.takeRequests()).toEqual([]);
  });
});

describe("a Secret that cannot be read", () => {
  test("is a problem of the host if it is missing", async () => {
    await using stage = await start();
    expect(await stage.read()).toBe("no Secret with its network data");
  });

  test.each<[string, number, "forbidden" | "unauthorized" | "unavailable"]>([
    ["forbidden", 403, "forbidden"],
    ["not authorized", 401, "unauthorized"],
    ["broken", 500, "unavailable"],
  ])("is an error if that is %s, and the next reconcile reads it", async (_what, status, kind) => {
    await using stage = await start();
    stage.write({ networkData: TEXT });
    const end = stage.server.kubernetes.faults.refuse({ verb: "get", resource: "secrets", status });
    const failure = await stage.read().catch((error: unknown) => error);
    expect(isKubeError(failure, kind)).toBe(true);
    expect(findTrouble(stage, HOST, ["oam"])).toBeUndefined();
    end();
    expect(await stage.read()).toBe("192.0.2.1");
  });

  test("is an error if a proxy says that it does not exist", async () => {
    const clock = new ManualClock();
    await using proxy = Bun.serve({ port: 0, fetch: () => new Response("no", { status: 404 }) });
    const master = `http://127.0.0.1:${proxy.port}`;
    const client = await connect({ master }, { clock });
    const reader = new AddressReader({ client, clock, periodMs: PERIOD_MS });
    const failure = await reader.readAll([HOST], signal).catch((error: unknown) => error);
    expect(isKubeError(failure, "unavailable")).toBe(true);
  });

  test("ends the reads of the other hosts", async () => {
    const clock = new ManualClock();
    let ended = 0;
    const refuse = Promise.withResolvers<never>();
    const read: KubeClient["read"] = (_kind, { name }, ending) =>
      name === "bad" ? refuse.promise : untilAborted(ending).finally(() => (ended += 1));
    const reader = new AddressReader({ client: { read }, clock, periodMs: PERIOD_MS });
    const hosts = Array.from({ length: 500 }, (_, at) =>
      toHost(`h${at}`, { spec: { networkData: { name: at === 0 ? "bad" : "good" } } }),
    );
    const reading = reader.readAll(hosts, signal).catch((error: unknown) => error);
    refuse.reject(new KubeError("forbidden", "no"));
    expect(isKubeError(await reading, "forbidden")).toBe(true);
    await settle();
    expect(ended).toBe(7);
  });
});

describe("what was read", () => {
  test("is remembered: a host with an IP already extracted is not read again", async () => {
    await using stage = await start();
    stage.write({ networkData: TEXT });
    await stage.read();
    stage.write(undefined);
    expect(await stage.read()).toBe("192.0.2.1");
    expect(stage.server.takeRequests()).toEqual([READ]);
  });

  test.each<[string, Partial<BareMetalHost["metadata"]>]>([
    ["spec of the host changes", { generation: 2 }],
    ["another host has the name", { generation: 1, uid: "other" }],
  ])("is read again if %s", async (_what, metadata) => {
    await using stage = await start();
    stage.write({ networkData: TEXT });
    await stage.read();
    stage.write({ networkData: toText("192.0.2.2") });
    const host = { ...HOST, metadata: { ...HOST.metadata, ...metadata } };
    expect(await stage.read(host)).toBe("192.0.2.2");
  });

  test("is read again when the cluster is reconciled for the period", async () => {
    await using stage = await start();
    stage.write({ networkData: TEXT });
    await stage.read();
    stage.write({ networkData: toText("192.0.2.2") });
    await stage.clock.advance(PERIOD_MS / 2 - 1);
    expect(await stage.read()).toBe("192.0.2.1");
    await stage.clock.advance(stage.reader.toPauseMs());
    expect(await stage.read()).toBe("192.0.2.2");
  });

  test("is no address of the past once the Secret is gone", async () => {
    await using stage = await start();
    stage.write({ networkData: TEXT });
    await stage.read();
    stage.write(undefined);
    await stage.clock.advance(PERIOD_MS);
    expect(await stage.read()).toBe("no Secret with its network data");
  });

  test.each<[string, Partial<BareMetalHost["metadata"]>, string | undefined]>([
    ["counts on as the last known", {}, "192.0.2.1"],
    ["counts on if the spec names another Secret that is missing", { generation: 2 }, "192.0.2.1"],
    ["does not count for another host of the name", { uid: "other" }, undefined],
  ])("%s once the Secret is gone", async (_what, metadata, expected) => {
    await using stage = await start();
    expect(stage.reader.findLast(HOST)).toBeUndefined();
    stage.write({ networkData: TEXT });
    await stage.read();
    stage.write(undefined);
    const host = { ...HOST, metadata: { ...HOST.metadata, ...metadata } };
    for (let round = 0; round < 2; round += 1) {
      await stage.clock.advance(PERIOD_MS);
      expect(await stage.read(host)).toBe("no Secret with its network data");
    }
    expect(stage.reader.findLast(host)?.addresses.get("oam")).toBe(expected);
  });

  test("is read again at once by readAgain(), which says whether it is another answer", async () => {
    await using stage = await start();
    const readAgain = (): Promise<boolean> => stage.reader.readAgain(toKey(HOST), signal);
    expect(await readAgain()).toBe(false);
    await stage.read();
    expect(await readAgain()).toBe(false);
    stage.write({ networkData: TEXT });
    expect(await readAgain()).toBe(true);
    stage.server.takeRequests();
    expect(await stage.read()).toBe("192.0.2.1");
    expect(stage.server.takeRequests()).toEqual([]);
    stage.write({ networkData: toText("192.0.2.2") });
    expect(await readAgain()).toBe(true);
    expect(await stage.read()).toBe("192.0.2.2");
    expect(stage.reader.findLast(HOST)?.addresses.get("oam")).toBe("192.0.2.2");
    expect(stage.reader.toPauseMs()).toBe(PERIOD_MS * 1.125);
  });
});

test.each<[string, Record<string, string> | undefined, string[], string | undefined]>([
  ["nothing of a host without trouble", { networkData: TEXT }, ["oam"], undefined],
  ["what it read of a network", { networkData: TEXT }, ["oam", "x"], 'no network "x"'],
  ["that there is no Secret", undefined, ["oam"], "no Secret with its network data"],
  ["nothing if no address is needed", undefined, [], undefined],
])("findKnown() knows %s", async (_what, data, networks, trouble) => {
  await using stage = await start();
  stage.write(data);
  expect(findTrouble(stage, HOST, networks)).toBeUndefined();
  await stage.read();
  stage.server.takeRequests();
  expect(findTrouble(stage, HOST, networks)).toBe(trouble);
  expect(stage.server.takeRequests()).toEqual([]);
});

longTest(
  "readAll() of 100 clusters with 10 hosts sends 1,000 requests, and none when asked again",
  async () => {
    await using stage = await start();
    stage.write({ networkData: TEXT }, "shared");
    const toCluster = (cluster: number): BareMetalHost[] =>
      Array.from({ length: 10 }, (_, at) =>
        toHost(`h${cluster}-${at}`, { spec: { networkData: { name: "shared" } } }),
      );
    const clusters = Array.from({ length: 100 }, (_, at) => toCluster(at));
    const counts: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      for (const hosts of clusters) await stage.reader.readAll(hosts, signal);
      counts.push(stage.server.takeRequests().length);
    }
    expect(counts).toEqual([1_000, 0]);
  },
);
