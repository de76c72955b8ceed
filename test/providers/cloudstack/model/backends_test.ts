import { expect, test } from "bun:test";
import { toBackends } from "../../../../lib/providers/cloudstack/model/backends.ts";
import type { ObjectList } from "../../../../lib/providers/cloudstack/session/lists.ts";
import type { Vm } from "../../../../lib/providers/cloudstack/wire/schema.ts";

function toList(vms: readonly Vm[], over: Partial<ObjectList<Vm>> = {}): ObjectList<Vm> {
  return { objects: vms, undecodable: new Map(), ...over };
}

test("toBackends() keeps the interfaces of each VM, the default one first", () => {
  const nic = [
    { networkid: "B", ipaddress: "10.0.0.2", deviceid: "2" },
    { networkid: "a", ipaddress: "10.1.0.1", ip6address: "2001:DB8::1", isdefault: true },
    { networkid: "c", ipaddress: null, deviceid: 1 },
    { ipaddress: "10.2.0.1" },
  ];
  const { vms, isWhole, observedAtMs } = toBackends(
    toList([{ id: "vm", state: "Running", nic }, { id: "bare" }]),
    5,
  );
  expect([isWhole, observedAtMs]).toEqual([true, 5]);
  expect(vms.get("vm")).toEqual({
    id: "vm",
    isGone: false,
    nics: [
      { networkId: "a", ips: ["10.1.0.1", "2001:db8::1"] },
      { networkId: "c", ips: [] },
      { networkId: "b", ips: ["10.0.0.2"] },
    ],
  });
  expect(vms.get("bare")).toEqual({ id: "bare", isGone: false, nics: [] });
});

test.each([
  ["Running", false],
  ["Stopped", false],
  ["Destroyed", true],
  ["Expunging", true],
  ["Error", true],
  ["Unknown", false],
])("a VM that is %s can be a backend: unless %p", (state, isGone) => {
  expect(toBackends(toList([{ id: "vm", state }]), 5).vms.get("vm")?.isGone).toBe(isGone);
});

test("a list with a gap, or with a VM that cannot be read, does not show all VMs", () => {
  expect(toBackends(toList([], { gap: "a page is missing" }), 5).isWhole).toBe(false);
  expect(toBackends(toList([], { undecodable: new Map([["vm", "odd"]]) }), 5).isWhole).toBe(false);
});
