import { expect, test } from "bun:test";
import { NodeTable } from "../../../lib/http/page/node_table.tsx";
import { toCards } from "../../../lib/http/page/topology/mod.ts";
import { PAGE_NOW, toNodeView } from "../../support/page/node_views.ts";

test("NodeTable() ends after 500 rows, and says so", () => {
  const nodes = Array.from({ length: 501 }, (_, index) => toNodeView(`n${index}`));
  const html = String(NodeTable({ cards: toCards(nodes), base: "", nowMs: PAGE_NOW }));
  expect(html.match(/<th scope="row">/g)).toHaveLength(500);
  expect(html).toContain("These are the first 500 of 501");
});
