import { describe, expect, test } from "bun:test";
import {
  findOwnRegion,
  findOwnZone,
  listUnfitEntries,
  type Places,
} from "../../../../lib/providers/xenorchestra/model/own_places.ts";
import { toUuid } from "../../../../lib/simulator/uuid.ts";

const [A, B, C] = [toUuid("a"), toUuid("b"), toUuid("c")];
const [H1, H2, H3] = [toUuid("h1"), toUuid("h2"), toUuid("h3")];

/** Pools and hosts by ID, each with its name. */
function toPlaces(
  pools: Record<string, string | null>,
  hosts: Record<string, string | null> = {},
): Places {
  const toMap = (names: Record<string, string | null>) =>
    new Map(Object.entries(names).map(([id, name_label]) => [id, { id, name_label }]));
  return { pools: toMap(pools), hosts: toMap(hosts) };
}

const PLACES = toPlaces({ [A]: "paris", [B]: "twin", [C]: "twin" }, { [H1]: "one", [H2]: null });

describe("findOwnRegion()", () => {
  test.each([
    ["by ID", A, { [A]: "eu" }, { kind: "named", label: "eu" }],
    ["by name", A, { paris: "eu" }, { kind: "named", label: "eu" }],
    ["by ID rather than by name", A, { paris: "no", [A]: "eu" }, { kind: "named", label: "eu" }],
    ["not without an entry", A, { lyon: "eu" }, { kind: "none" }],
    ["not by a name that two pools have", B, { twin: "eu" }, { kind: "unknown" }],
    [
      "by ID although two pools have its name",
      B,
      { twin: "no", [B]: "eu" },
      { kind: "named", label: "eu" },
    ],
    ["not by a name while its own is not known", H3, { paris: "eu" }, { kind: "unknown" }],
    ["not at all where only IDs are named", H3, { [A]: "eu" }, { kind: "none" }],
    ["not by what every object has", A, { constructor: "eu" }, { kind: "none" }],
  ] as const)("finds a pool %s", (_title, poolId, regions, expected) => {
    expect<object>(findOwnRegion(poolId, PLACES, new Map(Object.entries(regions)))).toEqual(
      expected,
    );
  });
});

describe("findOwnZone()", () => {
  test.each([
    ["its own", H1, { one: "z1", paris: "z" }, { kind: "named", label: "z1" }],
    ["that of its pool", H1, { two: "z2", paris: "z" }, { kind: "named", label: "z" }],
    ["none without an entry", H1, { two: "z2" }, { kind: "none" }],
    [
      "an unknown one while its name is not known",
      H2,
      { one: "z1", paris: "z" },
      { kind: "unknown" },
    ],
    ["that of its pool by ID", H2, { [A]: "z" }, { kind: "named", label: "z" }],
  ] as const)("gives a host %s", (_title, hostId, zones, expected) => {
    expect<object>(findOwnZone(hostId, A, PLACES, new Map(Object.entries(zones)))).toEqual(
      expected,
    );
  });
});

test("listUnfitEntries() names entries that match nothing, or several places", () => {
  const regions = new Map([
    ["paris", "a"],
    ["twin", "b"],
    ["gone", "c"],
    [H1, "a host is no region"],
  ]);
  const zones = new Map([
    ["one", "a"],
    ["paris", "b"],
    [H2, "c"],
    ["gone", "d"],
    ["twin", "e"],
  ]);
  expect(listUnfitEntries(PLACES, { regions, zones })).toEqual([
    { setting: "regions", entry: "twin", isAmbiguous: true },
    { setting: "regions", entry: "gone", isAmbiguous: false },
    { setting: "regions", entry: H1, isAmbiguous: false },
    { setting: "zones", entry: "gone", isAmbiguous: false },
    { setting: "zones", entry: "twin", isAmbiguous: true },
  ]);
  expect(listUnfitEntries(PLACES, {})).toEqual([]);
});
