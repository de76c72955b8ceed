import { describe, expect, test } from "bun:test";
import {
  findUnreadableNames,
  isNetworkMissing,
  toInventory,
} from "../../../../lib/providers/cloudstack/model/inventory.ts";
import type { ObjectList } from "../../../../lib/providers/cloudstack/session/lists.ts";
import type { Vm } from "../../../../lib/providers/cloudstack/wire/schema.ts";

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
    const unreadableNames = new Set(["one"]);
    const inventory = toInventory({ ...toList([]), unreadableNames }, OPTIONS);
    expect(findUnreadableNames(inventory)).toEqual(unreadableNames);
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
