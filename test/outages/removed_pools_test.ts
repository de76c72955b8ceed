/**
 * A pool that was removed from Xen Orchestra for good does not hold up deletions in other pools for ever. One that is
 * merely lost does.
 */
import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { readExtent } from "../support/extent.ts";
import { OutageRig, REFRESH_MS } from "../support/outages/rig.ts";

const MINUTE_MS = 60_000;
/** For so long the connection must be gone, and a little more for reads once a minute. */
const REMOVED_MS = 12 * MINUTE_MS;
/** For so long a VM must stay in its own pool after that, and a little more until the connection is missed. */
const STAY_MS = 4 * MINUTE_MS;
/** Time for three observations, and the deletion. */
const DELETION_MS = 3 * MINUTE_MS;
const GONE = "beta-gone";
/** What a stream of events changes is in other tests, too. */
const WITH_EVENTS = readExtent() === "all" ? [true, false] : [true];

/** Deletes the VM of a Node, which falls silent. */
function remove(rig: OutageRig, name: string): void {
  rig.servers.cloud.state.removeVm(rig.toVmId(name));
  rig.setReady(name, false);
}

function findServer(rig: OutageRig, poolId: string) {
  const servers = [...rig.servers.cloud.state.all("servers").values()];
  const server = servers.find((one) => one["poolId"] === poolId);
  if (server === undefined) throw new Error("Cannot find the connection");
  return server;
}

describe.each(WITH_EVENTS)("a pool whose connection was removed; events: %p", (hasEvents) => {
  test("holds up deletions in another pool for ten minutes, and no longer", async () => {
    await using rig = await OutageRig.start(DEFAULT_DELETION, hasEvents);
    const { alpha } = rig.pools;
    rig.servers.cloud.state.forgetPool(alpha.id);
    await rig.clock.advance(STAY_MS);
    remove(rig, GONE);
    remove(rig, "alpha-gone");
    rig.setReady("alpha-3", false);
    await rig.clock.advance(9 * MINUTE_MS - STAY_MS);
    expect(rig.readNode(GONE)).toBeDefined();
    expect(rig.listEvents(GONE)).toContain("NodeDeletionBlocked");
    await rig.clock.advance(DELETION_MS + REMOVED_MS - 9 * MINUTE_MS);
    expect(rig.readNode(GONE)).toBeUndefined();
    // Nobody can say of these whether they are gone.
    expect(rig.readNode("alpha-gone")).toBeDefined();
    expect(rig.readNode("alpha-3")).toBeDefined();
    expect(rig.metrics.render()).not.toContain(`part="${alpha.id}"`);
  });

  test("is known again when it is added again", async () => {
    await using rig = await OutageRig.start(DEFAULT_DELETION, hasEvents);
    const { state } = rig.servers.cloud;
    const { alpha } = rig.pools;
    const server = findServer(rig, alpha.id);
    state.forgetPool(alpha.id);
    await rig.clock.advance(REMOVED_MS);
    state.put("servers", server);
    remove(rig, GONE);
    await rig.clock.advance(DELETION_MS);
    expect(rig.readNode(GONE)).toBeDefined();
    state.restorePool(alpha.id);
    await rig.clock.advance(DELETION_MS);
    expect(rig.readNode(GONE)).toBeUndefined();
    expect(rig.readNode("alpha-3")).toBeDefined();
  });
});

