import { expect, test } from "bun:test";
import { toCards, toTopology } from "../../../../lib/http/page/topology/mod.ts";
import { TopologyBoxes } from "../../../../lib/http/page/topology/boxes.tsx";
import type { InventoryView, NodeView } from "../../../../lib/http/views.ts";
import { toLostView, toNodeView } from "../../../support/page/node_views.ts";

function render(nodes: readonly NodeView[], coverage: InventoryView["coverage"] = []): string {
  const topology = toTopology(toCards(nodes), coverage);
  return String(TopologyBoxes({ topology, total: nodes.length, base: "" }));
}

function toFleet(count: number): NodeView[] {
  return Array.from({ length: count }, (_, index) =>
    toNodeView(`n${index}`, {
      places: [
        { kind: "pool", id: "p" },
        { kind: "host", id: `h${Math.floor(index / 50)}` },
      ],
    }),
  );
}

test("TopologyBoxes() opens everything in a small cluster", () => {
  const html = render(toFleet(100));
  expect(html.match(/<details/g)).toHaveLength(3);
  expect(html.match(/<details[^>]* open=""/g)).toHaveLength(3);
});

test("TopologyBoxes() closes large boxes of a large cluster, and counts what is in them", () => {
  const html = render(toFleet(200));
  expect(html).toContain('<details class="box" id="box-p">');
  expect(html.match(/<details[^>]* open=""/g)).toHaveLength(4);
  expect(html).toContain("200 in sync");
});

test("TopologyBoxes() shows what is on no host, in no place, and foreign", () => {
  const html = render([
    toNodeView("a"),
    toNodeView("halted", { places: [{ kind: "pool", id: "p1" }] }),
    toLostView("lost", "notFound", { places: [] }),
    toNodeView("other", { presence: { kind: "foreign" } }),
  ]);
  const places = ["on no host now", "halted", "No known place", "lost", "Foreign", "other"];
  const positions = places.map((text) => html.indexOf(text));
  expect(positions).not.toContain(-1);
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
});

test("TopologyBoxes() says of a place that it does not answer", () => {
  const part = { id: "p1", complete: false, reason: "its <connection> is down" };
  expect(render([toNodeView("a")], [part])).toContain("its &lt;connection&gt; is down");
});
