import { describe, expect, test } from "bun:test";
import {
  choosePool,
  findUnmatched,
  isChosen,
  isExcluded,
} from "../../../../lib/controllers/vino/placement/choice.ts";
import type { VinoHosts } from "../../../../lib/controllers/vino/resource/vino.ts";
import { toDoubleHost } from "../../../support/vino/machines_double.ts";

const lyon = { id: "p-1", name: "lyon", isComplete: true };
const paris = { id: "p-2", name: "paris", isComplete: true };

describe("choosePool()", () => {
  test.each([
    ["the only one", [lyon], undefined, "p-1"],
    ["one by its ID", [lyon, paris], "p-2", "p-2"],
    ["one by its name", [lyon, paris], "paris", "p-2"],
    [
      "the one whose ID it is, although another has it as a name",
      [{ ...lyon, name: "p-2" }, paris],
      "p-2",
      "p-2",
    ],
  ])("finds %s", (_title, pools, wanted, id) => {
    expect(choosePool(pools, wanted)).toMatchObject({ pool: { id } });
  });

  test.each([
    ["none is shown", [], undefined, "Set spec.xenOrchestra.pool, because the cloud shows no pool"],
    ["there are several", [lyon, paris], undefined, "2 pools: lyon (p-1), paris (p-2)"],
    [
      "it is not shown",
      [lyon],
      "paris",
      'The cloud does not show pool "paris". It shows: lyon (p-1)',
    ],
    [
      "a name is that of two",
      [lyon, { ...paris, name: "lyon" }],
      "lyon",
      'shows 2 pools with the name "lyon"',
    ],
  ])("says why there is none if %s", (_title, pools, wanted, message) => {
    expect(choosePool(pools, wanted)).toMatchObject({ problem: expect.stringContaining(message) });
  });
});

const HOST = toDoubleHost("h1", { name: "alpha", tags: ["vino", "rack=r1"] });

test.each<[VinoHosts, boolean]>([
  [{}, true],
  [{ ids: [], tags: [] }, true],
  [{ ids: ["h1"] }, true],
  [{ ids: ["alpha"] }, false],
  [{ names: ["alpha"] }, true],
  [{ tags: ["vino"] }, true],
  [{ tags: ["rack"] }, false],
  [{ ids: ["h2"], tags: ["vino"] }, true],
])("isChosen() of a choice of %j is %p", (hosts, expected) => {
  expect(isChosen(HOST, hosts)).toBe(expected);
});

test.each<[VinoHosts, boolean]>([
  [{}, false],
  [{ ids: ["h1"] }, false],
  [{ ids: ["h2"] }, true],
  [{ ids: ["h2"], names: ["alpha"] }, false],
  [{ ids: ["h2"], tags: ["other"] }, false],
  [{ tags: ["other"] }, false],
])("isExcluded() by a choice of %j is %p", (hosts, expected) => {
  expect(isExcluded("h1", hosts)).toBe(expected);
});

test.each<[VinoHosts, readonly string[], readonly string[]]>([
  [{}, [], []],
  [{ ids: ["h1"], names: ["alpha"], tags: ["vino"] }, [], []],
  [{ ids: ["h2", "alpha"], names: ["h1"] }, ["ID h2", "ID alpha", 'name "h1"'], []],
  [{ names: ["beta"], tags: ["rack"] }, ['name "beta"'], ['tag "rack"']],
])("findUnmatched() of a choice of %j tells hosts from tags", (hosts, missing, tags) => {
  expect(findUnmatched([HOST], hosts)).toEqual({ hosts: missing, tags });
});
