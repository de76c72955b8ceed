import { expect, test } from "bun:test";
import type { Coverage } from "../../../../../lib/cloud/inventory/inventory.ts";
import {
  type PoolsQuestion,
  provePools,
} from "../../../../../lib/providers/xenorchestra/machines/look/pools_proof.ts";

const SHOWN = {
  pools: [{ id: "p", name_label: "paris", master: "h" }],
  hosts: [{ id: "h", $pool: "p" }],
};
const server = { id: "s", status: "connected", enabled: true, poolId: "p" };
const QUESTION: PoolsQuestion = {
  before: SHOWN,
  after: SHOWN,
  loaded: new Set(["p"]),
  servers: { objects: [server], undecodable: new Map() },
  coverage: new Map(),
};
const down = { ...server, id: "t", label: "lyon", status: "disconnected", poolId: null };

test.each<[string, Partial<PoolsQuestion>, boolean, RegExp | undefined]>([
  ["that is shown before and after", {}, true, undefined],
  ["that vanished meanwhile", { after: { pools: [], hosts: [] } }, false, /paris is disconnected/],
  ["whose master vanished", { after: { ...SHOWN, hosts: [] } }, false, /paris/],
  [
    "whose master is in another pool",
    { before: { ...SHOWN, hosts: [{ id: "h", $pool: "q" }] } },
    false,
    /paris/,
  ],
  ["whose VMs are not loaded", { loaded: new Set() }, false, /paris/],
  [
    "beside a connection that is down",
    { servers: { objects: [server, down], undecodable: new Map() } },
    true,
    /lyon/,
  ],
  ["beside connections that cannot be read", { servers: "refused" }, true, undefined],
])("provePools() of a pool %s", (_what, over, isComplete, gap) => {
  const proven = provePools({ ...QUESTION, ...over });
  expect(proven.pools).toEqual([{ id: "p", name: "paris", isComplete }]);
  if (gap === undefined) expect(proven.gap).toBeUndefined();
  else expect(proven.gap).toMatch(gap);
});

test("provePools() knows pools that were shown earlier", () => {
  const coverage = new Map<string, Coverage>([
    ["q", { complete: false, name: "lyon" }],
    ["r", { complete: false, isOnlyNamed: true }],
  ]);
  const { pools, gap } = provePools({ ...QUESTION, coverage });
  expect(pools.map(({ id, isComplete }) => [id, isComplete])).toEqual([
    ["p", true],
    ["q", false],
  ]);
  expect(gap).toContain("lyon");
});

test("provePools() does not take an empty cloud for a whole one", () => {
  const nothing = { pools: [], hosts: [] };
  expect(provePools({ ...QUESTION, before: nothing, after: nothing }).gap).toBe(
    "Xen Orchestra shows no pool",
  );
});
