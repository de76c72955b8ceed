import { describe, expect, test } from "bun:test";
import {
  isCollection,
  toController,
  toGuest,
  toHost,
  toNetwork,
  toPool,
  toServer,
  toVif,
  toVm,
  type XoRecord,
} from "../../../lib/simulator/xenorchestra/records.ts";
import { readCaptureText } from "../../support/cloud/captures.ts";

const pool = toPool({ name: "p", masterId: "m" });
const host = toHost({ name: "h", poolId: pool.id, address: "10.0.0.1" });
const network = toNetwork("n", pool.id);
const vm = toVm({
  name: "v",
  poolId: pool.id,
  hostId: host.id,
  addresses: { "0/ipv6/0": "fd00::1", "0/ipv4/0": "10.0.0.5" },
});

function kind(value: unknown): string {
  return Array.isArray(value) ? "array" : value === null ? "object" : typeof value;
}

describe("records have the fields of captured objects, with their types:", () => {
  const cases: [string, XoRecord][] = [
    ["pools", pool],
    ["hosts", host],
    ["networks", network],
    ["vms", vm],
    ["vifs", toVif(vm.id, network, 0)],
    ["servers", toServer(pool, "10.0.0.1")],
    ["vm-controllers", toController(host)],
  ];
  test.each(cases)("%s", (collection, record) => {
    const text = readCaptureText(`${collection}-all-fields`);
    const captured: Record<string, unknown>[] = JSON.parse(text).response.body;
    for (const [field, value] of Object.entries(record)) {
      const kinds = captured.filter((one) => field in one).map((one) => kind(one[field]));
      expect([field, kinds.includes(kind(value))]).toEqual([field, true]);
    }
  });
});

test("toVm() has guest fields only while it runs", () => {
  expect(vm).toMatchObject({
    mainIpAddress: "10.0.0.5",
    $container: host.id,
    power_state: "Running",
  });
  const halted = toVm({ name: "v", poolId: pool.id, hostId: host.id, power: "Halted" });
  expect(halted).toMatchObject({ $container: pool.id, addresses: {}, os_version: null });
  expect(halted).not.toHaveProperty("xenTools");
});

test("toGuest() tells no main address when there is none", () => {
  expect(toGuest({})).not.toHaveProperty("mainIpAddress");
  expect(toGuest({ "0/ipv6/0": "fd00::1" })).toMatchObject({ mainIpAddress: "fd00::1" });
});

test("isCollection() knows the collections and nothing that objects inherit", () => {
  expect(["vms", "vm-controllers"].every(isCollection)).toBe(true);
  expect(["", "VMs", "toString"].some(isCollection)).toBe(false);
});
