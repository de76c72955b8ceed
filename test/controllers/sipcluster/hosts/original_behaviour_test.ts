/**
 * What the original operator did with hosts, by the names of its behaviours, and where Landfall does better.
 * @module
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { AddressReader } from "../../../../lib/controllers/sipcluster/hosts/address_reader.ts";
import {
  BARE_METAL_HOSTS,
  type BareMetalHost,
} from "../../../../lib/kube/kinds/bare_metal_host.ts";
import {
  type ClaimResult,
  HostClaims,
} from "../../../../lib/controllers/sipcluster/hosts/claims.ts";
import { HostIndex } from "../../../../lib/controllers/sipcluster/hosts/host_index.ts";
import {
  type AddressResult,
  toAddresses,
} from "../../../../lib/controllers/sipcluster/hosts/network_data.ts";
import { systemClock } from "../../../../lib/core/clock.ts";
import { silentLogger } from "../../../../lib/core/log.ts";
import { Store, toKey } from "../../../../lib/kube/cache/store.ts";
import {
  HOST_NAMESPACE,
  type HostInput,
  type HostServer,
  startHostServer,
  toClaimLabels,
  toHost,
} from "../../../support/sipcluster/hosts.ts";

const signal = AbortSignal.timeout(30_000);
const OAM = "oam-ipv4";
const AS_JSON = `{"networks": [{"id": "${OAM}", "type": "ipv4", "ip_address": "32.68.51.139"}]}`;
const AS_YAML = `networks:\n- id: ${OAM}\n  type: ipv4\n  ip_address: 32.68.51.139\n`;
const WHOLE: HostInput["spec"] = {
  bmc: { address: "redfish+https://192.0.2.1/redfish/v1/Systems/1", credentialsName: "h-bmc" },
  networkData: { name: "h-networkdata", namespace: HOST_NAMESPACE },
};
const FOUND: AddressResult = { kind: "addresses", addresses: new Map([[OAM, "32.68.51.139"]]) };
const trouble = (text: string): AddressResult => ({ kind: "trouble", trouble: text });

let server: HostServer;
beforeAll(async () => {
  server = await startHostServer();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  const { objects } = server.kubernetes;
  const namespace = HOST_NAMESPACE;
  objects.delete("secrets", { name: "h-networkdata", namespace });
  objects.delete(BARE_METAL_HOSTS.plural, { name: "h", namespace });
  server.takeRequests();
});

function writeSecret(data: Record<string, string>): void {
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  server.kubernetes.objects.create("secrets", {
    metadata: { name: "h-networkdata", namespace: HOST_NAMESPACE },
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, encode(text)])),
  });
}

function toIndex(...hosts: readonly BareMetalHost[]): HostIndex {
  const store = new Store<BareMetalHost>({ resource: BARE_METAL_HOSTS, log: silentLogger });
  store.replace(hosts, "1");
  return new HostIndex(store, systemClock);
}

const toReader = (): AddressReader =>
  new AddressReader({ client: server.client, clock: systemClock, periodMs: 600_000 });

/** Reads the address of a host on the network `oam-ipv4`. */
async function readAddress(spec = WHOLE, reader = toReader()): Promise<AddressResult> {
  const host = toHost("h", { spec: { ...spec } });
  const networks = (await reader.readAll([host], signal)).get(toKey(host));
  if (networks === undefined) throw new TypeError("nothing was read");
  return toAddresses(networks, [OAM]);
}

const toClaims = (): HostClaims =>
  new HostClaims("tenant/a", { client: server.client, note: () => undefined });

describe("as the original operator, and better", () => {
  test("1: a listed BareMetalHost is registered, an unknown name is not", () => {
    const index = toIndex(toHost("h"));
    expect(index.findFacts("metal3/h")?.key).toBe("metal3/h");
    expect(index.findFacts("metal3/other")).toBeUndefined();
  });

  test("2: the unscheduled list has no BareMetalHost with the cluster-name label", () => {
    const index = toIndex(toHost("a", { labels: toClaimLabels("a") }), toHost("free"));
    expect([...index.listFree()].map(({ key }) => key)).toEqual(["metal3/free"]);
  });

  test("3: all BareMetalHosts labelled: none is free, which is no error by itself", () => {
    const index = toIndex(toHost("a", { labels: toClaimLabels("a") }));
    expect([[...index.listFree()].length, [...index.listOf("tenant/a")].length]).toEqual([0, 1]);
  });

  test("4: the IP for oam-ipv4 comes from JSON network data", async () => {
    writeSecret({ networkData: AS_JSON });
    expect(await readAddress()).toEqual(FOUND);
  });

  test("5: the IP for oam-ipv4 comes from YAML network data", async () => {
    writeSecret({ networkData: AS_YAML });
    expect(await readAddress()).toEqual(FOUND);
  });

  test("6: credentials of management controllers are never read", async () => {
    writeSecret({ networkData: AS_JSON });
    await readAddress();
    expect(server.takeRequests()).toEqual(["get secrets h-networkdata"]);
  });

  test("7 and 8: a host is chosen even if such credentials are missing or incomplete", async () => {
    const host = server.create("h", { spec: { ...WHOLE } });
    expect((await toClaims().take(host, { role: "Worker", standby: false }, signal)).kind).toBe(
      "done",
    );
  });

  test("9: a missing network data Secret makes a host unusable", async () => {
    expect(await readAddress()).toEqual(trouble("no Secret with its network data"));
  });

  test("10: so does a Secret without a key for network data, or without the network", async () => {
    writeSecret({ userData: AS_JSON });
    expect(await readAddress()).toEqual(trouble("an empty Secret"));
    server.kubernetes.objects.patch(
      "secrets",
      { name: "h-networkdata", namespace: HOST_NAMESPACE },
      { data: { networkData: btoa('{"networks": []}') } },
    );
    expect(await readAddress()).toEqual(trouble(`no network "${OAM}"`));
  });

  test("11: a host with an IP already extracted is not read again", async () => {
    writeSecret({ networkData: AS_JSON });
    const reader = toReader();
    await readAddress(WHOLE, reader);
    server.kubernetes.objects.delete("secrets", {
      name: "h-networkdata",
      namespace: HOST_NAMESPACE,
    });
    expect(await readAddress(WHOLE, reader)).toEqual(FOUND);
  });

  test("12: a BareMetalHost without networkData cannot become a machine", async () => {
    expect(await readAddress({})).toEqual(trouble("no network data"));
    expect(toReader().findKnownTrouble(toHost("h"), [OAM])).toBe("no network data");
  });
});

