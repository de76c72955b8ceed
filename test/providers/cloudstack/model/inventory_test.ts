import { describe, expect, test } from "bun:test";
import {
  findUnreadableNames,
  isDead,
  isGone,
  isNetworkMissing,
  lacksNetwork,
  toAddresses,
  toInstanceState,
  toInventory,
  toNoNetwork,
} from "../../../../lib/providers/cloudstack/model/inventory.ts";
import type { ObjectList } from "../../../../lib/providers/cloudstack/session/lists.ts";
import type { Vm } from "../../../../lib/providers/cloudstack/wire/schema.ts";
import { parseCidr } from "../../../../lib/core/net/ip.ts";
import { toPlaces } from "../../../../lib/providers/cloudstack/model/places.ts";
import { toInstance } from "../../../support/cloud/instances.ts";

const SETTINGS = {
  addresses: { exclude: [], externalCidrs: [] },
  instanceTypeStyle: "squeezed",
} as const;
const OPTIONS = {
  settings: SETTINGS,
  zones: new Map([["z", "zone-1"]]),
  before: undefined,
  observedAtMs: 7,
};

function toList(vms: readonly Vm[], gap?: string): ObjectList<Vm> {
  return { objects: vms, undecodable: new Map(), ...(gap === undefined ? {} : { gap }) };
}

describe("toInventory()", () => {
  test("covers every zone that was ever shown, in full", () => {
    const { coverage, observedAtMs } = toInventory(toList([]), OPTIONS);
    expect([...coverage]).toEqual([["z", { complete: true, name: "zone-1" }]]);
    expect(observedAtMs).toBe(7);
  });

  test("covers nothing in full when the list is not whole, not even before a zone was shown", () => {
    for (const zones of [OPTIONS.zones, new Map<string, string>()]) {
      const { coverage } = toInventory(toList([], "a page is missing"), { ...OPTIONS, zones });
      expect(coverage.size).toBe(1);
      expect([...coverage.values()]).toMatchObject([
        { complete: false, reason: "a page is missing" },
      ]);
    }
  });

  test("lacks what is gone for good, and shows what can be recovered", () => {
    const states = ["Running", "Destroyed", "Expunging", "Expunged"];
    const { instances } = toInventory(
      toList(states.map((state) => ({ id: state, state }))),
      OPTIONS,
    );
    expect([...instances.keys()]).toEqual(["Running", "Destroyed"]);
  });

  test("keeps the names of VMs that cannot be read", () => {
    const unreadable = [{ name: "One" }, { name: 7 }, {}];
    const inventory = toInventory({ ...toList([]), unreadable }, OPTIONS);
    expect(findUnreadableNames(inventory)).toEqual(new Set(["one"]));
    expect(findUnreadableNames(toInventory(toList([]), OPTIONS)).size).toBe(0);
  });

  test("keeps equal instances, and the whole map if all are equal", () => {
    const vms = [
      { id: "a", state: "Running" },
      { id: "b", state: "Running" },
    ];
    const before = toInventory(toList(vms), OPTIONS);
    const same = toInventory(toList(vms.map((vm) => ({ ...vm }))), { ...OPTIONS, before });
    expect(same.instances).toBe(before.instances);
    const [a, b] = vms;
    const changed = toInventory(
      toList([
        { ...a, id: "a", state: "Stopped" },
        { id: "b", ...b },
      ]),
      {
        ...OPTIONS,
        before,
      },
    );
    expect(changed.instances.get("b")).toBe(before.instances.get("b"));
    expect(changed.instances.get("a")?.state).toBe("stopped");
    expect(toInventory(toList(vms.slice(0, 1)), { ...OPTIONS, before }).instances.size).toBe(1);
  });
});

describe("isNetworkMissing()", () => {
  const addresses = { ...SETTINGS.addresses, network: "nosuch" };
  const options = { ...OPTIONS, settings: { ...SETTINGS, addresses } };
  const front = { id: "a", nic: [{ networkname: "front" }] };
  const back = { id: "b", nic: [{ networkname: "nosuch" }] };

  test("is certain only of a whole list of VMs", () => {
    expect(isNetworkMissing(toInventory(toList([front]), options))).toBe(true);
    expect(isNetworkMissing(toInventory(toList([front, back]), options))).toBe(false);
    expect(isNetworkMissing(toInventory(toList([front], "a page is missing"), options))).toBe(
      false,
    );
    const undecodable = new Map([["b", "no text"]]);
    const list = { ...toList([front]), undecodable };
    expect(isNetworkMissing(toInventory(list, options))).toBe(false);
    expect(isNetworkMissing(toInventory(toList([front]), OPTIONS))).toBe(false);
  });
});

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

test.each([
  ["Running", "running"],
  ["Starting", "running"],
  ["Stopping", "running"],
  ["Migrating", "running"],
  ["Stopped", "stopped"],
  ["Shutdown", "stopped"],
  ["Destroyed", "stopped"],
  ["Error", "unknown"],
  ["Unknown", "unknown"],
  ["Expunging", "unknown"],
  ["Restoring", "unknown"],
  [undefined, "unknown"],
  [null, "unknown"],
] as const)("toInstanceState() of %p is %p", (state, expected) => {
  expect(toInstanceState(state)).toBe(expected);
});

test("only a VM that is expunged is gone, and a destroyed one or one never made is dead", () => {
  const states = ["Running", "Stopped", "Destroyed", "Expunging", "Expunged", "Error", undefined];
  expect(states.filter(isGone)).toEqual(["Expunging", "Expunged"]);
  expect(states.filter(isDead)).toEqual(["Destroyed", "Error"]);
});

const LABELS = {
  "topology.kubernetes.io/region": "west",
  "topology.kubernetes.io/zone": "lyon",
};
const REGION = { kind: "region", id: "west" };
const ZONE = { kind: "zone", id: "lyon" };

test.each([
  ["the zone alone, which is also the region", { region: "lyon", zone: "lyon" }, [ZONE]],
  ["a region of the settings", { region: "west", zone: "lyon" }, [REGION, ZONE]],
])("toPlaces() lists %s", (_what, more, places) => {
  expect(toPlaces(toInstance("a", more), {})).toEqual(places);
});

test("toPlaces() goes by the labels of a Node whose VM is not shown", () => {
  expect(toPlaces(undefined, LABELS)).toEqual([REGION, ZONE]);
  expect(toPlaces(undefined, {})).toEqual([]);
});
