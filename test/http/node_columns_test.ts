import { expect, test } from "bun:test";
import { findPlace, findZone, NODE_COLUMNS } from "../../lib/http/node_columns.ts";
import { PAGE_NOW, toNodeView } from "../support/page/node_views.ts";

const ZONE = "topology.kubernetes.io/zone";

function cell(title: string, over: Parameters<typeof toNodeView>[1] = {}): string | undefined {
  return NODE_COLUMNS.find((one) => one.title === title)?.format(toNodeView("n", over), PAGE_NOW);
}

test("NODE_COLUMNS have each title once, and few for a narrow terminal", () => {
  const titles = NODE_COLUMNS.map(({ title }) => title);
  expect(new Set(titles).size).toBe(titles.length);
  expect(NODE_COLUMNS.filter(({ isWide }) => !isWide).map(({ title }) => title)).toEqual(
    "NAME READY PRESENCE REASON STATE ADDRESS HOST ZONE".split(" "),
  );
});

test.each([
  [[], ""],
  [[["Hostname", "n"]], ""],
  [
    [
      ["ExternalIP", "192.0.2.1"],
      ["InternalIP", "10.0.0.1"],
      ["InternalIP", "10.0.0.2"],
    ],
    "10.0.0.1",
  ],
  [[["ExternalIP", "192.0.2.1"]], "192.0.2.1"],
])("the column ADDRESS of %j is %p", (list, shown) => {
  const actual = list.map(([type = "", address = ""]) => ({ type, address }));
  expect(cell("ADDRESS", { addresses: { actual } })).toBe(shown);
});

test("findZone() takes the label of the Node before the one that it should have", () => {
  const zone = (actual: object, wanted?: object): string =>
    findZone(toNodeView("n", { labels: { actual: { ...actual }, wanted: { ...wanted } } }));
  expect(zone({ [ZONE]: "a" }, { [ZONE]: "b" })).toBe("a");
  expect(zone({}, { [ZONE]: "b" })).toBe("b");
  expect(zone({})).toBe("");
});

test("findPlace() gives the name of a place, else its ID", () => {
  const places = [
    { kind: "pool", id: "p" },
    { kind: "host", id: "h", name: "one" },
  ];
  expect(findPlace(toNodeView("n", { places }), "host")).toBe("one");
  expect(findPlace(toNodeView("n", { places }), "pool")).toBe("p");
  expect(findPlace(toNodeView("n", { places: [] }), "host")).toBe("");
});

test("the columns REASON and DELETION have words, and no codes", () => {
  const view = toNodeView("n", { deletion: { state: "blocked", reason: "fleetLimit" } });
  expect(cell("DELETION", view)).toBe("blocked: too many Nodes have no machine");
  const waiting = { deletion: { state: "waiting", reason: "holdOff" } };
  expect(cell("DELETION", waiting)).toBe("waits: its machine has not been missing long enough");
  expect(cell("DELETION")).toBe("");
  const presence = { kind: "unknown", reason: "notListed" } as const;
  expect(cell("REASON", { presence })).toBe("it is not among the machines that exist");
});
