import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION, type Verdict } from "../../../lib/cloud/deletion/guard.ts";
import type { InstanceState } from "../../../lib/cloud/instance.ts";
import type { Presence, UnknownReason } from "../../../lib/cloud/provider.ts";
import { toFleetMember } from "../../../lib/controllers/fleet/fleet_member.ts";
import { type LifecyclePlan, planLifecycle } from "../../../lib/controllers/node_lifecycle/plan.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toInstance } from "../../support/cloud/instances.ts";
import { type NodeOptions, toNode } from "../../support/nodes/nodes.ts";
import { tries } from "../../support/net/hostile.ts";
import { lose, startFleet } from "../../support/nodes/lifecycle_rig.ts";
import {
  COMPONENT,
  EVENT_WORDS,
  SHUTDOWN_TAINT,
} from "../../../lib/controllers/node_lifecycle/words.ts";

const SHUTDOWN = { key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" };
const OTHER = { key: "example.com/mine", value: "x", effect: "NoExecute" };

const RUNNING = toPresent("running");
const STOPPED = toPresent("stopped");
const FOREIGN: Presence = { kind: "foreign", providerId: "aws:///i-1" };

const KEEP: Verdict = { kind: "keep" };
const CONFIRM: Verdict = { kind: "confirm" };
const VERDICTS: readonly Verdict[] = [
  KEEP,
  { kind: "waiting", reason: "ready", observations: 0, message: "m" },
  { kind: "waiting", reason: "confirmations", observations: 1, message: "m" },
  { kind: "waiting", reason: "holdOff", observations: 3, message: "m" },
  { kind: "blocked", reason: "disabled", message: "m" },
  { kind: "blocked", reason: "fleetLimit", message: "m" },
  CONFIRM,
];

const REASONS: readonly UnknownReason[] = [
  "noInventory",
  "notListed",
  "unreachable",
  "throttled",
  "denied",
  "protocol",
  "notCovered",
  "undecodable",
  "ambiguous",
  "malformedProviderId",
  "noIdentity",
  "notFound",
];

const PRESENCES: readonly Presence[] = [
  RUNNING,
  STOPPED,
  toPresent("unknown"),
  FOREIGN,
  { kind: "absent", evidence: "e" },
  ...REASONS.map(toUnknown),
];

function toPresent(state: InstanceState): Presence {
  return { kind: "present", instance: toInstance("n", { state }), matchedBy: "providerId" };
}

function toUnknown(reason: UnknownReason): Presence {
  return { kind: "unknown", reason, message: `because ${reason}` };
}

function toOurNode(options: NodeOptions = {}): Node {
  return toNode("n", { providerId: "test://n", uninitialized: false, ...options });
}

/** A plan in one word. */
function toWord(plan: LifecyclePlan): string {
  if (plan.kind === "taint") return plan.isOff ? "taint" : "untaint";
  return plan.kind === "blocked" ? `blocked: ${plan.reason}` : plan.kind;
}

/** What is planned for a Node that is not Ready, by presence and verdict, in words. */
const NOT_READY: readonly (readonly [what: string, Presence, Verdict, untainted: string])[] = [
  ...VERDICTS.flatMap((verdict) => [
    ["running", RUNNING, verdict, "nothing"] as const,
    ["stopped", STOPPED, verdict, "taint"] as const,
    ["of unknown state", toPresent("unknown"), verdict, "nothing"] as const,
    ["foreign", FOREIGN, verdict, "nothing"] as const,
    ["not covered", toUnknown("notCovered"), verdict, "blocked: notCovered"] as const,
    ["undecodable", toUnknown("undecodable"), verdict, "blocked: undecodable"] as const,
    ["ambiguous", toUnknown("ambiguous"), verdict, "blocked: ambiguous"] as const,
    ["denied", toUnknown("denied"), verdict, "blocked: denied"] as const,
    ["unreachable", toUnknown("unreachable"), verdict, "nothing"] as const,
    ["throttled", toUnknown("throttled"), verdict, "nothing"] as const,
    ["not understood", toUnknown("protocol"), verdict, "nothing"] as const,
    ["before the first inventory", toUnknown("noInventory"), verdict, "nothing"] as const,
    ["malformed", toUnknown("malformedProviderId"), verdict, "nothing"] as const,
    ["without identity", toUnknown("noIdentity"), verdict, "nothing"] as const,
    ["not found", toUnknown("notFound"), verdict, "nothing"] as const,
  ]),
  ["not listed", toUnknown("notListed"), KEEP, "nothing"],
  ["not listed", toUnknown("notListed"), VERDICTS[1] ?? KEEP, "nothing"],
  ["not listed", toUnknown("notListed"), VERDICTS[2] ?? KEEP, "nothing"],
  ["not listed", toUnknown("notListed"), VERDICTS[3] ?? KEEP, "nothing"],
  ["not listed", toUnknown("notListed"), VERDICTS[4] ?? KEEP, "blocked: disabled"],
  ["not listed", toUnknown("notListed"), VERDICTS[5] ?? KEEP, "blocked: fleetLimit"],
  ["not listed", toUnknown("notListed"), CONFIRM, "confirm"],
];

describe.each(["False", "Unknown", undefined])("planLifecycle() with Ready %s", (ready) => {
  const readiness = ready === undefined ? {} : { ready };

  test.each(NOT_READY)("machine %s", (_what, presence, verdict, wanted) => {
    const node = toOurNode({ ...readiness, taints: [OTHER] });
    expect(toWord(planLifecycle(node, presence, verdict))).toBe(wanted);
  });

  test.each(NOT_READY)("tainted, machine %s", (_what, presence, verdict, wanted) => {
    const node = toOurNode({ ...readiness, taints: [SHUTDOWN, OTHER] });
    const still = wanted === "taint" ? "nothing" : wanted;
    expect(toWord(planLifecycle(node, presence, verdict))).toBe(still);
  });

  test("L-06 adds the taint after the others, which stay as they are", () => {
    const node = toOurNode({ ...readiness, taints: [OTHER] });
    expect(planLifecycle(node, STOPPED, KEEP)).toEqual({
      kind: "taint",
      taints: [OTHER, SHUTDOWN],
      isOff: true,
    });
  });

  test("L-10 taints a Node without a provider ID, whose machine was found by other means", () => {
    const node = toNode("n", { ...readiness, uninitialized: false });
    expect(toWord(planLifecycle(node, STOPPED, KEEP))).toBe("taint");
  });

  test.each(REASONS)("L-10 leaves a Node without a provider ID when the answer is %s", (reason) => {
    const node = toNode("n", { ...readiness, uninitialized: false });
    expect(toWord(planLifecycle(node, toUnknown(reason), CONFIRM))).toBe("nothing");
  });

  test("leaves an empty provider ID alone as if there were none", () => {
    const node = toOurNode({ ...readiness, providerId: "" });
    expect(toWord(planLifecycle(node, toUnknown("notListed"), CONFIRM))).toBe("nothing");
  });

  test.each(PRESENCES)("leaves an uninitialised Node to its controller: $kind", (presence) => {
    for (const taints of [[], [SHUTDOWN]]) {
      const node = toOurNode({ ...readiness, taints, uninitialized: true });
      expect(toWord(planLifecycle(node, presence, KEEP))).toBe("nothing");
    }
  });

  test("deletes no Node again that is on its way out", () => {
    const node = toOurNode(readiness);
    const deletionTimestamp = "2026-01-01T00:00:00Z";
    const leaving = { ...node, metadata: { ...node.metadata, deletionTimestamp } };
    expect(toWord(planLifecycle(leaving, toUnknown("notListed"), CONFIRM))).toBe("nothing");
  });
});

describe("planLifecycle() with Ready True", () => {
  const notForeign = PRESENCES.filter(({ kind }) => kind !== "foreign");

  test.each(notForeign)("L-04 L-05 does nothing, whatever the cloud says: $kind", (presence) => {
    for (const verdict of VERDICTS) {
      const node = toOurNode({ ready: "True", taints: [OTHER] });
      expect(toWord(planLifecycle(node, presence, verdict))).toBe("nothing");
    }
  });

  test.each(notForeign)("L-07 takes the shutdown taint away, and no other: $kind", (presence) => {
    const node = toOurNode({ ready: "True", taints: [OTHER, SHUTDOWN, OTHER] });
    expect(planLifecycle(node, presence, CONFIRM)).toEqual({
      kind: "taint",
      taints: [OTHER, OTHER],
      isOff: false,
    });
  });

  test("leaves the taints of a foreign Node alone", () => {
    const node = toOurNode({ ready: "True", taints: [SHUTDOWN] });
    expect(toWord(planLifecycle(node, FOREIGN, KEEP))).toBe("nothing");
  });

  const alike = [
    { ...SHUTDOWN, effect: "NoExecute" },
    { ...SHUTDOWN, key: "node.cloudprovider.kubernetes.io/shutdowns" },
  ];
  test.each(alike)("takes $key:$effect for another taint", (taint) => {
    expect(
      toWord(planLifecycle(toOurNode({ ready: "True", taints: [taint] }), RUNNING, KEEP)),
    ).toBe("nothing");
    const off = toOurNode({ ready: "False", taints: [taint] });
    expect(planLifecycle(off, STOPPED, KEEP)).toMatchObject({ taints: [taint, SHUTDOWN] });
  });

  test("knows the taint by key and effect, whatever its value", () => {
    const node = toOurNode({ ready: "True", taints: [{ ...SHUTDOWN, value: "true" }] });
    expect(planLifecycle(node, RUNNING, KEEP)).toMatchObject({ kind: "taint", taints: [] });
  });
});

interface Input {
  readonly node: Node;
  readonly presence: Presence;
  readonly verdict: Verdict;
}

/** One of all, but every third time the most dangerous. */
function oneOf<T>(dangerous: T, all: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(dangerous) },
    { weight: 2, arbitrary: fc.constantFrom(...all) },
  );
}

