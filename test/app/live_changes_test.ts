/**
 * How soon Nodes show what changed in the cloud, and what it costs to know.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { XenOrchestraWorld } from "../simulation/xenorchestra/cloud.ts";
import { toSaying } from "../simulation/world/settings_file.ts";
import {
  LIVE,
  MINUTE_MS,
  REFRESH_MS,
  Stage,
  toWorldSettings,
} from "../simulation/scenarios/stage.ts";
import { DEFAULT, findPool, type XoStage } from "../simulation/scenarios/xenorchestra/tellings.ts";
import { longTest } from "../support/long_tests.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOST_NAME = "topology.k8s.xenorchestra/host_name_label";
/** As the real one. */
const EVENT_PERIOD_MS = 200;
const STEP_MS = 50;

class LiveStage extends Stage<XenOrchestraWorld["cloud"]> implements AsyncDisposable {
  async [Symbol.asyncDispose](): Promise<void> {
    await this.world.leave();
  }
}

async function start(hasEvents: boolean): Promise<LiveStage> {
  const world = new XenOrchestraWorld("settled", () => toWorldSettings(DEFAULT), {
    eventPeriodMs: EVENT_PERIOD_MS,
  });
  world.cloud.events.isOffered = hasEvents;
  const stage = new LiveStage(world);
  await stage.open();
  return stage;
}

/** A machine goes to the other host of its pool. Returns how long its Node needs to show it, in milliseconds. */
async function migrate(stage: XoStage, ...names: readonly string[]): Promise<number> {
  const places = names.map((name) => {
    const { hostIds } = findPool(stage, name.startsWith("alpha") ? "alpha" : "beta");
    const hostId = hostIds.find((id) => id !== stage.read(name).metadata.labels?.[ZONE]) ?? "";
    stage.cloud.state.migrateLive(stage.toVmId(name), hostId);
    return [name, hostId] as const;
  });
  return await measure(stage, () =>
    places.every(([name, hostId]) => stage.read(name).metadata.labels?.[ZONE] === hostId),
  );
}

async function measure(stage: XoStage, holds: () => boolean): Promise<number> {
  const { timeline } = stage.world;
  const startMs = timeline.monotonic();
  while (!holds() && timeline.monotonic() - startMs < 2 * REFRESH_MS) await stage.pass(STEP_MS);
  return timeline.monotonic() - startMs;
}

/** Requests to the cloud by route, from now on. */
function watchRequests({ cloud: { counter } }: XoStage): () => Record<string, number> {
  counter.reset();
  return () => Object.fromEntries(counter.byRoute);
}

