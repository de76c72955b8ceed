import { expect, test } from "bun:test";
import { toCards } from "../../../lib/http/page/topology/mod.ts";
import { formatPlaces, TroubleList } from "../../../lib/http/page/trouble_list.tsx";
import { listTroubles } from "../../../lib/http/page/troubles.ts";
import type { NodeView } from "../../../lib/http/views.ts";
import { toLostView, toNodeView } from "../../support/page/node_views.ts";

function render(nodes: readonly NodeView[]): string {
  return String(TroubleList({ troubles: listTroubles(toCards(nodes)), base: "" }));
}

function toMany(count: number, toView: (name: string) => NodeView): NodeView[] {
  return Array.from({ length: count }, (_, index) => toView(`n${index + 1}`));
}

test("TroubleList() tells one Node with its place and its reason", () => {
  const html = render([toLostView("a", "notFound")]);
  expect(html).toContain('href="nodes/a"');
  expect(html).toContain("Paris › xcp-1");
  expect(html).toContain("because notFound");
});

test("TroubleList() tells a reason that many share once, and closes a long list", () => {
  const html = render(toMany(40, (name) => toLostView(name, "notCovered")));
  expect(html.match(/because notCovered/g)).toHaveLength(1);
  expect(html).toContain('<details class="more" id="more-unseen-0">');
  expect(html.match(/class="dot/g)).toHaveLength(40);
  const few = render(toMany(3, (name) => toLostView(name, "notCovered")));
  expect(few).toContain('<details class="more" id="more-unseen-0" open="">');
});

test("TroubleList() tells a dozen reasons, and where the others are", () => {
  const nodes = toMany(15, (name) =>
    toLostView(name, "notFound", {
      presence: {
        kind: "unknown",
        reason: "notFound",
        message: `reason ${"i".repeat(name.length)}${name.at(-1)}`,
      },
    }),
  );
  const html = render(nodes);
  expect(html.match(/class="why"/g)).toHaveLength(12);
  expect(html).toContain('<a href="?state=unmatched">3 more Nodes, each with its reason</a>');
});

test("formatPlaces() goes from the largest place to the smallest, by name or ID", () => {
  const [card] = toCards([
    toNodeView("a", {
      places: [
        { kind: "pool", id: "p" },
        { kind: "host", id: "h", name: "H" },
      ],
    }),
  ]);
  expect(card && formatPlaces(card)).toBe("p › H");
});
