import { expect, test } from "bun:test";
import { InventorySource } from "../../../lib/cloud/inventory/source.ts";
import { RefreshPacer } from "../../../lib/controllers/node_lifecycle/refresh_pacer.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { FakeProvider } from "../../support/cloud/instances.ts";
import { ManualClock } from "../../support/manual_clock.ts";

interface SetUp extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly source: InventorySource;
  readonly pacer: RefreshPacer;
  /** When inventories were asked of the cloud, in milliseconds. */
  readonly listedMs: number[];
  /** Ticks until `ms`, with or without a Node that misses its machine. */
  tickUntil(ms: number, hasMissing: boolean): Promise<void>;
}

async function setUp(tickIntervalMs = 5_000, listTakesMs = 0): Promise<SetUp> {
  const clock = new ManualClock();
  const provider = new FakeProvider();
  const stop = new AbortController();
  const listedMs: number[] = [];
  provider.refreshIntervalMs = 3_600_000;
  provider.clock = () => {
    listedMs.push(clock.monotonic());
    provider.gate = clock.sleep(listTakesMs, stop.signal);
    return clock.monotonic();
  };
  const source = new InventorySource({
    provider,
    interest: () => [],
    clock,
    log: silentLogger,
    metrics: new MetricsRegistry(),
  });
  const refreshing = source.run(stop.signal);
  await clock.advance(listTakesMs);
  const pacer = new RefreshPacer({ source, clock, tickIntervalMs });
  return {
    clock,
    source,
    pacer,
    listedMs,
    async tickUntil(ms, hasMissing) {
      while (clock.monotonic() + tickIntervalMs <= ms) {
        await clock.advance(tickIntervalMs);
        pacer.tick(hasMissing);
      }
      await clock.advance(0);
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error("the test is over"));
      await clock.advance(0);
      await refreshing;
    },
  };
}

test("RefreshPacer asks for nothing while nothing is missing", async () => {
  await using rig = await setUp();
  await rig.tickUntil(600_000, false);
  expect(rig.listedMs).toEqual([0]);
});

test("RefreshPacer asks every 10 s while something is missing", async () => {
  await using rig = await setUp();
  await rig.tickUntil(60_000, true);
  expect(rig.listedMs).toEqual([0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
});

test("RefreshPacer rather asks a little early than a tick late", async () => {
  await using rig = await setUp();
  await rig.clock.advance(4_900);
  rig.pacer.tick(true);
  await rig.tickUntil(9_900, true);
  expect(rig.listedMs).toEqual([0, 9_900]);
});

test("RefreshPacer asks at every tick when ticks are rarer", async () => {
  await using rig = await setUp(60_000);
  await rig.tickUntil(180_000, true);
  expect(rig.listedMs).toEqual([0, 60_000, 120_000, 180_000]);
});

test("RefreshPacer leaves a cloud time that takes 6 s to answer", async () => {
  await using rig = await setUp(5_000, 6_000);
  await rig.tickUntil(60_000, true);
  const gapsMs = rig.listedMs.slice(1).map((atMs, index) => atMs - (rig.listedMs[index] ?? 0));
  expect(gapsMs.length).toBeGreaterThanOrEqual(5);
  expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(10_000);
});

test("noteNotReady() asks at once when the inventory is 5 s old", async () => {
  await using rig = await setUp();
  await rig.clock.advance(5_000);
  rig.pacer.noteNotReady();
  await rig.clock.advance(0);
  expect(rig.listedMs).toEqual([0, 5_000]);
});

test("noteNotReady() takes a younger inventory for good enough, until it is 5 s old", async () => {
  await using rig = await setUp();
  await rig.clock.advance(4_000);
  rig.pacer.noteNotReady();
  await rig.clock.advance(0);
  expect(rig.listedMs).toEqual([0]);
  await rig.clock.advance(1_000);
  await rig.tickUntil(600_000, false);
  expect(rig.listedMs).toHaveLength(2);
  expect(rig.listedMs[1]).toBeLessThanOrEqual(10_000);
});

test("noteNotReady() asks for nothing when somebody else did since", async () => {
  await using rig = await setUp();
  await rig.clock.advance(4_000);
  rig.pacer.noteNotReady();
  await rig.clock.advance(500);
  rig.source.requestRefresh();
  await rig.tickUntil(600_000, false);
  expect(rig.listedMs).toEqual([0, 4_500]);
});

test("noteNotReady() asks once, though the cloud takes long to answer", async () => {
  await using rig = await setUp(5_000, 12_000);
  rig.pacer.noteNotReady();
  await rig.tickUntil(600_000, false);
  expect(rig.listedMs).toEqual([0, 12_000]);
});

test("noteNotReady() asks twice at most when falls trickle in while the cloud answers", async () => {
  await using rig = await setUp(5_000, 2_000);
  await rig.clock.advance(28_000);
  for (let fall = 0; fall < 100; fall += 1) {
    rig.pacer.noteNotReady();
    await rig.clock.advance(10);
  }
  await rig.tickUntil(600_000, false);
  expect(rig.listedMs.slice(0, 2)).toEqual([0, 30_000]);
  expect(rig.listedMs.length).toBeLessThanOrEqual(3);
});
