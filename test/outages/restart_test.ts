/**
 * What is known of machines ends with a process. The next one must not take for gone what it never saw.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION, type DeletionSettings } from "../../lib/cloud/deletion/guard.ts";
import { readExtent } from "../support/extent.ts";
import { OutageRig, REFRESH_MS } from "../support/outages/rig.ts";

const MINUTE_MS = 60_000;
/** Longer than any time after which the program lets go of a Node. */
const LONG_MS = (readExtent() === "all" ? 60 : 30) * MINUTE_MS;
const NODE = "alpha-3";
const REGION = "topology.kubernetes.io/region";
const SETTINGS: readonly (readonly [string, DeletionSettings])[] = [
  ["default settings", DEFAULT_DELETION],
  [
    "nothing but the proof of absence",
    { ...DEFAULT_DELETION, confirmations: 1, holdOffMs: 0, fleetShare: 1 },
  ],
];

/** Landfall is started anew while the Node's machine looks gone, and `ms` go by: a stop takes some of them. */
async function restart(rig: OutageRig, ms: number): Promise<void> {
  const untilMs = rig.clock.monotonic() + ms;
  await rig.stopApp();
  await rig.startApp();
  await rig.clock.advance(untilMs - rig.clock.monotonic());
}

function countDeletions({ servers: { kubernetes } }: OutageRig): number {
  return kubernetes.requests.count({ verb: "delete", resource: "nodes" });
}

/** The Node was never asked to be deleted, and shows that its machine is in the other pool. */
async function expectMoved(rig: OutageRig): Promise<void> {
  await rig.clock.advance(REFRESH_MS);
  expect(countDeletions(rig)).toBe(0);
  expect(rig.readNode(NODE)?.metadata.labels?.[REGION]).toBe(rig.pools.beta.id);
}

test("a start while a pool is cut has a series for that pool, which its alert can fire on", async () => {
  await using rig = await OutageRig.start(DEFAULT_DELETION, true);
  const { id } = rig.pools.alpha;
  const listCovered = (): string[] =>
    rig.metrics
      .render()
      .split("\n")
      .filter((line) => line.includes(`part="${id}"`));
  rig.servers.cloud.state.dropPool(id);
  await restart(rig, 2 * REFRESH_MS);
  expect(listCovered()).toEqual([`landfall_inventory_covered{part="${id}"} 0`]);
  rig.servers.cloud.state.restorePool(id);
  await rig.clock.advance(3 * MINUTE_MS);
  expect(listCovered()).toEqual([`landfall_inventory_covered{part="${id}"} 1`]);
});

describe.each(SETTINGS)("a restart with %s does not cost a live Node", (_title, settings) => {
  test.each([true, false])("whose machine is between two pools; events: %p", async (hasEvents) => {
    await using rig = await OutageRig.start(settings, hasEvents);
    rig.setReady(NODE, false);
    const gapMs = 9 * MINUTE_MS;
    // No list shows that it is being migrated.
    rig.servers.cloud.state.migratePool(rig.toVmId(NODE), rig.pools.beta.id, { gapMs });
    await restart(rig, gapMs - 1);
    expect(rig.listEvents(NODE)).toContain("NodeDeletionBlocked");
    expect(rig.metrics.render()).toContain('landfall_node_deletions_blocked{reason="neverSeen"} 1');
    await expectMoved(rig);
  });

  test.each([
    ["are refused", { kind: "status", status: 403 }],
    ["are none, for a user who may not see them", { kind: "json", body: [] }],
  ] as const)(
    "whose machine moved into a pool that is lost, when connections %s",
    async (_title, fault) => {
      await using rig = await OutageRig.start(settings, true);
      const { state, faults } = rig.servers.cloud;
      const { id } = rig.pools.beta;
      await rig.stopApp();
      // Nobody saw it there: neither a list nor a label tells of it.
      state.migratePool(rig.toVmId(NODE), id);
      state.dropPool(id);
      faults.set(fault, { route: "/servers" });
      rig.setReady(NODE, false);
      await rig.startApp();
      await rig.clock.advance(LONG_MS);
      expect(countDeletions(rig)).toBe(0);
      expect(rig.listEvents(NODE)).toContain("NodeDeletionBlocked");
      expect(rig.metrics.render()).toContain(
        'landfall_node_deletions_blocked{reason="unconfirmed"} 1',
      );
      state.restorePool(id);
      await expectMoved(rig);
    },
  );

  test("and lets go of one that it saw, though connections cannot be read, with no other lost", async () => {
    await using rig = await OutageRig.start(settings, true);
    const { state, faults } = rig.servers.cloud;
    faults.set({ kind: "json", body: [] }, { route: "/servers" });
    await restart(rig, 20 * MINUTE_MS);
    rig.setReady("alpha-gone", false);
    state.removeVm(rig.toVmId("alpha-gone"));
    await rig.clock.advance(10 * MINUTE_MS);
    expect(rig.readNode("alpha-gone")).toBeUndefined();
  });

  test("and still lets go, ten minutes later, of one whose machine was deleted before", async () => {
    await using rig = await OutageRig.start(settings, true);
    rig.setReady("alpha-gone", false);
    await rig.stopApp();
    rig.servers.cloud.state.removeVm(rig.toVmId("alpha-gone"));
    await rig.startApp();
    await rig.clock.advance(10 * MINUTE_MS - 1);
    expect(rig.readNode("alpha-gone")).toBeDefined();
    await rig.clock.advance(REFRESH_MS);
    expect(rig.readNode("alpha-gone")).toBeUndefined();
  });
});
