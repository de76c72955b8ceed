/**
 * Questions about addresses right before one is taken or released.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { Acting } from "../../../../../lib/providers/cloudstack/load_balancers/apply/acting.ts";
import {
  isFree,
  isIn,
  listFree,
  readAddress,
} from "../../../../../lib/providers/cloudstack/load_balancers/apply/addresses.ts";
import { RecordWriter } from "../../../../../lib/providers/cloudstack/load_balancers/apply/record_writer.ts";
import type { PublicAddress } from "../../../../../lib/providers/cloudstack/load_balancers/view.ts";
import { OWNER, useApply } from "./apply_rig.ts";
import { SIGNER } from "../objects.ts";

const rig = useApply();
const { signal } = new AbortController();

function toActing(): Acting {
  const { session, store, clock, projectId, random } = rig;
  const record = new RecordWriter(rig.record, { owner: OWNER }, SIGNER, signal);
  return { session, store, clock, projectId, random, record, owner: OWNER, signal };
}

function listIps(addresses: readonly PublicAddress[]): string[] {
  return addresses.map(({ ip }) => ip);
}

const ADDRESS: PublicAddress = {
  id: "a",
  ip: "192.0.2.1",
  state: "Free",
  isSourceNat: false,
  isStaticNat: false,
  tags: new Map(),
};

describe("listFree()", () => {
  test("lists free addresses of the zone of the network, in one question", async () => {
    await rig.look();
    rig.simulator.requests.reset();
    const place = { networkId: rig.networkId };
    expect(listIps(await listFree({ place }, toActing()))).toEqual([
      "192.0.2.12",
      "192.0.2.13",
      "192.0.2.14",
      "192.0.2.15",
      "192.0.2.16",
      "192.0.2.17",
    ]);
    expect(rig.simulator.requests.total).toBe(1);
    const [asked] = rig.simulator.requests.entries;
    expect(asked?.parameters.get("zoneid")).toBe(rig.story.zoneIds.paris);
    expect(asked?.parameters.get("pagesize")).toBe("20");
  });

  test.each([
    ["192.0.2.15", ["192.0.2.15"]],
    ["192.0.2.11", []],
    ["203.0.113.1", []],
  ])("of %s only lists %p", async (ip, listed) => {
    await rig.look();
    const place = { networkId: rig.networkId };
    expect(listIps(await listFree({ place, ip }, toActing()))).toEqual(listed);
  });

  test("a server that ignores the questions for one address does not make another one the choice", async () => {
    await rig.look();
    const body = {
      listpublicipaddressesresponse: {
        count: 3,
        publicipaddress: [
          { id: OWNER.uid, ipaddress: "192.0.2.50", state: "Free" },
          { id: "no ID", ipaddress: "192.0.2.15", state: "Free" },
          { id: OWNER.uid, ipaddress: "192.0.2.15", state: "Allocated" },
        ],
      },
    };
    rig.simulator.faults.set({ kind: "json", body }, { command: "listPublicIpAddresses" });
    const place = { networkId: rig.networkId };
    expect(await listFree({ place, ip: "192.0.2.15" }, toActing())).toEqual([]);
    expect(await readAddress(rig.networkId, toActing())).toBeUndefined();
  });

  test("a role that may not ask shows none; a server that does not answer is no answer", async () => {
    await rig.look();
    const place = { networkId: rig.networkId };
    rig.simulator.faults.set({ kind: "error", code: 432, text: "no" }, { times: 1 });
    expect(await listFree({ place }, toActing())).toEqual([]);
    rig.simulator.faults.set({ kind: "error", code: 530, text: "no" });
    const failed = await listFree({ place }, toActing()).catch((error: unknown) => error);
    expect(failed).toMatchObject({ kind: "unreachable" });
  });
});

describe("readAddress()", () => {
  test("reads an address of the account, or a free one", async () => {
    await rig.look();
    for (const ip of ["192.0.2.11", "192.0.2.12"]) {
      expect((await readAddress(rig.ipId(ip), toActing()))?.ip).toBe(ip);
    }
  });
});

test("an address is free only if it belongs to no place", () => {
  expect(isFree(ADDRESS)).toBe(true);
  expect(isFree({ ...ADDRESS, state: "Allocated" })).toBe(false);
  expect(isFree({ ...ADDRESS, networkId: "n" })).toBe(false);
  expect(isFree({ ...ADDRESS, vpcId: "v" })).toBe(false);
});

test("an address of a VPC is in it whatever tier it serves", () => {
  const address = { ...ADDRESS, networkId: "tier", vpcId: "vpc" };
  expect(isIn(address, { vpcId: "vpc" })).toBe(true);
  expect(isIn(address, { vpcId: "other" })).toBe(false);
  expect(isIn(address, { networkId: "tier" })).toBe(true);
  expect(isIn(ADDRESS, { networkId: "tier" })).toBe(false);
});
