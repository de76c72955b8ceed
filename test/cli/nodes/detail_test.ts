/**
 * One Node in detail.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { formatNode } from "../../../lib/cli/nodes/detail.ts";
import type { NodeView } from "../../../lib/http/views.ts";
import { PAGE_NOW } from "../../support/page/node_views.ts";

const NODE: NodeView = {
  name: "worker-1",
  providerId: "x://old",
  wantedProviderId: "x://1",
  ready: "True",
  isUninitialized: false,
  matchedBy: "systemUuid",
  places: [
    { kind: "pool", id: "p", name: "paris" },
    { kind: "host", id: "h" },
  ],
  presence: { kind: "present" },
  instance: { id: "1", name: "vm one", state: "running", details: {} },
  labels: {
    wanted: { zone: "b", host: "h", same: "s" },
    actual: { zone: "a", same: "s" },
  },
  addresses: {
    wanted: [{ type: "InternalIP", address: "10.0.0.1" }],
    actual: [{ type: "ExternalIP", address: "10.0.0.1" }],
  },
  deletion: { state: "blocked", reason: "fleetLimit", message: "too many" },
  lastReconcile: { at: "2026-01-01T00:09:15Z", outcome: "failed", error: "no answer" },
  nextReconcileAt: "2026-01-01T00:11:00Z",
};

describe("formatNode()", () => {
  test("shows what is known, and each difference in a line", () => {
    expect(formatNode(NODE, { nowMs: PAGE_NOW, width: Infinity })).toBe(`\
Node:         worker-1
Ready:        True
Machine:      present, running, matched by system UUID
Instance:     vm one (1)
Provider ID:  x://old
Place:        pool paris, host h
Addresses:    ExternalIP 10.0.0.1
Differences:  ! provider ID: x://old, and never changes; the machine has x://1
              + label host: h
              ~ label zone: a -> b
              + address InternalIP: 10.0.0.1
              - address ExternalIP: 10.0.0.1
Deletion:     blocked: too many
Reconciled:   failed 45s ago; no answer; again in 60s
`);
  });

  test("says whether a Node is out of service", () => {
    const node: NodeView = { ...NODE, outOfService: { state: "taintedByOthers" } };
    expect(formatNode(node, { nowMs: PAGE_NOW, width: Infinity })).toContain(
      "Out of service:  yes. Landfall did not set the taint and does not remove it\n",
    );
  });

  test("says that all is as it should be", () => {
    const { labels, addresses } = NODE;
    const node: NodeView = {
      ...NODE,
      providerId: "x://1",
      labels: { wanted: labels.actual, actual: labels.actual },
      addresses: { wanted: addresses.actual, actual: addresses.actual },
    };
    expect(formatNode(node, { nowMs: PAGE_NOW, width: 80 })).toContain("Differences:  none\n");
  });

  test("says why a Node waits, and shows nothing that is not known", () => {
    const node: NodeView = {
      name: "n",
      ready: "False",
      isUninitialized: true,
      presence: { kind: "unknown", reason: "notFound", message: "no VM" },
      instance: null,
      labels: { actual: {} },
      addresses: { actual: [] },
      lastReconcile: null,
    };
    expect(formatNode(node, { nowMs: PAGE_NOW, width: 80 })).toBe(`\
Node:     n
Ready:    False
Taint:    uninitialized: waits for its machine
Machine:  unknown (no VM)
`);
  });

  test("is no wider than the terminal, and lets no name steer it", () => {
    const node = { ...NODE, name: `\u001b[2J${"a b ".repeat(50)}` };
    const lines = formatNode(node, { nowMs: PAGE_NOW, width: 40 }).split("\n");
    expect(lines.filter((line) => line.length > 40)).toEqual([]);
    expect(lines.join("")).not.toContain("\u001b");
  });
});
