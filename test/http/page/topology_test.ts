import { expect, test } from "bun:test";
import type { Box } from "../../../lib/http/page/model.ts";
import { countCards, toCards, toTopology } from "../../../lib/http/page/topology.ts";
import { toInventoryView, toLostView, toNodeView } from "../../support/page/node_views.ts";

const pool = { kind: "pool", id: "p1", name: "Paris" };
const { coverage } = toInventoryView();

function listCounts(box: Box | undefined): unknown[] {
  return (box?.counts ?? []).map(({ state, count }) => [state.name, count]);
}

function listTiles(box: Box | undefined): string[] {
  return (box?.tiles ?? []).map(({ name }) => name);
}

test("toCards() sorts as people count", () => {
  const names = toCards(["n10", "n2", "a"].map((name) => toNodeView(name))).map(
    ({ node }) => node.name,
  );
  expect(names).toEqual(["a", "n2", "n10"]);
});

test("countCards() counts the worst first", () => {
  const cards = toCards([toNodeView("a"), toLostView("b", "denied"), toNodeView("c")]);
  expect(countCards(cards).map(({ state, count }) => [state.name, count])).toEqual([
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
  const boxes = toTopology(cards, coverage);
  expect(boxes.map(({ name }) => name)).toEqual(["Lyon", "Paris"]);
  const [, paris] = boxes;
  expect(listCounts(paris)).toEqual([
    ["notReady", 1],
    ["well", 3],
  ]);
  expect([paris?.looseTitle, ...listTiles(paris)]).toEqual(["on no host now", "d"]);
  expect(paris?.boxes?.map((box) => [box.kind, box.name, ...listTiles(box)])).toEqual([
    ["host", "xcp-2", "a", "c"],
    ["host", "xcp-10", "b"],
  ]);
  expect(paris?.boxes?.map(({ total }) => total)).toEqual([undefined, "1 Node"]);
});

test("toTopology() believes the cloud's names before those of labels, in any order", () => {
  const labelled = { kind: "pool", id: "p1", name: "Par-s" };
  const nodes = [
    toLostView("a", "denied", { places: [labelled] }),
    toNodeView("b", { places: [pool] }),
  ];
  for (const order of [nodes, nodes.toReversed()]) {
    const cards = order.flatMap((node) => toCards([node]));
    expect(toTopology(cards, []).map(({ name }) => name)).toEqual(["Paris"]);
  }
  const lost = toCards(nodes.slice(0, 1));
  expect(toTopology(lost, [])[0]?.name).toBe("Par-s");
  expect(toTopology(lost, coverage)[0]?.name).toBe("Paris");
});

test("toTopology() says of a place why the cloud does not show it in full", () => {
  const part = { id: "p1", name: "Paris", complete: false, reason: "lost" };
  const [box] = toTopology(toCards([toNodeView("a")]), [part]);
  expect(box).toMatchObject({ problem: "lost" });
  expect(box?.boxes?.[0]).not.toHaveProperty("problem");
});

test("toTopology() sets Nodes without a place and those of other clouds apart", () => {
  const { places: _, ...bare } = toNodeView("a");
  const foreign = toNodeView("b", { presence: { kind: "foreign" } });
  const boxes = toTopology(toCards([bare, foreign, toNodeView("c", { places: [] })]), []);
  expect(boxes.map((box) => [box.name, ...listTiles(box)])).toEqual([
    ["No known place", "a", "c"],
    ["Foreign", "b"],
  ]);
});
