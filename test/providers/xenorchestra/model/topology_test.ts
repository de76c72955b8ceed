import { describe, expect, test } from "bun:test";
import type { Places } from "../../../../lib/providers/xenorchestra/model/own_places.ts";
import {
  findRegionLabel,
  findZone,
} from "../../../../lib/providers/xenorchestra/model/topology.ts";
import { toUuid } from "../../../../lib/simulator/uuid.ts";

const POOL = toUuid("pool");
const [H1, H2] = [toUuid("h1"), toUuid("h2")];
const PLACES: Places = {
  pools: new Map([[POOL, { id: POOL, name_label: "paris" }]]),
  hosts: new Map([
    [H1, { id: H1, name_label: "one", $pool: POOL, tags: ["rack=r1"] }],
    [H2, { id: H2, name_label: "two", $pool: POOL }],
  ]),
};
const HOST = { kind: "host" } as const;
const NONE = { kind: "none" } as const;
const TAG = { kind: "hostTag", prefix: "rack=" } as const;

test("findRegionLabel() names the region, leaves it to the pool's ID, or does not know", () => {
  const find = (regions?: Record<string, string>, poolId = POOL): string | undefined =>
    findRegionLabel(poolId, PLACES, regions ? { regions: new Map(Object.entries(regions)) } : {});
  expect(find({ paris: "eu" })).toBe("eu");
  expect(find({ lyon: "eu" })).toBeUndefined();
  expect(find()).toBeUndefined();
  expect(find({ paris: "eu" }, H1)).toBe("");
});

describe("findZone()", () => {
  test.each([
    ["a host", H1, HOST, undefined, H1],
    ["a host that is not known", undefined, HOST, undefined, undefined],
    ["a pool", undefined, { kind: "pool" } as const, undefined, POOL],
    ["a tag of the host", H1, TAG, undefined, "r1"],
    ["a host without that tag", H2, TAG, undefined, undefined],
    ["nothing, when no zone is wanted", H1, NONE, undefined, undefined],
    ["nothing, when no zone is wanted, whatever else is set", H1, NONE, { one: "a" }, undefined],
    ["an entry of the host", H1, HOST, { one: "a", paris: "b" }, "a"],
    ["an entry of the pool", H2, HOST, { one: "a", paris: "b" }, "b"],
    ["the host where no entry fits", H2, HOST, { one: "a" }, H2],
  ] as const)("goes by %s", (_title, hostId, zoneLabelFrom, zones, expected) => {
    const settings = { zoneLabelFrom, ...(zones && { zones: new Map(Object.entries(zones)) }) };
    expect(findZone({ hostId, poolId: POOL }, PLACES, settings)).toBe(expected);
  });

  test.each([
    ["that of its pool, where all hosts have it", HOST, { paris: "b" }, "b"],
    ["none, where a host of its pool has another", HOST, { one: "a", paris: "b" }, undefined],
    ["that which all hosts have by themselves", HOST, { one: "a", two: "a" }, "a"],
    ["none, where some hosts have entries", { kind: "pool" } as const, { one: "a" }, undefined],
  ] as const)("gives a VM that does not run %s", (_title, zoneLabelFrom, zones, expected) => {
    const settings = { zoneLabelFrom, zones: new Map(Object.entries(zones)) };
    expect(findZone({ hostId: undefined, poolId: POOL }, PLACES, settings)).toBe(expected);
  });

  test("gives none in a pool that shows no hosts", () => {
    const places = { ...PLACES, hosts: new Map() };
    const settings = { zoneLabelFrom: HOST, zones: new Map([["paris", "b"]]) };
    expect(findZone({ hostId: undefined, poolId: POOL }, places, settings)).toBeUndefined();
  });
});