describe("a pool holds up deletions for as long as it is away", () => {
  test.each<[string, (rig: OutageRig) => void]>([
    ["its connection is cut", (rig) => rig.servers.cloud.state.dropPool(rig.pools.alpha.id)],
    [
      "its connection was removed, and another entry names no pool",
      (rig) => {
        const { state } = rig.servers.cloud;
        const { poolId: _poolId, ...rest } = findServer(rig, rig.pools.alpha.id);
        state.forgetPool(rig.pools.alpha.id);
        state.put("servers", { ...rest, id: "new", enabled: false, status: "disconnected" });
      },
    ],
    [
      "the user may not see the pool, nor its connection, any more",
      (rig) => {
        const { state } = rig.servers.cloud;
        const { alpha } = rig.pools;
        state.forbid(findServer(rig, alpha.id).id);
        for (const collection of ["pools", "hosts", "vms", "vm-controllers"] as const) {
          for (const { id, $pool } of state.all(collection).values()) {
            if (id === alpha.id || $pool === alpha.id) state.forbid(id);
          }
        }
      },
    ],
    [
      "the list of connections is empty",
      (rig) => {
        rig.servers.cloud.state.dropPool(rig.pools.alpha.id);
        rig.servers.cloud.faults.set({ kind: "json", body: [] }, { route: "/servers" });
      },
    ],
  ])("when %s", async (_title, lose) => {
    await using rig = await OutageRig.start(DEFAULT_DELETION, true);
    lose(rig);
    await rig.clock.advance(REFRESH_MS);
    remove(rig, GONE);
    await rig.clock.advance(REMOVED_MS + DELETION_MS);
    expect(rig.readNode(GONE)).toBeDefined();
    expect(rig.listEvents(GONE)).toContain("NodeDeletionBlocked");
  });

  test("when a VM left its pool as the other was removed: it may be there", async () => {
    await using rig = await OutageRig.start(DEFAULT_DELETION, true);
    const { alpha } = rig.pools;
    rig.servers.cloud.state.migratePool(rig.toVmId(GONE), alpha.id);
    rig.servers.cloud.state.forgetPool(alpha.id);
    rig.setReady(GONE, false);
    await rig.clock.advance(REMOVED_MS + DELETION_MS);
    expect(rig.readNode(GONE)).toBeDefined();
  });
});

describe.each(WITH_EVENTS)(
  "a VM that went to a pool before that was removed; events: %p",
  (hasEvents) => {
    test.each<[string, (rig: OutageRig) => Promise<void>]>([
      [
        "while the pool was lost",
        async ({ servers, clock, pools, toVmId }) => {
          const { state } = servers.cloud;
          state.dropPool(pools.alpha.id);
          await clock.advance(2 * MINUTE_MS);
          state.migratePool(toVmId(GONE), pools.alpha.id);
          await clock.advance(2 * MINUTE_MS);
          state.forgetPool(pools.alpha.id);
        },
      ],
      [
        "and Xen Orchestra showed it in its old pool for a while longer",
        async ({ servers, clock, pools, toVmId }) => {
          const { state } = servers.cloud;
          state.forgetPool(pools.alpha.id);
          await clock.advance(66_000);
          state.migratePool(toVmId(GONE), pools.alpha.id);
        },
      ],
    ])("keeps its Node: %s", async (_title, move) => {
      await using rig = await OutageRig.start(DEFAULT_DELETION, hasEvents);
      await rig.clock.advance(5 * MINUTE_MS);
      await move(rig);
      await rig.clock.advance(REMOVED_MS);
      rig.setReady(GONE, false);
      await rig.clock.advance(20 * MINUTE_MS);
      expect(rig.readNode(GONE)).toBeDefined();
      expect(rig.listEvents(GONE)).toContain("NodeDeletionBlocked");
    });
  },
);

describe("what is known of connections", () => {
  test("costs one question after the start, and none at rest", async () => {
    await using rig = await OutageRig.start(DEFAULT_DELETION, true);
    const { requests } = rig.servers.cloud;
    const count = (): number => requests.count("GET /servers");
    expect(count()).toBe(1);
    await rig.clock.advance(30 * MINUTE_MS);
    expect(count()).toBe(1);
  });

  test.each([403, 500])(
    "costs a question in ten minutes at rest while it is answered with %d",
    async (status) => {
      await using rig = await OutageRig.start(DEFAULT_DELETION, true);
      rig.servers.cloud.faults.set({ kind: "status", status }, { route: "/servers" });
      rig.servers.cloud.state.restorePool(rig.pools.alpha.id);
      const { requests } = rig.servers.cloud;
      await rig.clock.advance(60 * MINUTE_MS);
      expect(requests.count("GET /servers")).toBeLessThanOrEqual(8);
    },
  );
});
