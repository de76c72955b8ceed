import { describe, expect, test } from "bun:test";
import type { InstanceState } from "../../../lib/cloud/instance.ts";
import type { Presence, UnknownReason } from "../../../lib/cloud/provider.ts";
import {
  COMPONENT,
  EVENT_WORDS,
  SHUTDOWN_TAINT,
} from "../../../lib/controllers/node_lifecycle/words.ts";
import { type FakeProvider, toInstance } from "../../support/cloud/instances.ts";
import { isGone, lose, startFleet } from "../../support/nodes/lifecycle_rig.ts";
import { type NodeOptions, toNode } from "../../support/nodes/nodes.ts";

const SHUTDOWN = { key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" };
const ALIKE = { ...SHUTDOWN, effect: "NoExecute" };
const OTHER = { key: "example.com/mine", value: "x", effect: "NoExecute" };
const FOREIGN: Presence = { kind: "foreign", providerId: "aws:///i-1" };
/** A machine that was never seen is not missed before. */
const NEVER_SEEN_MS = 600_000;

function toPresent(state: InstanceState): Presence {
  return { kind: "present", instance: toInstance("x", { state }), matchedBy: "providerId" };
}

function toUnknown(reason: UnknownReason): Presence {
  return { kind: "unknown", reason, message: `because ${reason}` };
}

/** The cloud says this of the machines of these Nodes, and the truth of all others. */
function say(provider: FakeProvider, presence: Presence, isMeant: (name: string) => boolean): void {
  const find = provider.findInstance.bind(provider);
  provider.findInstance = (inventory, node) =>
    isMeant(node.name) ? presence : find(inventory, node);
}

const NO_ID = { providerId: "" };
const NEW = { uninitialized: true };
const READY = { ready: "True" };

const ENDS: readonly (readonly [end: string, what: string, Presence, NodeOptions])[] = [
  ["kept", "runs", toPresent("running"), {}],
  ["kept", "is in a state that nobody knows", toPresent("unknown"), {}],
  ["tainted", "is off", toPresent("stopped"), { taints: [OTHER, ALIKE] }],
  ["kept", "is off, and whose Node is not initialised", toPresent("stopped"), NEW],
  ["deleted", "is not listed", toUnknown("notListed"), {}],
  ["kept", "is not listed, and that no provider ID names", toUnknown("notListed"), NO_ID],
  ["kept", "is not listed, and whose Node is not initialised", toUnknown("notListed"), NEW],
  ["kept", "is another cloud's", FOREIGN, {}],
  ["kept", "is another cloud's, with its taint", FOREIGN, { ...READY, taints: [SHUTDOWN] }],
  ...(["notCovered", "undecodable", "ambiguous", "denied"] as const).map(
    (reason) => [`blocked: ${reason}`, `is ${reason}`, toUnknown(reason), {}] as const,
  ),
  ...(
    [
      "unreachable",
      "throttled",
      "protocol",
      "noInventory",
      "malformedProviderId",
      "noIdentity",
      "notFound",
    ] as const
  ).map((reason) => ["kept", `is ${reason}`, toUnknown(reason), {}] as const),
  ["kept", "is ambiguous, and that no provider ID names", toUnknown("ambiguous"), NO_ID],
  ["kept", "is ambiguous, and whose Node is not initialised", toUnknown("ambiguous"), NEW],
  ["kept", "is off, while its Node is Ready", toPresent("stopped"), { ...READY, taints: [ALIKE] }],
  [
    "untainted",
    "is denied, while its Node is Ready",
    toUnknown("denied"),
    { ...READY, taints: [OTHER, { ...SHUTDOWN, value: "true" }, ALIKE] },
  ],
  [
    "kept",
    "runs, while its Node is Ready and not initialised",
    toPresent("running"),
    { ...READY, ...NEW, taints: [SHUTDOWN] },
  ],
];

test.each(ENDS)(
  "L-03 L-05 L-10 L-14 a Node is %s whose machine %s",
  async (end, _what, presence, options) => {
    const usual = { providerId: "test://x", uninitialized: false, ready: "Unknown" };
    const node = toNode("x", { ...usual, ...options });
    await using rig = await startFleet(9, {
      prepare: ({ server, provider }) => {
        say(provider, presence, (name) => name === "x");
        server.put(node);
      },
    });
    await rig.clock.advance(NEVER_SEEN_MS + 100_000);
    const before = node.spec?.taints ?? [];
    const after = rig.server.find("x")?.spec?.taints ?? [];
    const said = rig.listEvents("x", "NodeDeletionBlocked")[0]?.message.replace("because ", "");
    if (isGone(rig, "x")) expect(end).toBe("deleted");
    else if (said !== undefined) expect(end).toBe(`blocked: ${said}`);
    else if (end === "tainted") expect(after).toEqual([...before, SHUTDOWN]);
    else if (end === "untainted") expect(after).toEqual([OTHER, ALIKE]);
    else expect(end).toBe("kept");
    if (!end.endsWith("tainted")) expect(rig.server.writes).toHaveLength(end === "deleted" ? 1 : 0);
  },
);

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

  test.each([FOREIGN, toUnknown("malformedProviderId")])(
    "L-15 is that of our Nodes alone, however many are $kind",
    async (presence) => {
      await using rig = await startFleet(5, {
        prepare: ({ add, provider }) => {
          say(provider, presence, (name) => name.startsWith("other"));
          for (let at = 0; at < 20; at += 1) add(`other${at}`);
        },
      });
      lose(rig, "n0", "n1", "n2");
      await rig.clock.advance(LONG_MS);
      expect(rig.server.deletions).toEqual([]);
    },
  );

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
