import { expect, test } from "bun:test";
import { countStates, toCards, toTopology } from "../../../../lib/http/page/topology/mod.ts";
import { toInventoryView, toLostView, toNodeView } from "../../../support/page/node_views.ts";

const pool = { kind: "pool", id: "p1", name: "Paris" };
const { coverage } = toInventoryView();

test("toCards() sorts as people count", () => {
  const names = toCards(["n10", "n2", "a"].map((name) => toNodeView(name))).map(
    ({ node }) => node.name,
  );
  expect(names).toEqual(["a", "n2", "n10"]);
});

test("countStates() counts the worst first", () => {
  const cards = toCards([toNodeView("a"), toLostView("b", "denied"), toNodeView("c")]);
  expect(countStates(cards)).toEqual([
    ["unseen", 1],
    ["well", 2],
  ]);
});

test("toTopology() puts Nodes into hosts, hosts into pools, and counts them", () => {
  const host = (id: string) => ({ kind: "host", id, name: `xcp-${id}` });
  const cards = toCards([
    toNodeView("a", { places: [pool, host("2")] }),
    toNodeView("b", { places: [pool, host("10")] }),
    toNodeView("c", { places: [pool, host("2")], ready: "False" }),
    toNodeView("d", { places: [pool] }),
    toNodeView("e", { places: [{ kind: "pool", id: "p2" }] }),
  ]);
  const { boxes } = toTopology(cards, coverage);
  expect(boxes.map(({ name, total }) => [name, total])).toEqual([
    ["Lyon", 1],
    ["Paris", 4],
  ]);
  const paris = boxes[1];
  expect(paris?.counts).toEqual([
    ["notReady", 1],
    ["well", 3],
  ]);
  expect(paris?.cards.map(({ node }) => node.name)).toEqual(["d"]);
  expect(paris?.boxes.map(({ kind, name, total }) => [kind, name, total])).toEqual([
    ["host", "xcp-2", 2],
    ["host", "xcp-10", 1],
  ]);
});

test("toTopology() believes the cloud's names before those of labels, in any order", () => {
  const labelled = { kind: "pool", id: "p1", name: "Par-s" };
  const nodes = [
    toLostView("a", "denied", { places: [labelled] }),
    toNodeView("b", { places: [pool] }),
  ];
  for (const order of [nodes, nodes.toReversed()]) {
    const cards = order.flatMap((node) => toCards([node]));
    expect(toTopology(cards, []).boxes.map(({ name }) => name)).toEqual(["Paris"]);
  }
  const lost = toCards(nodes.slice(0, 1));
  expect(toTopology(lost, []).boxes[0]?.name).toBe("Par-s");
  expect(toTopology(lost, coverage).boxes[0]?.name).toBe("Paris");
});

test("toTopology() says of a place why the cloud does not show it in full", () => {
  const part = { id: "p1", name: "Paris", complete: false, reason: "lost" };
  const { boxes } = toTopology(toCards([toNodeView("a")]), [part]);
  expect(boxes[0]).toMatchObject({ problem: "lost" });
  expect(boxes[0]?.boxes[0]).not.toHaveProperty("problem");
});

test("toTopology() sets Nodes without a place and those of other clouds apart", () => {
  const { places: _, ...bare } = toNodeView("a");
  const foreign = toNodeView("b", { presence: { kind: "foreign" } });
  const topology = toTopology(toCards([bare, foreign, toNodeView("c", { places: [] })]), []);
  expect(topology.boxes).toEqual([]);
  expect(topology.placeless.map(({ node }) => node.name)).toEqual(["a", "c"]);
  expect(topology.foreign.map(({ node }) => node.name)).toEqual(["b"]);
});
