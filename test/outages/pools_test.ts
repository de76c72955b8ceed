import { describeOutages, type Outage } from "../support/outages/story.ts";

const MINUTE_MS = 60_000;

/** A pool of which the connection drops for a while; Xen Orchestra takes another minute to show it again. */
function toDrop(ms: number): Outage {
  return {
    title: `a pool is lost for ${ms / 1_000} s, and shown again a minute later`,
    begin: ({ servers: { cloud }, pools }) => cloud.state.dropPool(pools.alpha.id, ms, MINUTE_MS),
    lastsMs: ms + MINUTE_MS,
    lists: ["beta"],
  };
}

describeOutages("when pools are lost", [
  toDrop(1_500),
  { ...toDrop(2 * MINUTE_MS), isVariant: true },
  toDrop(10 * MINUTE_MS),
  {
    title: "both pools are lost",
    begin: ({ servers: { cloud }, pools }) => {
      for (const { id } of Object.values(pools)) cloud.state.dropPool(id);
      return () => Object.values(pools).forEach(({ id }) => cloud.state.restorePool(id));
    },
  },
  {
    title: "two pools, one gone: a person removes a pool from Xen Orchestra, and adds it again",
    begin: ({ servers: { cloud }, pools: { alpha } }) => {
      const servers = [...cloud.state.all("servers").values()];
      cloud.state.forgetPool(alpha.id);
      return () => {
        cloud.state.restorePool(alpha.id);
        for (const server of servers) cloud.state.put("servers", server);
      };
    },
    lists: ["beta"],
    // Who never knew of the pool does not wait for it, but keeps the Nodes of its machines.
    provesAnew: ["beta"],
  },
  {
    title: "a pool is lost, and halted copies of its machines show in the other",
    begin: ({ servers: { cloud }, pools: { alpha, beta }, toVmId }) => {
      const { state } = cloud;
      const records = ["1", "3", "4", "5"].map((suffix) => {
        const id = toVmId(`alpha-${suffix}`);
        const record = structuredClone(state.read("vms", id));
        state.migratePool(id, beta.id);
        state.setPower(id, "Halted");
        return record;
      });
      state.dropPool(alpha.id);
      return () => {
        for (const record of records) if (record !== undefined) state.put("vms", record);
        state.restorePool(alpha.id);
      };
    },
    lists: ["beta"],
  },
]);

describeOutages("when pools are half there", [
  {
    title: "machines are missing while their pool and its hosts show",
    begin: ({ servers: { cloud }, pools: { alpha } }) => {
      cloud.state.hideVms(alpha.id);
      return () => cloud.state.hideVms(alpha.id, false);
    },
    lists: ["beta"],
    isMass: true,
  },
  {
    title: "all machines are missing while pools and hosts show",
    begin: ({ servers: { cloud }, pools }) => {
      for (const { id } of Object.values(pools)) cloud.state.hideVms(id);
      return () => Object.values(pools).forEach(({ id }) => cloud.state.hideVms(id, false));
    },
    isVariant: true,
  },
  {
    title: "a machine on its way to another pool is in neither for 45 s",
    begin: (rig) => {
      const { state } = rig.servers.cloud;
      state.migratePool(rig.toVmId("alpha-3"), rig.pools.beta.id, { gapMs: 45_000 });
    },
    lastsMs: 45_000,
    lists: ["alpha", "beta"],
    movesPool: ["alpha-3"],
    needsTime: true,
  },
]);

describeOutages("when nothing tells it from the truth:", [
  {
    title: "five machines of ten look deleted in every way for 4 min",
    begin: (rig) => {
      const { id, hostIds } = rig.pools.alpha;
      const place = { hostId: hostIds[0], gapMs: 4 * MINUTE_MS };
      for (const suffix of ["1", "2", "3", "4", "5"]) {
        rig.servers.cloud.state.migratePool(rig.toVmId(`alpha-${suffix}`), id, place);
      }
    },
    lists: ["beta"],
    isMass: true,
    needsTime: true,
  },
]);

describeOutages("when Xen Orchestra restarts", [
  {
    title: "and its pools load fast",
    begin: ({ servers: { cloud } }) => cloud.restart({ loadedAfterMs: 0 }),
    lastsMs: 2_000,
    proves: ["alpha", "beta"],
  },
  {
    title: "and its pools load slowly, in 15 s",
    begin: ({ servers: { cloud } }) =>
      cloud.restart({ connectedAfterMs: 6_000, loadedAfterMs: 15_000 }),
    lastsMs: 15_000,
    isVariant: true,
  },
  {
    title: "and its pools load in 4 min, though they say at once that they are connected",
    begin: ({ servers: { cloud } }) => cloud.restart({ loadedAfterMs: 4 * MINUTE_MS }),
  },
]);
