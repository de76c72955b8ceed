import { describe, expect, test } from "bun:test";
import { lose, startFleet } from "../../support/nodes/lifecycle_rig.ts";

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
