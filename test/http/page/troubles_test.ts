import { expect, test } from "bun:test";
import { toCards } from "../../../lib/http/page/topology/mod.ts";
import { listTroubles } from "../../../lib/http/page/troubles.ts";
import type { NodeView } from "../../../lib/http/views.ts";
import { toLostView, toNodeView } from "../../support/page/node_views.ts";

function list(nodes: readonly NodeView[]): unknown[] {
  return listTroubles(toCards(nodes)).map(({ state, total, reasons }) => [
    state,
    total,
    ...reasons.map(({ why, cards }) => [why, ...cards.map(({ node }) => node.name)]),
  ]);
}

function toLost(name: string, message: string): NodeView {
  return toLostView(name, "notCovered", {
    providerId: `x://${name}-id`,
    presence: { kind: "unknown", reason: "notCovered", message },
  });
}

test("listTroubles() groups by state and reason, the worst first, then the most", () => {
  const nodes = [
    toNodeView("well"),
    toNodeView("foreign", { presence: { kind: "foreign" } }),
    toNodeView("off", { instance: { id: "", name: "", state: "stopped", details: {} } }),
    toLostView("a", "denied"),
    toLostView("b", "notCovered"),
    toLostView("c", "notCovered"),
    toLostView("gone", "notListed"),
  ];
  expect(list(nodes)).toEqual([
    ["missing", 1, ["because notListed", "gone"]],
    ["unseen", 3, ["because notCovered", "b", "c"], ["because denied", "a"]],
    ["stopped", 1, ["", "off"]],
  ]);
});

test("listTroubles() takes reasons for the same that differ in names, UUIDs and times alone", () => {
  const uuid = (digit: string): string => `0000000${digit}-0000-4000-8000-000000000000`;
  const toText = (name: string, digit: string): string =>
    `VM ${uuid(digit)} of ${name} (${name}-id) in pool p1 is gone for 1m${digit}.5s`;
  const nodes = [toLost("n1", toText("n1", "1")), toLost("n2", toText("n2", "2"))];
  expect(list(nodes)).toEqual([
    ["unseen", 2, ["VM … of … (…) in pool p1 is gone for …", "n1", "n2"]],
  ]);
});

test("listTroubles() tells what all share in full, and keeps other reasons apart", () => {
  const uuid = "00000000-0000-4000-8000-000000000000";
  const nodes = [
    toLost("n1", `pool ${uuid} is lost`),
    toLost("n2", `pool ${uuid} is lost`),
    toLost("n3", "pool Lyon is lost"),
  ];
  expect(list(nodes)).toEqual([
    ["unseen", 3, [`pool ${uuid} is lost`, "n1", "n2"], ["pool Lyon is lost", "n3"]],
  ]);
});
