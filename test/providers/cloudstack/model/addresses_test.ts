import { describe, expect, test } from "bun:test";
import { parseCidr } from "../../../../lib/core/net/ip.ts";
import {
  lacksNetwork,
  toAddresses,
  toNoNetwork,
} from "../../../../lib/providers/cloudstack/model/addresses.ts";

const PLAIN = { exclude: [], externalCidrs: [] };

function choose(vm: Parameters<typeof toAddresses>[0], over: object = {}): string {
  return toAddresses(vm, { ...PLAIN, ...over })
    .addresses.map(({ type, address }) => `${type === "InternalIP" ? "in" : "ex"} ${address}`)
    .join(", ");
}

describe("toAddresses()", () => {
  test.each([
    ["no interface", { nic: null }, ""],
    ["an interface without an address", { nic: [{ isdefault: true }] }, ""],
    [
      "the default interface comes first",
      {
        nic: [
          { ipaddress: "10.2.0.1", isdefault: false },
          { ipaddress: "10.1.0.1", isdefault: true },
        ],
      },
      "in 10.1.0.1",
    ],
    [
      "the others follow by their place in the VM, whatever the order of the list",
      {
        nic: [
          { ipaddress: "8.8.0.9" },
          { ipaddress: "8.8.0.2", deviceid: "10" },
          { ipaddress: "8.8.0.3", deviceid: 2 },
          { ipaddress: "8.8.0.1", deviceid: "11", isdefault: true },
        ],
      },
      "in 8.8.0.1, ex 8.8.0.3, ex 8.8.0.2, ex 8.8.0.9",
    ],
    [
      "both families, each by itself",
      { nic: [{ ipaddress: "10.1.0.1" }, { ipaddress: "10.2.0.1", ip6address: "fd00::2" }] },
      "in 10.1.0.1, in fd00::2",
    ],
    [
      "a routable address is external",
      { nic: [{ ipaddress: "10.1.0.1", isdefault: true }, { ipaddress: "8.8.1.5" }] },
      "in 10.1.0.1, ex 8.8.1.5",
    ],
    [
      "the address of a static NAT is external, even if it is private",
      { nic: [{ ipaddress: "10.1.0.1" }], publicip: "192.168.2.30" },
      "in 10.1.0.1, ex 192.168.2.30",
    ],
    [
      "with no address but that of a static NAT, none is known: the Node keeps its InternalIP",
      { nic: [], publicip: "8.8.0.7" },
      "",
    ],
    [
      "what is no address of a host is left out",
      { nic: [{ ipaddress: "127.0.0.1", ip6address: "fe80::1" }, { ipaddress: "no address" }] },
      "",
    ],
  ])("toAddresses(): %s", (_title, vm, expected) => {
    expect(choose(vm)).toBe(expected);
  });

  test("leaves out what the settings exclude, static NAT too", () => {
    const exclude = [parseCidr("10.1.0.0/16"), parseCidr("8.8.0.0/16")];
    const vm = { nic: [{ ipaddress: "10.1.0.1" }, { ipaddress: "10.2.0.1" }], publicip: "8.8.0.7" };
    expect(choose(vm, { exclude })).toBe("in 10.2.0.1");
  });

  test("takes only the network of the settings, by name or ID", () => {
    const id = "0a1b2c3d-0000-4000-8000-00000000000f";
    const vm = {
      nic: [
        { ipaddress: "10.1.0.1", networkname: "front", isdefault: true },
        { ipaddress: "10.2.0.1", networkname: "back", networkid: id },
      ],
    };
    expect(choose(vm, { network: "back" })).toBe("in 10.2.0.1");
    expect(choose(vm, { network: id.toUpperCase() })).toBe("in 10.2.0.1");
  });

  test.each([
    ["a network that the VM is not in", { network: "nosuch" }],
    ["an exclusion of all its own addresses", { exclude: [parseCidr("10.0.0.0/8")] }],
  ])("knows no address when the settings leave only a static NAT: %s", (_what, over) => {
    const vm = { nic: [{ ipaddress: "10.1.0.1", networkname: "front" }], publicip: "8.8.0.7" };
    expect(choose(vm)).toBe("in 10.1.0.1, ex 8.8.0.7");
    expect(choose(vm, over)).toBe("");
  });

  test("keeps the static NAT of a VM whose own address is declared external", () => {
    const vm = { nic: [{ ipaddress: "10.1.0.1" }], publicip: "8.8.0.7" };
    const externalCidrs = [parseCidr("10.0.0.0/8")];
    expect(choose(vm, { externalCidrs })).toBe("ex 10.1.0.1, ex 8.8.0.7");
  });

  test("counts what the settings declare external", () => {
    const vm = { nic: [{ ipaddress: "10.1.0.1" }, { ipaddress: "172.16.0.1" }] };
    expect(choose(vm, { externalCidrs: [parseCidr("172.16.0.0/12")] })).toBe(
      "in 10.1.0.1, ex 172.16.0.1",
    );
  });
});

describe("lacksNetwork()", () => {
  const vms = [{ nic: null }, { nic: [{ networkname: "front" }] }];
  test.each([
    ["no network is named", vms, {}, false],
    ["one VM is in it", vms, { network: "front" }, false],
    ["there are no VMs", [], { network: "nosuch" }, false],
    ["no VM is in it", vms, { network: "nosuch" }, true],
  ])("when %s", (_what, list, settings, expected) => {
    expect(lacksNetwork(list, settings)).toBe(expected);
  });
});

test("toNoNetwork() names the network", () => {
  expect(toNoNetwork("nosuch")).toBe('no VM has a network with the name or ID "nosuch"');
});