describe("what the original operator got wrong", () => {
  const WORKER = { role: "Worker", standby: false } as const;
  const OURS = { labels: toClaimLabels("a") };

  test("equal names in two namespaces are two hosts", () => {
    const [one, other] = [toHost("h", { namespace: "x" }), toHost("h", { namespace: "y" })];
    expect([...toIndex(one, other).listFree()].map(({ key }) => key)).toEqual(["x/h", "y/h"]);
  });

  test("a host that is taken between read and patch stays with the other cluster", async () => {
    const host = server.create("h");
    server.change("h", { metadata: { labels: toClaimLabels("b") } });
    const result: ClaimResult = await toClaims().take(host, WORKER, signal);
    expect(result).toEqual({ kind: "lost", why: "taken by tenant/b" });
    expect(server.findLabels("h")).toEqual(toClaimLabels("b"));
  });

  test("a host without any label can be taken", async () => {
    await toClaims().take(server.create("h"), WORKER, signal);
    expect(server.findLabels("h")).toEqual(toClaimLabels("a"));
  });

  test("a host with a consumer keeps its labels when the cluster shrinks", async () => {
    const host = server.create("h", { ...OURS, spec: { consumerRef: { name: "m" } } });
    expect((await toClaims().giveBack(host, "inUse", signal)).kind).toBe("kept");
    expect(server.findLabels("h")).toEqual(OURS.labels);
  });

  test("a deletion does not stop at a host that is gone", async () => {
    const host = toHost("h", OURS);
    expect((await toClaims().giveBack(host, "occupied", signal)).kind).toBe("gone");
  });

  test("a paused host is neither taken, nor changed, nor given back", async () => {
    const annotations = { "baremetalhost.metal3.io/paused": "" };
    const version = server.create("h", { ...OURS, annotations }).metadata.resourceVersion;
    const read = (): BareMetalHost => server.find("h") ?? toHost("h");
    expect((await toClaims().giveBack(read(), "occupied", signal)).kind).toBe("kept");
    expect((await toClaims().assign(read(), { role: "Worker", standby: true }, signal)).kind).toBe(
      "kept",
    );
    expect(read().metadata.resourceVersion).toBe(version);
    const free = { ...read(), metadata: { ...read().metadata, labels: {} } };
    expect((await toClaims().take(free, WORKER, signal)).kind).toBe("lost");
  });

  test("a DHCP network is refused, and an address with a prefix length understood", async () => {
    writeSecret({ networkData: `networks: [{id: ${OAM}, type: ipv4_dhcp}]` });
    expect(await readAddress()).toEqual(trouble(`DHCP on network "${OAM}"`));
    const data = { networkData: btoa(`networks: [{id: ${OAM}, ip_address: 32.68.51.139/24}]`) };
    const path = { name: "h-networkdata", namespace: HOST_NAMESPACE };
    server.kubernetes.objects.patch("secrets", path, { data });
    expect(await readAddress()).toEqual(FOUND);
  });

  test("network data without a namespace are those of the host's, and of another are refused", async () => {
    writeSecret({ networkData: AS_JSON });
    expect(await readAddress({ networkData: { name: "h-networkdata" } })).toEqual(FOUND);
    const foreign = { networkData: { name: "h-networkdata", namespace: "tenant" } };
    expect(await readAddress(foreign)).toEqual(trouble("network data in another namespace"));
  });

  test("key value is read, too", async () => {
    writeSecret({ value: AS_YAML });
    expect(await readAddress()).toEqual(FOUND);
  });

  test("a Secret that cannot be read is an error, never a host without an address", async () => {
    writeSecret({ networkData: AS_JSON });
    const end = server.kubernetes.faults.deny({ verb: "get", resource: "secrets" });
    await expect(readAddress()).rejects.toThrow("403");
    end();
  });
});