const inputs: fc.Arbitrary<Input> = fc
  .record({
    ready: oneOf<string | undefined>("Unknown", ["True", "False", undefined]),
    providerId: oneOf<string | undefined>("test://n", ["aws:///i-1", "test://", "", undefined]),
    uninitialized: fc.boolean(),
    isLeaving: fc.boolean(),
    taints: fc.array(
      fc.constantFrom(SHUTDOWN, OTHER, { ...SHUTDOWN, value: "v" }, { ...SHUTDOWN, effect: "X" }),
      { maxLength: 4 },
    ),
    presence: oneOf<Presence>(toUnknown("notListed"), PRESENCES),
    verdict: oneOf(CONFIRM, VERDICTS),
  })
  .map(({ ready, providerId, isLeaving, presence, verdict, ...rest }) => {
    const given = { ...(ready && { ready }), ...(providerId !== undefined && { providerId }) };
    const node = toNode("n", { ...rest, ...given });
    const metadata = isLeaving
      ? { ...node.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" }
      : node.metadata;
    return { node: { ...node, metadata }, presence, verdict };
  });

function plan({ node, presence, verdict }: Input): LifecyclePlan {
  return planLifecycle(node, presence, verdict);
}

const RUNS = tries(2_000);

test("planLifecycle() plans no taints again once they were written", () => {
  fc.assert(
    fc.property(inputs, (input) => {
      const { node } = input;
      const first = plan(input);
      if (first.kind !== "taint") return;
      const after = { ...node, spec: { ...node.spec, taints: first.taints } };
      expect(toWord(plan({ ...input, node: after }))).not.toMatch(/taint/);
    }),
    RUNS,
  );
});

test("planLifecycle() never changes nor reorders the taints of others", () => {
  fc.assert(
    fc.property(inputs, (input) => {
      const planned = plan(input);
      if (planned.kind !== "taint") return;
      const toOthers = (taints: readonly { key: string; effect: string }[] = []): unknown =>
        taints.filter(({ key, effect }) => key !== SHUTDOWN.key || effect !== SHUTDOWN.effect);
      expect(toOthers(planned.taints)).toEqual(toOthers(input.node.spec?.taints));
    }),
    RUNS,
  );
});

test("L-14 planLifecycle() asks to delete only a Node of ours that is not Ready and not listed", () => {
  let confirmed = 0;
  fc.assert(
    fc.property(inputs, (input) => {
      if (plan(input).kind !== "confirm") return;
      confirmed += 1;
      const { node, presence, verdict } = input;
      expect([verdict.kind, presence.kind]).toEqual(["confirm", "unknown"]);
      expect(presence).toMatchObject({ reason: "notListed" });
      expect(node.spec?.providerID).toBeTruthy();
      expect(node.status?.conditions?.[0]?.status).not.toBe("True");
      expect(node.metadata.deletionTimestamp).toBeUndefined();
    }),
    RUNS,
  );
  expect(confirmed).toBeGreaterThan(0);
});

describe("toFleetMember()", () => {
  const missing = toUnknown("notListed");
  const none: readonly (readonly [string, Node, Presence])[] = [
    ["foreign", toOurNode(), FOREIGN],
    ["malformed", toOurNode(), toUnknown("malformedProviderId")],
    ["without a provider ID", toNode("n", { uninitialized: false }), missing],
    ["with an empty provider ID", toOurNode({ providerId: "" }), missing],
    ["uninitialised", toOurNode({ uninitialized: true }), missing],
    ["without a UID", { ...toOurNode(), metadata: { name: "n" } }, missing],
  ];
  test.each(none)("counts no Node that is %s", (_what, node, presence) => {
    expect(toFleetMember(node, presence, DEFAULT_DELETION)).toBeUndefined();
  });

  const sightings: readonly (readonly [what: string, Presence, string])[] = [
    ["running", RUNNING, "present"],
    ["stopped", STOPPED, "present"],
    ["not listed", missing, "missing"],
    ...REASONS.filter((reason) => !["notListed", "malformedProviderId"].includes(reason)).map(
      (reason) => [reason, toUnknown(reason), "unknown"] as const,
    ),
    ["absent by a direct read", { kind: "absent", evidence: "e" }, "unknown"],
  ];
  test.each(sightings)("sees a machine that is %s", (_what, presence, sighting) => {
    expect(toFleetMember(toOurNode(), presence, DEFAULT_DELETION)).toMatchObject({ sighting });
  });

  test.each([
    ["True", true],
    ["False", false],
    ["Unknown", false],
    ["", false],
  ])("takes Ready %p for %p", (ready, isReady) => {
    expect(toFleetMember(toOurNode({ ready }), missing, DEFAULT_DELETION)).toEqual({
      uid: "uid-n",
      isReady,
      sighting: "missing",
    });
  });
});

/** Longest time from the loss of a machine, whose Node is not Ready, to the end of its Node. */
const DELETED_WITHIN_MS = 90_000;
/** Time after which everything that would be deleted is. */
const LONG_MS = 300_000;

describe("the fleet limit", () => {
  test("L-15 three of twelve may go", async () => {
    await using rig = await startFleet(12);
    lose(rig, "n0", "n1", "n2");
    await rig.clock.advance(DELETED_WITHIN_MS);
    expect(rig.server.deletions.toSorted()).toEqual(["n0", "n1", "n2"]);
  });

  test("L-15 five of ten may not, which is said once in the log and on each", async () => {
    await using rig = await startFleet(10);
    const lost = ["n0", "n1", "n2", "n3", "n4"];
    lose(rig, ...lost);
    await rig.clock.advance(280_000);
    expect([rig.server.writes, rig.provider.reads]).toEqual([[], 0]);
    const errors = rig.lines.filter((line) => line.includes('"level":"error"'));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain('"missing":5');
    for (const name of lost) {
      expect(rig.listEvents(name, "NodeDeletionBlocked")).toHaveLength(1);
      expect(rig.describe(name)?.deletion).toMatchObject({
        state: "blocked",
        reason: "fleetLimit",
      });
    }
    expect(rig.readMetric('landfall_node_deletions_blocked{reason="fleetLimit"}')).toBe(5);
    expect(rig.readMetric("landfall_fleet_missing")).toBe(5);
    expect(rig.readMetric("landfall_fleet_limit")).toBe(3);
    await rig.clock.advance(120_000);
    expect(rig.listEvents("n0", "NodeDeletionBlocked")).toHaveLength(2);
  });

  test("L-15 tells each Node once in five minutes, though the counts in the message change", async () => {
    await using rig = await startFleet(20);
    const names = Array.from({ length: 14 }, (_, at) => `n${at}`);
    lose(rig, ...names.slice(0, 8));
    await rig.clock.advance(100_000);
    for (const name of names.slice(8)) {
      lose(rig, name);
      await rig.clock.advance(10_000);
    }
    expect(rig.server.deletions).toEqual([]);
    expect(rig.listEvents("n0", "NodeDeletionBlocked")).toHaveLength(1);
  });

  test("L-15 a person who deletes some frees the rest", async () => {
    await using rig = await startFleet(10);
    lose(rig, "n0", "n1", "n2", "n3", "n4");
    await rig.clock.advance(DELETED_WITHIN_MS);
    rig.server.remove("n0");
    await rig.clock.advance(20_000);
    expect(rig.server.deletions).toEqual([]);
    rig.server.remove("n1");
    await rig.clock.advance(20_000);
    expect(rig.server.deletions.toSorted()).toEqual(["n2", "n3", "n4"]);
    expect(rig.lines.filter((line) => line.includes("may delete Nodes again"))).toHaveLength(1);
  });

  test("L-15 a limit that a person raised lets them go", async () => {
    await using rig = await startFleet(10, { deletion: { fleetShare: 0.5 } });
    lose(rig, "n0", "n1", "n2", "n3", "n4");
    await rig.clock.advance(DELETED_WITHIN_MS);
    expect(rig.server.deletions).toHaveLength(5);
  });

  test("L-15 counts those whose Nodes are still Ready", async () => {
    await using rig = await startFleet(10);
    rig.loseMachines("n1", "n2", "n3", "n4");
    lose(rig, "n0");
    await rig.clock.advance(LONG_MS);
    expect(rig.server.deletions).toEqual([]);
  });

  test("L-15 counts those that went within the window, however slowly", async () => {
    await using rig = await startFleet(10);
    for (const name of ["n0", "n1", "n2", "n3", "n4"]) {
      lose(rig, name);
      await rig.clock.advance(100_000);
    }
    expect(rig.server.deletions).toEqual(["n0", "n1", "n2"]);
  });
});

test("words of the lifecycle controller are what clusters and people rely on", () => {
  expect(SHUTDOWN_TAINT).toEqual({
    key: "node.cloudprovider.kubernetes.io/shutdown",
    effect: "NoSchedule",
  });
  expect(COMPONENT).toBe("cloud-node-lifecycle-controller");
  expect(Object.values(EVENT_WORDS).map(({ type, reason }) => `${type} ${reason}`)).toEqual([
    "Normal DeletingNode",
    "Warning DeletingNodeFailed",
    "Warning NodeDeletionBlocked",
    "Normal ShutdownTaintSet",
    "Normal ShutdownTaintRemoved",
    "Warning ShutdownTaintContested",
  ]);
});
