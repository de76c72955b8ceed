import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../../../lib/cloud/deletion/guard.ts";
import { DEFAULT_OUT_OF_SERVICE } from "../../../../lib/cloud/deletion/streak.ts";
import type { Presence } from "../../../../lib/cloud/provider.ts";
import {
  formatOutOfServiceChange,
  listOutOfServiceChanges,
  type OutOfServiceSources,
} from "../../../../lib/cli/check/outlook/out_of_service.ts";
import type { Node } from "../../../../lib/kube/kinds/node.ts";
import { toInstance, toInventory } from "../../../support/cloud/instances.ts";
import { type NodeOptions, toNode } from "../../../support/nodes/nodes.ts";

const TAINT = {
  key: "node.kubernetes.io/out-of-service",
  value: "nodeshutdown",
  effect: "NoExecute",
};
const RECORD = { "landfall.dev/out-of-service": "2026-01-01T00:00:00.000Z boot-1" };

const instance = toInstance("i");
const RUNS: Presence = { kind: "present", instance, matchedBy: "providerId" };
const OFF: Presence = { ...RUNS, instance: { ...instance, state: "stopped" } };
const GONE: Presence = { kind: "absent", evidence: "404" };
const UNSEEN: Presence = { kind: "unknown", reason: "notCovered", message: "" };

const SILENT: NodeOptions = { providerId: "test://i", uninitialized: false, ready: "Unknown" };
const TAINTED: NodeOptions = { ...SILENT, taints: [TAINT], annotations: RECORD };

const SOURCES: OutOfServiceSources = {
  provenOff: { isShownOff: () => true },
  inventory: toInventory([instance]),
  settings: DEFAULT_OUT_OF_SERVICE,
  deletion: DEFAULT_DELETION,
};

function list(node: Node, presence: Presence, more: Partial<OutOfServiceSources> = {}): string[] {
  const changes = listOutOfServiceChanges(node, presence, { ...SOURCES, ...more });
  return changes.flatMap(formatOutOfServiceChange);
}

function withBootId(node: Node, bootID: string): Node {
  const nodeInfo = { systemUUID: "", ...node.status?.nodeInfo, bootID };
  return { ...node, status: { ...node.status, nodeInfo } };
}

const ADDED = "+ taint node.kubernetes.io/out-of-service: would be set ";
const REMOVED = "- taint node.kubernetes.io/out-of-service: ";
const OFF_LINE = `${ADDED}after 2 more observations over 30s and proof that the machine is off, within the fleet limit`;
const GONE_WAIT = "after 3 more observations over 1m0s and proof that the machine is gone";

describe("listOutOfServiceChanges()", () => {
  test.each<[string, NodeOptions, Presence, string[]]>([
    [
      "the taint of a machine that is shown as off, with what it still needs",
      SILENT,
      OFF,
      [OFF_LINE],
    ],
    [
      "the taint of a machine that is gone, as far as its volumes need it",
      SILENT,
      GONE,
      [`${ADDED}if volumes are still attached, ${GONE_WAIT}, within the fleet limit`],
    ],
    ["nothing while the kubelet is heard", { ...SILENT, ready: "False" }, OFF, []],
    ["nothing for a machine that runs", SILENT, RUNS, []],
    ["nothing while the cloud does not tell", SILENT, UNSEEN, []],
    ["nothing for a Node that waits for its cloud", { ...SILENT, uninitialized: true }, OFF, []],
    [
      "nothing for a Node that a label leaves out",
      { ...SILENT, labels: { "landfall.dev/exclude-from-out-of-service": "" } },
      OFF,
      [],
    ],
    ["nothing for a taint that a person set", { ...SILENT, taints: [TAINT] }, OFF, []],
    ["nothing for a Node that has the taint", TAINTED, OFF, []],
    [
      "the removal when the machine runs again",
      TAINTED,
      RUNS,
      [`${REMOVED}would be removed when its volumes are detached; the machine runs again`],
    ],
    [
      "the record of a taint that a person removed",
      { ...SILENT, annotations: RECORD, ready: "True" },
      RUNS,
      ["- annotation landfall.dev/out-of-service: the taint is gone, and the machine runs"],
    ],
  ])("lists %s", (_what, options, presence, expected) => {
    expect(list(toNode("n", options), presence)).toEqual(expected);
  });

  test("lists nothing for a machine that its part of the cloud does not surely show as off", () => {
    const provenOff = { isShownOff: () => false };
    expect(list(toNode("n", SILENT), OFF, { provenOff })).toEqual([]);
  });

  test("lists the removal at once for a Node that was never off: its boot ID is the same", () => {
    const node = toNode("n", { ...TAINTED, ready: "True" });
    expect(list(withBootId(node, "boot-1"), RUNS)).toEqual([`${REMOVED}the machine was never off`]);
    expect(list(withBootId(node, "boot-2"), RUNS)[0]).toContain("would be removed when");
  });

  test("goes by the settings", () => {
    const settings = { confirmations: 1, graceMs: 90_000 };
    const [off] = list(toNode("n", SILENT), OFF, { settings });
    expect(off).toContain("after 1 more observation over 1m30s and");
    // Nothing else would free its volumes.
    const deletion = { ...DEFAULT_DELETION, enabled: false };
    expect(list(toNode("n", SILENT), GONE, { deletion })).toEqual([
      `${ADDED}${GONE_WAIT}, within the fleet limit`,
    ]);
  });
});
