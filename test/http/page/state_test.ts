import { expect, test } from "bun:test";
import type { StateName } from "../../../lib/http/page/model.ts";
import { isStateName, NODE_STATES, toCondition } from "../../../lib/http/page/state.ts";
import { STYLE } from "../../../lib/http/page/style.ts";
import type { NodeView } from "../../../lib/http/views.ts";
import { toLostView, toNodeView } from "../../support/page/node_views.ts";

const off = { id: "i", name: "i", state: "stopped", details: { powerState: "Halted" } };
const failed = { at: "2026-01-01T00:00:00Z", outcome: "error", error: "no answer" };
const { providerId: _none, ...unmatched } = toLostView("n", "notListed");
const waiting = { state: "waiting", reason: "holdOff", message: "missing for 3s" };
const blocked = { state: "blocked", reason: "notCovered", message: "pool Lyon is lost" };

const CASES: readonly (readonly [string, NodeView, StateName, string])[] = [
  ["all is right", toNodeView("n"), "well", ""],
  [
    "another cloud's",
    toNodeView("n", { presence: { kind: "foreign", message: "not ours" }, isUninitialized: true }),
    "foreign",
    "not ours",
  ],
  [
    "proven gone",
    toNodeView("n", { presence: { kind: "absent", message: "404" }, instance: null }),
    "missing",
    "404",
  ],
  ["not listed any more", toLostView("n", "notListed"), "missing", "because notListed"],
  [
    "not listed, soon deleted",
    toLostView("n", "notListed", { deletion: waiting }),
    "missing",
    "missing for 3s. because notListed",
  ],
  ["never matched", unmatched, "unmatched", "because notListed"],
  ["no such machine", toLostView("n", "notFound"), "unmatched", "because notFound"],
  ["two machines fit", toLostView("n", "ambiguous"), "unmatched", "because ambiguous"],
  [
    "a pool is lost",
    toLostView("n", "notCovered", { deletion: blocked, ready: "Unknown" }),
    "unseen",
    "pool Lyon is lost. because notCovered",
  ],
  ["the token is refused", toLostView("n", "denied"), "unseen", "because denied"],
  ["no inventory yet", toLostView("n", "noInventory"), "unseen", "because noInventory"],
  [
    "another has its address",
    toNodeView("n", { addressConflict: "10.0.0.5 is another's" }),
    "conflict",
    "10.0.0.5 is another's",
  ],
  ["a reconcile failed", toNodeView("n", { lastReconcile: failed }), "failing", "no answer"],
  [
    "off",
    toNodeView("n", { instance: off, ready: "Unknown" }),
    "stopped",
    'The cloud says "Halted"',
  ],
  [
    "off, and soon out of service",
    toNodeView("n", { instance: off, outOfService: { state: "waiting", message: "Off for 3s" } }),
    "stopped",
    'The cloud says "Halted". Out of service: not yet. Off for 3s',
  ],
  [
    "off and out of service",
    toNodeView("n", { instance: off, ready: "Unknown", outOfService: { state: "tainted" } }),
    "outOfService",
    'The cloud says "Halted". Landfall set the taint, so Kubernetes detaches the volumes of this Node',
  ],
  [
    "running, and still out of service",
    toNodeView("n", { outOfService: { state: "tainted" } }),
    "outOfService",
    "Its machine runs again. Landfall removes the taint when its volumes are detached",
  ],
  [
    "out of service by a person",
    toNodeView("n", { outOfService: { state: "taintedByOthers" } }),
    "outOfService",
    "Landfall did not set the taint and does not remove it",
  ],
  [
    "gone, and out of service before it is deleted",
    toLostView("n", "notListed", { deletion: waiting, outOfService: { state: "tainted" } }),
    "missing",
    "missing for 3s. because notListed. Out of service: yes. " +
      "Landfall set the taint, so Kubernetes detaches the volumes of this Node",
  ],
  [
    "gone, and neither deleted nor out of service for the same reason",
    toLostView("n", "notListed", { deletion: waiting, outOfService: waiting }),
    "missing",
    "missing for 3s. because notListed",
  ],
  ["tainted", toNodeView("n", { isUninitialized: true }), "joining", ""],
  ["silent", toNodeView("n", { ready: "Unknown" }), "notReady", "The condition Ready is Unknown"],
  [
    "a label differs",
    toNodeView("n", { labels: { wanted: { a: "1" }, actual: {} } }),
    "differs",
    "1 of its labels and addresses is out of sync",
  ],
];

test.each(CASES)("toCondition() judges a Node: %s", (_title, node, state, why) => {
  expect(toCondition(node)).toMatchObject({ state, why });
});

test("toCondition() does not say the same thing twice", () => {
  const deletion = { state: "blocked", reason: "denied", message: "because denied" };
  expect(toCondition(toLostView("n", "denied", { deletion })).why).toBe("because denied");
});

test("every state can be reached, and only states are states", () => {
  const states = NODE_STATES.map(({ name }) => name);
  expect(new Set<string>(CASES.map(([, , state]) => state))).toEqual(new Set(states));
  expect(isStateName("well")).toBe(true);
  for (const text of ["", "toString", "__proto__", "Well"]) expect(isStateName(text)).toBe(false);
});

test("each state has a shape and a word of its own", () => {
  const shapes = NODE_STATES.map(
    ({ looksLike }) => new RegExp(`\\.s-${looksLike}::before\\{([^}]+)\\}`).exec(STYLE)?.[1],
  );
  expect(shapes).not.toContain(undefined);
  expect(new Set(shapes).size).toBe(NODE_STATES.length);
  expect(new Set(NODE_STATES.map(({ word }) => word)).size).toBe(NODE_STATES.length);
});
