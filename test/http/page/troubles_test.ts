import { expect, test } from "bun:test";
import { toCards } from "../../../lib/http/page/topology.ts";
import { listTroubles } from "../../../lib/http/page/troubles.ts";
import { toLostView, toNodeView } from "../../support/node_views.ts";

test("listTroubles() groups by state and cause, the worst first, then the most", () => {
  const cards = toCards([
    toNodeView("well"),
    toNodeView("foreign", { presence: { kind: "foreign" } }),
    toNodeView("off", { instance: { id: "", name: "", state: "stopped", details: {} } }),
    toLostView("a", "denied"),
    toLostView("b", "notCovered"),
    toLostView("c", "notCovered"),
    toLostView("gone", "notListed"),
  ]);
  const shown = listTroubles(cards).map((one) => [one.state, one.cause, one.cards.length]);
  expect(shown).toEqual([
    ["missing", "notListed", 1],
    ["unseen", "notCovered", 2],
    ["unseen", "denied", 1],
    ["stopped", "", 1],
  ]);
});

test("listTroubles() gives a reason only when all share it", () => {
  const other = { kind: "unknown", reason: "denied", message: "another" } as const;
  const same = toCards([toLostView("a", "denied"), toLostView("b", "denied")]);
  expect(listTroubles(same)).toMatchObject([{ why: "because denied" }]);
  const mixed = toCards([
    toLostView("a", "denied"),
    toLostView("b", "denied", { presence: other }),
  ]);
  expect(listTroubles(mixed)[0]).not.toHaveProperty("why");
});
