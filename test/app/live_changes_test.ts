/**
 * How soon Nodes show what changed in the cloud, and what it costs to know.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { toRegistration } from "../support/nodes/nodes.ts";
import { OutageRig, REFRESH_MS } from "../support/outages/rig.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOST_NAME = "topology.k8s.xenorchestra/host_name_label";
/** As the real one. */
const EVENT_PERIOD_MS = 200;
const STEP_MS = 50;
const MINUTE_MS = 60_000;
const NAMES = ["1", "2", "3", "4", "5"].flatMap((suffix) => [`alpha-${suffix}`, `beta-${suffix}`]);

function start(hasEvents: boolean): Promise<OutageRig> {
  return OutageRig.start(DEFAULT_DELETION, hasEvents, { eventPeriodMs: EVENT_PERIOD_MS });
}

/** A machine goes to the other host of its pool. Returns how long its Node needs to show it, in milliseconds. */
async function migrate(rig: OutageRig, ...names: readonly string[]): Promise<number> {
  const places = names.map((name) => {
    const { hostIds } = rig.pools[name.startsWith("alpha") ? "alpha" : "beta"];
    const hostId = hostIds.find((id) => id !== rig.readNode(name)?.metadata.labels?.[ZONE]) ?? "";
    rig.servers.cloud.state.migrateLive(rig.toVmId(name), hostId);
    return [name, hostId] as const;
  });
  return await measure(rig, () =>
    places.every(([name, hostId]) => rig.readNode(name)?.metadata.labels?.[ZONE] === hostId),
  );
}

async function measure(rig: OutageRig, holds: () => boolean): Promise<number> {
  const startMs = rig.clock.monotonic();
  while (!holds() && rig.clock.monotonic() - startMs < 2 * REFRESH_MS) {
    await rig.clock.advance(STEP_MS);
  }
  return rig.clock.monotonic() - startMs;
}

/** Requests to the cloud by route, from now on. */
function watchRequests(rig: OutageRig): () => Record<string, number> {
  rig.servers.cloud.requests.reset();
  return () => Object.fromEntries(rig.servers.cloud.requests.byRoute);
}

describe("labels of a machine that moves", () => {
  test("are right within 2 s of the event, whenever it comes, for one request", async () => {
    await using rig = await start(true);
    for (const phaseMs of [0, 300, 900, 5_000, 14_000, 29_900, 100]) {
      await rig.clock.advance(phaseMs);
      const tookMs = await migrate(rig, "alpha-1");
      // An event takes up to 200 ms by itself.
      expect(tookMs).toBeLessThanOrEqual(EVENT_PERIOD_MS + 2_000);
    }
    await rig.clock.advance(2_000);
    const read = watchRequests(rig);
    await migrate(rig, "beta-1");
    expect(read()).toEqual({ "GET /vms": 1 });
  });

  test("are right as soon when many move at once, for one refresh", async () => {
    await using rig = await start(true);
    await rig.clock.advance(2_000);
    const read = watchRequests(rig);
    expect(await migrate(rig, ...NAMES)).toBeLessThanOrEqual(EVENT_PERIOD_MS + 2_000);
    expect(read()).toEqual({ "GET /vms": 1, "GET /hosts": 1, "GET /pools": 1 });
  });

  test("follow a host that is renamed", async () => {
    await using rig = await start(true);
    const [hostId] = rig.pools.alpha.hostIds;
    const host = rig.servers.cloud.state.read("hosts", hostId);
    if (host) host["name_label"] = "renamed";
    const tookMs = await measure(rig, () =>
      NAMES.filter((name) => name.startsWith("alpha")).every(
        (name) => rig.readNode(name)?.metadata.labels?.[HOST_NAME] === "renamed",
      ),
    );
    expect(tookMs).toBeLessThanOrEqual(EVENT_PERIOD_MS + 2_000);
  });

  test.each<[string, (rig: OutageRig) => unknown]>([
    ["there are no events", () => undefined],
    ["events are lost", ({ servers }) => (servers.cloud.events.mode = "lossy")],
    ["the stream is silent", ({ servers }) => (servers.cloud.events.mode = "silent")],
    [
      "the stream is cut for good",
      ({ servers: { cloud } }) => {
        cloud.events.isOffered = false;
        cloud.events.drop();
      },
    ],
  ])("are right within an interval and a second when %s", async (title, break_) => {
    await using rig = await start(title !== "there are no events");
    break_(rig);
    for (const phaseMs of [0, 14_000, 29_000]) {
      await rig.clock.advance(phaseMs);
      expect(await migrate(rig, "alpha-1")).toBeLessThanOrEqual(REFRESH_MS + 1_000);
    }
  });

  test("are right at once again after the stream was cut, and what was missed meanwhile too", async () => {
    await using rig = await start(true);
    rig.servers.cloud.events.drop();
    // The next stream comes after a second or two, and what it brings is a refresh.
    expect(await migrate(rig, "alpha-1")).toBeLessThanOrEqual(5_000);
    await rig.clock.advance(5_000);
    expect(await migrate(rig, "alpha-1")).toBeLessThanOrEqual(EVENT_PERIOD_MS + 2_000);
  });
});

