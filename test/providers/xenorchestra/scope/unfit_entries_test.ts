import { expect, test } from "bun:test";
import { createLogger } from "../../../../lib/core/log.ts";
import type { Places } from "../../../../lib/providers/xenorchestra/model/own_places.ts";
import {
  listUnfitFindings,
  UnfitEntries,
} from "../../../../lib/providers/xenorchestra/scope/unfit_entries.ts";
import { toUuid } from "../../../../lib/simulator/uuid.ts";

function toPlaces(...names: readonly string[]): Places {
  const pools = names.map((name_label, at) => ({ id: toUuid(`${at}`), name_label }));
  return { pools: new Map(pools.map((pool) => [pool.id, pool])), hosts: new Map() };
}

const REGIONS = { regions: new Map([["paris", "eu"]]) };

test("UnfitEntries warns once of each, and again after it was well", () => {
  const lines: string[] = [];
  const log = createLogger({ format: "json", write: (line) => lines.push(line), now: () => 0 });
  const entries = new UnfitEntries(REGIONS, log);
  const count = (places: Places): number => {
    entries.log(places);
    return lines.length;
  };
  expect(count(toPlaces("lyon"))).toBe(1);
  expect(count(toPlaces("lyon"))).toBe(1);
  expect(count(toPlaces("paris", "paris"))).toBe(2);
  expect(count(toPlaces("paris"))).toBe(2);
  expect(count(toPlaces())).toBe(3);
  expect(lines[0]).toContain(String.raw`the entry regions: \"paris\" matches no pool`);
});

test("UnfitEntries says nothing without the settings", () => {
  const log = createLogger({
    format: "json",
    write: () => expect.unreachable(),
    now: () => 0,
  });
  new UnfitEntries({}, log).log(toPlaces("lyon"));
});

test("listUnfitFindings() says what to do about each", () => {
  expect(listUnfitFindings(toPlaces("paris"), REGIONS)).toEqual([]);
  expect(listUnfitFindings(toPlaces("lyon"), REGIONS)).toEqual([
    {
      level: "warning",
      code: "unmatchedEntry",
      message: 'the entry regions: "paris" matches no pool that Xen Orchestra shows',
      advice: "correct the UUID or name in regions, or reconnect the pool",
    },
  ]);
  const zones = new Map([["paris", "z"]]);
  expect(listUnfitFindings(toPlaces("paris", "paris"), { zones })).toMatchObject([
    { level: "warning", code: "ambiguousEntry", message: expect.stringContaining("pool or host") },
  ]);
});
