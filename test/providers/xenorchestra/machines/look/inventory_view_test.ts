import { expect, test } from "bun:test";
import {
  readVms,
  toInventoryView,
} from "../../../../../lib/providers/xenorchestra/machines/look/inventory_view.ts";

const ID = "5be2b0ce-0000-4000-8000-000000000001";
const LISTING = {
  origin: {},
  source: {},
  inventory: {
    observedAtMs: 7,
    instances: new Map(),
    coverage: new Map([
      ["p", { complete: true, name: "paris" }],
      ["q", { complete: false }],
    ]),
    undecodable: new Map(),
  },
  vms: [
    { id: ID, $pool: "p", name_label: "vino-1b4e28ba-a-0", tags: ["vino:ready=x"] },
    { id: ID, $pool: "p", name_label: "web" },
    { id: ID, $pool: "p" },
  ],
  hosts: [{ id: "h", $pool: "p", name_label: "xcp", enabled: false }],
};

test("toInventoryView() shows what the last inventory showed, and is not for a change", () => {
  const view = toInventoryView(LISTING, readVms(LISTING.vms), 9);
  expect(view).toMatchObject({ observedAtMs: 7, atMs: 9, isForChange: false });
  expect(view.stock).toBeUndefined();
  expect(view.pools).toEqual([
    { id: "p", name: "paris", isComplete: true },
    { id: "q", name: "q", isComplete: false },
  ]);
  expect([...view.machines.keys()]).toEqual(["vino-1b4e28ba-a-0"]);
  expect(view.hosts).toEqual([{ id: "h", name: "xcp", poolId: "p", tags: [], isEnabled: false }]);
});

test("readVms() leaves out what it cannot read", () => {
  expect(readVms(LISTING.vms).map(({ name }) => name)).toEqual(["vino-1b4e28ba-a-0", "web"]);
});
