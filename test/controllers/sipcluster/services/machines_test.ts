/**
 * What services know of the addresses of hosts whose network data cannot be read.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { NetworkData } from "../../../../lib/controllers/sipcluster/hosts/network_data.ts";
import type { HostStatus } from "../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import {
  type Member,
  judgeHosts,
  listMachines,
  listNetworks,
} from "../../../../lib/controllers/sipcluster/services/machines.ts";

function toData(addresses: Readonly<Record<string, string>>): NetworkData {
  return { addresses: new Map(Object.entries(addresses)), problems: new Map() };
}

function toStatus(networks?: Readonly<Record<string, string>>): HostStatus {
  const place = { namespace: "metal", name: "w", role: "Worker", standby: false } as const;
  return { ...place, addresses: ["192.0.2.9"], ...(networks && { networks }) };
}

function member(fields: Partial<Member> = {}): Member {
  return {
    key: "metal/w",
    uid: "uid-w",
    namespace: "metal",
    name: "w",
    assigned: { cluster: "tenant/a", role: "Worker", standby: false },
    secret: "w-data",
    ...fields,
  };
}

const GONE = { networks: { problem: "no Secret with its network data" } };
const HERE = toData({ oam: "192.0.2.1", other: "192.0.2.2" });

describe("listMachines()", () => {
  test.each<[string, Partial<Member>, Record<string, string>, string[]]>([
    [
      "what is read now",
      { networks: HERE, last: toData({ oam: "192.0.2.7" }) },
      { oam: "192.0.2.1" },
      [],
    ],
    [
      "that none is there",
      { networks: toData({}), status: toStatus({ oam: "192.0.2.3" }) },
      {},
      [],
    ],
    [
      "what was read last",
      { ...GONE, last: HERE, status: toStatus({ oam: "192.0.2.3" }) },
      { oam: "192.0.2.1" },
      [],
    ],
    [
      "that there was none",
      { ...GONE, last: toData({}), status: toStatus({ oam: "192.0.2.3" }) },
      {},
      [],
    ],
    [
      "what the status says",
      { ...GONE, status: toStatus({ oam: "192.0.2.3" }) },
      { oam: "192.0.2.3" },
      [],
    ],
    ["nothing from a status without networks", { ...GONE, status: toStatus() }, {}, ["oam"]],
    [
      "nothing from a status of another network",
      { ...GONE, status: toStatus({ x: "::1" }) },
      {},
      ["oam"],
    ],
    ["nothing", GONE, {}, ["oam"]],
    ["nothing, and needs nothing", {}, {}, []],
  ])("knows %s", (_what, fields, addresses, unknown) => {
    const { machines } = listMachines([member(fields)], ["oam"]);
    expect(machines.map((one) => Object.fromEntries(one.addresses))).toEqual([addresses]);
    expect([...(machines[0]?.unknown ?? [])]).toEqual(unknown);
  });

  test("names each host that must be read again soon", () => {
    const members = [
      member({ ...GONE, last: HERE }),
      member({ ...GONE, key: "metal/x" }),
      member({ networks: toData({}), key: "metal/y" }),
      member({ networks: HERE, key: "metal/z" }),
    ];
    expect(listMachines(members, ["oam"]).troubled).toEqual(["metal/w", "metal/x", "metal/y"]);
  });
});

describe("judgeHosts()", () => {
  test("has nothing to say of hosts with their addresses", () => {
    expect(judgeHosts(listMachines([member({ networks: HERE })], ["oam"]))).toEqual([]);
  });

  test("is ready with last known addresses, and names host and Secret", () => {
    expect(judgeHosts(listMachines([member({ ...GONE, last: HERE })], ["oam"]))[0]).toEqual({
      service: "hosts",
      isReady: true,
      reason: "LastKnownAddresses",
      message:
        "the last known addresses of these hosts count: metal/w (no Secret with its network data: Secret w-data)",
    });
  });

  test("is not ready if an address is not known, and names host and Secret", () => {
    const lists = listMachines([member(GONE), member({ networks: HERE })], ["oam"]);
    expect(judgeHosts(lists)[0]).toEqual({
      service: "hosts",
      isReady: false,
      reason: "AddressesUnknown",
      message:
        "the addresses of these hosts are not known: metal/w (no Secret with its network data: Secret w-data). " +
        "Landfall leaves services that need them as they are",
    });
  });

  test("names hosts with the same address, and is ready", () => {
    const twins = ["a", "b"].map((name) => member({ name, key: `metal/${name}`, networks: HERE }));
    expect(judgeHosts(listMachines(twins, ["oam"]))[0]).toEqual({
      service: "hosts",
      isReady: true,
      reason: "AddressConflict",
      message: 'hosts have the same address: 192.0.2.1 on network "oam" (metal/a, metal/b)',
    });
  });

  test.each([
    [true, "one of two hosts", [member({ networks: toData({}) }), member({ networks: HERE })]],
    [false, "every host", [member({ networks: toData({}) })]],
  ])("is ready: %s, if %s is known to have no address", (isReady, _what, members) => {
    const [state] = judgeHosts(listMachines(members, ["oam"]));
    expect(state).toMatchObject({ isReady });
    expect(state?.message).toBe('BareMetalHost metal/w has no network "oam"');
  });
});

test("listNetworks() names each network of any service once, sorted, without empty names", () => {
  const range = { start: 30002, end: 30003 };
  const services = {
    loadBalancerControlPlane: [{ nodeInterfaceId: "oam", nodePort: 1 }],
    loadBalancerWorker: [
      { nodeInterfaceId: "storage", nodePortRange: range },
      { nodeInterfaceId: "oam", nodePortRange: range },
    ],
    auth: [{ nodeInterfaceId: "", nodePort: 2 }, { nodePort: 3 }],
  };
  expect(listNetworks(services)).toEqual(["oam", "storage"]);
  expect(listNetworks({})).toEqual([]);
});
