import { expect, test } from "bun:test";
import type { KindState } from "../../../lib/http/page/model.ts";
import { groupReasons, type Troubled } from "../../../lib/http/page/troubles.ts";

const [LOST, OFF]: readonly [KindState, KindState] = [
  { name: "lost", word: "lost", meaning: "", looksLike: "missing", isTrouble: true },
  { name: "off", word: "off", meaning: "", looksLike: "stopped", isTrouble: true },
];

function toTroubled(id: string, why: string, state: KindState | undefined = LOST): Troubled {
  const names = [id, `${id}-id`];
  return { id, state, why, where: "", names, tile: { name: id, looksLike: "missing" } };
}

function list(objects: readonly Troubled[], membersMin?: number): unknown[] {
  return groupReasons(objects, [LOST, OFF], membersMin).map(({ state, total, reasons }) => [
    state.name,
    total,
    ...reasons.map(({ why, members }) => [why, ...members.map(({ id }) => id)]),
  ]);
}

test("groupReasons() groups by state and reason, the worst first, then the most", () => {
  const objects = [
    { ...toTroubled("well", ""), state: undefined },
    toTroubled("off", "", OFF),
    toTroubled("a", "denied"),
    toTroubled("b", "not covered"),
    toTroubled("c", "not covered"),
  ];
  expect(list(objects)).toEqual([
    ["lost", 3, ["not covered", "b", "c"], ["denied", "a"]],
    ["off", 1, ["", "off"]],
  ]);
  expect(list(objects, 2)).toEqual([["lost", 2, ["not covered", "b", "c"]]]);
});

test("groupReasons() takes reasons for the same that differ in names, UUIDs and times alone", () => {
  const uuid = (digit: string): string => `0000000${digit}-0000-4000-8000-000000000000`;
  const toText = (name: string, digit: string): string =>
    `VM ${uuid(digit)} of ${name} (${name}-id) in pool p1 is gone for 1m${digit}.5s`;
  const objects = [toTroubled("n1", toText("n1", "1")), toTroubled("n2", toText("n2", "2"))];
  expect(list(objects)).toEqual([
    ["lost", 2, ["VM … of … (…) in pool p1 is gone for …", "n1", "n2"]],
  ]);
});

test("groupReasons() tells what all share in full, and keeps other reasons apart", () => {
  const uuid = "00000000-0000-4000-8000-000000000000";
  const objects = [
    toTroubled("n1", `pool ${uuid} is lost`),
    toTroubled("n2", `pool ${uuid} is lost`),
    toTroubled("n3", "pool Lyon is lost"),
  ];
  expect(list(objects)).toEqual([
    ["lost", 3, [`pool ${uuid} is lost`, "n1", "n2"], ["pool Lyon is lost", "n3"]],
  ]);
});
