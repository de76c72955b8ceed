import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import type { InstanceState } from "../../../lib/cloud/instance.ts";
import type { Presence } from "../../../lib/cloud/provider.ts";
import {
  isRunningAgain,
  mayBeTainted,
  type OutOfServicePlan,
  type OutOfServiceVerdict,
  planOutOfService,
  planReturn,
  type ReturnFacts,
} from "../../../lib/controllers/node_out_of_service/plan.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { type NodeOptions, toNode } from "../../support/nodes/nodes.ts";

const TAINT = {
  key: "node.kubernetes.io/out-of-service",
  value: "nodeshutdown",
  effect: "NoExecute",
};
const RECORD = { timeMs: 0, bootId: "boot-1" };
const CONFIRM: OutOfServiceVerdict = { kind: "confirm", why: "off" };
const FOREIGN: Presence = { kind: "foreign" };
const UNKNOWN: Presence = { kind: "unknown", reason: "notCovered", message: "m" };

interface Options extends NodeOptions {
  /** Whether it has our record. @default {none} */
  readonly isRecorded?: boolean | "released";
  readonly isGoing?: boolean;
}

function toOurs({ isRecorded, isGoing, ...options }: Options = {}): Node {
  const node = toNode("n", { providerId: "test://n", uninitialized: false, ...options });
  const end = isRecorded === "released" ? " removed" : "";
  const annotations = isRecorded
    ? { "landfall.dev/out-of-service": `1970-01-01T00:00:00.000Z boot-1${end}` }
    : {};
  const going = isGoing ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {};
  return { ...node, metadata: { ...node.metadata, ...going, annotations } };
}

function toPresent(state: InstanceState): Presence {
  return { kind: "present", instance: toInstance("n", { state }), matchedBy: "providerId" };
}

const EXCLUDED = { "landfall.dev/exclude-from-out-of-service": "" };

describe("planOutOfService()", () => {
  test.each<[string, Options, Presence, OutOfServicePlan["kind"]]>([
    ["a Node whose machine is off", {}, toPresent("stopped"), "confirm"],
    ["one that is Ready", { ready: "True" }, toPresent("stopped"), "nothing"],
    [
      "one whose kubelet reports that it is not",
      { ready: "False" },
      toPresent("stopped"),
      "nothing",
    ],
    ["one whose kubelet is silent", { ready: "Unknown" }, toPresent("stopped"), "confirm"],
    ["one that is not initialised", { uninitialized: true }, toPresent("stopped"), "nothing"],
    ["one without a provider ID", { providerId: "" }, toPresent("stopped"), "nothing"],
    ["one of another cloud", {}, FOREIGN, "nothing"],
    ["one on its way out", { isGoing: true }, toPresent("stopped"), "nothing"],
    ["one that is excluded", { labels: EXCLUDED }, toPresent("stopped"), "nothing"],
    ["one with the taint of others", { taints: [TAINT] }, toPresent("stopped"), "nothing"],
    ["the same, Ready", { taints: [TAINT], ready: "True" }, toPresent("running"), "foreign"],
    ["ours, off", { taints: [TAINT], isRecorded: true }, toPresent("stopped"), "nothing"],
    ["ours, of unknown state", { taints: [TAINT], isRecorded: true }, UNKNOWN, "nothing"],
    ["ours, running", { taints: [TAINT], isRecorded: true }, toPresent("running"), "return"],
    ["ours, Ready", { taints: [TAINT], isRecorded: true, ready: "True" }, UNKNOWN, "return"],
    ["ours, reporting", { taints: [TAINT], isRecorded: true, ready: "False" }, UNKNOWN, "return"],
    ["ours without the taint, off", { isRecorded: true }, toPresent("stopped"), "release"],
    ["the same, written down", { isRecorded: "released" }, toPresent("stopped"), "nothing"],
    [
      "one with the taint that a user set again, running",
      { taints: [TAINT], isRecorded: "released" },
      toPresent("running"),
      "forget",
    ],
    ["ours without the taint, running", { isRecorded: true }, toPresent("running"), "forget"],
  ])("plans %s", (_what, options, presence, expected) => {
    expect(planOutOfService(toOurs(options), presence, CONFIRM).kind).toBe(expected);
  });

  test("sets no taint by anything less than the verdict to confirm", () => {
    for (const verdict of [{ kind: "keep" }, { kind: "waiting", message: "m" }] as const) {
      expect(planOutOfService(toOurs(), toPresent("stopped"), verdict).kind).toBe("nothing");
    }
  });
});

test.each(["True", "False"])(
  "a kubelet that reports Ready=%s: no taint, and its machine is back",
  (ready) => {
    expect(mayBeTainted(toOurs({ ready }))).toBe(false);
    expect(isRunningAgain(toOurs({ ready }), UNKNOWN)).toBe(true);
  },
);

test("isRunningAgain() does not take a machine of unknown state for one that runs", () => {
  expect(isRunningAgain(toOurs(), toPresent("unknown"))).toBe(false);
});

describe("planReturn()", () => {
  const facts: ReturnFacts = {
    isKubeletReporting: false,
    bootId: "boot-2",
    attached: 0,
    runningMs: 0,
  };

  test.each<[string, Partial<ReturnFacts>, "mistake" | "remove" | "wait"]>([
    ["restarted, and nothing is attached", {}, "remove"],
    ["reporting after a restart, and nothing is attached", { isKubeletReporting: true }, "remove"],
    ["not heard of since", { bootId: "boot-1" }, "wait"],
    ["not heard of for six minutes", { bootId: "boot-1", runningMs: 360_000 }, "wait"],
    ["restarted, and volumes are attached", { attached: 1 }, "wait"],
    ["restarted, and nobody knows what is attached", { attached: undefined }, "wait"],
    ["restarted almost six minutes ago", { attached: 1, runningMs: 359_999 }, "wait"],
    ["restarted six minutes ago", { attached: 1, runningMs: 360_000 }, "remove"],
    [
      "reporting and was never restarted",
      { isKubeletReporting: true, bootId: "boot-1", attached: 9 },
      "mistake",
    ],
  ])("of a machine that is %s", (_what, over, expected) => {
    const plan = planReturn(RECORD, { ...facts, ...over });
    const word = plan.kind === "remove" && plan.isMistake ? "mistake" : plan.kind;
    expect(word).toBe(expected);
  });

  test("always ends, and never keeps the taint on a machine that never was off", () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.constantFrom("boot-1", "boot-2"),
        fc.nat(),
        (isKubeletReporting, bootId, attached) => {
          const plan = planReturn(RECORD, {
            isKubeletReporting,
            bootId,
            attached,
            runningMs: 360_000,
          });
          expect(plan.kind).toBe(isKubeletReporting || bootId === "boot-2" ? "remove" : "wait");
        },
      ),
    );
  });
});
