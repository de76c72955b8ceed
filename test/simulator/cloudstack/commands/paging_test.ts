import { expect, test } from "bun:test";
import { toList } from "../../../../lib/simulator/cloudstack/commands/call.ts";
import { toPage } from "../../../../lib/simulator/cloudstack/commands/paging.ts";
import type { Fault } from "../../../../lib/simulator/cloudstack/faults.ts";
import { Parameters } from "../../../../lib/simulator/cloudstack/parameters.ts";

const SIZE_MAX = 3;
const list = toList("zone", ["a", "b", "c", "d", "e"], (id) => ({ id }));

function page(fields: Record<string, string>, fault?: Fault): [number, string] {
  const parameters = new Parameters(new Map(Object.entries({ command: "listZones", ...fields })));
  const { count, items } = toPage(list, parameters, SIZE_MAX, fault);
  return [count, items.map((item) => ("id" in item ? String(item.id) : "?")).join("")];
}

test.each<[Record<string, string>, string]>([
  [{}, "abc"],
  [{ page: "1", pagesize: "2" }, "ab"],
  [{ page: "3", pagesize: "2" }, "e"],
  [{ page: "4", pagesize: "2" }, ""],
  [{ page: "0", pagesize: "2" }, "ab"],
  [{ page: "2" }, "de"],
  [{ pagesize: "1" }, "a"],
  [{ pagesize: "-1" }, "abcde"],
])("toPage(%j) has the total count and %p", (fields, ids) => {
  expect(page(fields)).toEqual([5, ids]);
});

test.each<[Record<string, string>, string]>([
  [{ page: "1", pagesize: "4" }, "Page size can't exceed max allowed page size value: 3"],
  [{ page: "1", pagesize: "-1" }, "Can't specify page parameter when pagesize is -1"],
  [{ page: "one", pagesize: "2" }, "invalid value one for parameter page"],
  [{ page: "1", pagesize: "2.5" }, "invalid value 2.5 for parameter pagesize"],
])("toPage(%j) is refused", (fields, text) => {
  expect(() => page(fields)).toThrow(text);
});

test.each<[Fault, string, [number, string]]>([
  [{ kind: "emptyList" }, "1", [0, ""]],
  [{ kind: "missingPage", page: 2 }, "2", [5, ""]],
  [{ kind: "shrinkingList" }, "1", [5, "ab"]],
  [{ kind: "shrinkingList" }, "2", [4, "de"]],
])("toPage() under the fault %j, page %s", (fault, number, expected) => {
  expect(page({ page: number, pagesize: "2" }, fault)).toEqual(expected);
});