describe("a minute of rest", () => {
  test.each([true, false])("takes six requests; with events: %p", async (hasEvents) => {
    await using rig = await start(hasEvents);
    await rig.clock.advance(MINUTE_MS);
    const read = watchRequests(rig);
    await rig.clock.advance(MINUTE_MS);
    expect(read()).toEqual({ "GET /vms": 2, "GET /hosts": 2, "GET /pools": 2 });
  });

  test("takes no more while machines change that are no Nodes, or only use memory otherwise", async () => {
    await using rig = await start(true);
    const { state } = rig.servers.cloud;
    const [hostId] = rig.pools.alpha.hostIds;
    const foreign = state.addVm({ name: "foreign", poolId: rig.pools.alpha.id, hostId });
    await rig.clock.advance(MINUTE_MS);
    const read = watchRequests(rig);
    for (let second = 0; second < 60; second += 1) {
      state.setVm(foreign, { name_label: `foreign ${second}` });
      for (const name of NAMES) state.balloon(rig.toVmId(name), second);
      await rig.clock.advance(1_000);
    }
    expect(read()).toEqual({ "GET /vms": 2, "GET /hosts": 2, "GET /pools": 2 });
  });

  test("without events takes one more every ten minutes, to see whether there are any now", async () => {
    await using rig = await start(false);
    const read = watchRequests(rig);
    await rig.clock.advance(30 * MINUTE_MS);
    expect(read()["GET /events"]).toBe(3);
    rig.servers.cloud.events.isOffered = true;
    await rig.clock.advance(10 * MINUTE_MS);
    expect(await migrate(rig, "alpha-1")).toBeLessThanOrEqual(EVENT_PERIOD_MS + 2_000);
  });
});

describe("pools that a changed file names", () => {
  test("have their waiting Nodes initialised by the next inventory, and those of others are left alone", async () => {
    await using rig = await OutageRig.start(DEFAULT_DELETION, false);
    await rig.stopApp();
    const { objects } = rig.servers.kubernetes;
    objects.deleteNode("beta-1");
    const systemUuid = rig.toVmId("beta-1");
    objects.createNode(toRegistration("beta-1", { systemUuid, labels: {} }));
    await rig.startApp({ pools: ["alpha"] });
    await rig.clock.advance(60_000);
    expect(rig.readNode("beta-1")?.spec?.providerID).toBeUndefined();
    rig.setSettings({ pools: ["beta"] });
    await rig.clock.advance(25_000);
    expect(rig.readNode("beta-1")?.spec?.providerID).toContain(rig.pools.beta.id);
  });
});
