import { expect, test } from "bun:test";
import {
  isCollection,
  toGuest,
  toHost,
  toPool,
  toVm,
} from "../../../lib/simulator/xenorchestra/records.ts";

const pool = toPool({ name: "p", masterId: "m" });
const host = toHost({ name: "h", poolId: pool.id, address: "10.0.0.1" });
const vm = toVm({
  name: "v",
  poolId: pool.id,
  hostId: host.id,
  addresses: { "0/ipv6/0": "fd00::1", "0/ipv4/0": "10.0.0.5" },
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