describe("labels of a machine that moves", () => {
  test("are right within 2 s of the event, whenever it comes, for one request", async () => {
    await using stage = await start(true);
    for (const phaseMs of [0, 300, 900, 5_000, 14_000, 29_900, 100]) {
      await stage.pass(phaseMs);
      const tookMs = await migrate(stage, "alpha-1");
      // An event takes up to 200 ms by itself.
      expect(tookMs).toBeLessThanOrEqual(EVENT_PERIOD_MS + 2_000);
    }
    await stage.pass(2_000);
    const read = watchRequests(stage);
    await migrate(stage, "beta-1");
    expect(read()).toEqual({ "GET /vms": 1 });
  });

  test("are right as soon when many move at once, for one refresh", async () => {
    await using stage = await start(true);
    await stage.pass(2_000);
    const read = watchRequests(stage);
    expect(await migrate(stage, ...LIVE)).toBeLessThanOrEqual(EVENT_PERIOD_MS + 2_000);
    expect(read()).toEqual({ "GET /vms": 1, "GET /hosts": 1, "GET /pools": 1 });
  });

  test("follow a host that is renamed", async () => {
    await using stage = await start(true);
    const [hostId = ""] = findPool(stage, "alpha").hostIds;
    const host = stage.cloud.state.read("hosts", hostId);
    if (host) host["name_label"] = "renamed";
    const tookMs = await measure(stage, () =>
      LIVE.filter((name) => name.startsWith("alpha")).every(
        (name) => stage.read(name).metadata.labels?.[HOST_NAME] === "renamed",
      ),
    );
    expect(tookMs).toBeLessThanOrEqual(EVENT_PERIOD_MS + 2_000);
  });

  longTest.each<[string, (stage: XoStage) => unknown]>([
    ["there are no events", () => undefined],
    ["events are lost", ({ cloud }) => (cloud.events.mode = "lossy")],
    ["the stream is silent", ({ cloud }) => (cloud.events.mode = "silent")],
    [
      "the stream is cut for good",
      ({ cloud }) => {
        cloud.events.isOffered = false;
        cloud.events.drop();
      },
    ],
  ])("are right within an interval and a second when %s", async (title, break_) => {
    await using stage = await start(title !== "there are no events");
    break_(stage);
    for (const phaseMs of [0, 14_000, 29_000]) {
      await stage.pass(phaseMs);
      expect(await migrate(stage, "alpha-1")).toBeLessThanOrEqual(REFRESH_MS + 1_000);
    }
  });

  test("are right at once again after the stream was cut, and what was missed meanwhile too", async () => {
    await using stage = await start(true);
    stage.cloud.events.drop();
    // The next stream comes after a second or two, and what it brings is a refresh.
    expect(await migrate(stage, "alpha-1")).toBeLessThanOrEqual(5_000);
    await stage.pass(5_000);
    expect(await migrate(stage, "alpha-1")).toBeLessThanOrEqual(EVENT_PERIOD_MS + 2_000);
  });
});

describe("a minute of rest", () => {
  test.each([true, false])("takes six requests; with events: %p", async (hasEvents) => {
    await using stage = await start(hasEvents);
    await stage.pass(MINUTE_MS);
    const read = watchRequests(stage);
    await stage.pass(MINUTE_MS);
    expect(read()).toEqual({ "GET /vms": 2, "GET /hosts": 2, "GET /pools": 2 });
  });

  test("takes no more while machines change that are no Nodes, or only use memory otherwise", async () => {
    await using stage = await start(true);
    const { state } = stage.cloud;
    const { id: poolId, hostIds } = findPool(stage, "alpha");
    const [hostId = ""] = hostIds;
    const foreign = state.addVm({ name: "foreign", poolId, hostId });
    await stage.pass(MINUTE_MS);
    const read = watchRequests(stage);
    for (let second = 0; second < 60; second += 1) {
      state.setVm(foreign, { name_label: `foreign ${second}` });
      for (const name of LIVE) state.balloon(stage.toVmId(name), second);
      await stage.pass(1_000);
    }
    expect(read()).toEqual({ "GET /vms": 2, "GET /hosts": 2, "GET /pools": 2 });
  });

  longTest(
    "without events takes one more every ten minutes, to see whether there are any now",
    async () => {
      await using stage = await start(false);
      const read = watchRequests(stage);
      await stage.pass(30 * MINUTE_MS);
      expect(read()["GET /events"]).toBe(3);
      stage.cloud.events.isOffered = true;
      await stage.pass(10 * MINUTE_MS);
      expect(await migrate(stage, "alpha-1")).toBeLessThanOrEqual(EVENT_PERIOD_MS + 2_000);
    },
  );
});

describe("pools that a changed file names", () => {
  test("have their waiting Nodes initialised by the next inventory, and those of others are left alone", async () => {
    await using stage = await start(false);
    const { server, replicas, said, cloud } = stage.world;
    const name = (pool: string): void => {
      const text = `${toSaying(cloud, said).text}pools: [${pool}]\n`;
      for (const { file } of replicas) file.write({ text, said });
    };
    await stage.stop();
    server.objects.deleteNode("beta-1");
    stage.register("beta-1");
    name("pool-1");
    stage.start();
    await stage.pass(MINUTE_MS);
    expect(stage.read("beta-1").spec?.providerID).toBeUndefined();
    name("pool-2");
    await stage.pass(25_000);
    expect(stage.read("beta-1").spec?.providerID).toContain(findPool(stage, "beta").id);
  });
});
