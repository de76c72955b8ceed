/**
 * What an inventory source makes of the cloud's hints at changes.
 * @module
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CloudError } from "../../../lib/cloud/errors.ts";
import type { Inventory } from "../../../lib/cloud/inventory/inventory.ts";
import { InventorySource } from "../../../lib/cloud/inventory/source.ts";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { ChangeHint, Provider } from "../../../lib/cloud/provider.ts";
import { abortable } from "../../../lib/core/clock.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { HintingProvider, toInstance } from "../../support/cloud/instances.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { tries } from "../../support/extent.ts";

/** After this much time hints settled, and what they name was read. */
const SOON_MS = 100;
const REFRESH_MS = 30_000;

/** A cloud that was asked for one instance only, whatever else it shows. */
class CaringProvider extends HintingProvider {
  override async listInventory(
    interest: readonly NodeIdentity[],
    signal: AbortSignal,
  ): Promise<Inventory> {
    const inventory = await super.listInventory(interest, signal);
    return { ...inventory, lookedFor: new Set(["vm1"]) };
  }
}

class Bench implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly metrics = new MetricsRegistry();
  readonly source: InventorySource;
  readonly provider: HintingProvider;
  readonly told: string[][] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(provider: HintingProvider) {
    this.provider = provider;
    provider.clock = () => this.clock.monotonic();
    for (const id of toIds(20)) provider.instances.set(id, toInstance(id, { zone: "old" }));
    this.source = new InventorySource({
      ...this,
      interest: () => [],
      log: silentLogger,
      random: () => 0,
    });
    this.source.subscribe((changed) => this.told.push([...changed]));
    this.#running = this.source.run(this.#stop.signal);
  }

  /** Starts, and waits until the start is long over. */
  static async start(provider: HintingProvider = new HintingProvider()): Promise<Bench> {
    const bench = new Bench(provider);
    await bench.clock.advance(10_000);
    bench.told.length = 0;
    return bench;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** An instance is somewhere else from now on. */
  move(...ids: readonly string[]): void {
    for (const id of ids) this.provider.instances.set(id, toInstance(id, { zone: "new" }));
  }

  hint(...ids: readonly string[]): void {
    this.provider.hint(new Set(ids));
  }

  findZone(id: string): string | undefined {
    return this.source.current?.instances.get(id)?.zone;
  }
}

function toIds(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `vm${at}`);
}

describe("InventorySource, at a hint", () => {
  test("reads what is named, and nothing else, at once", async () => {
    await using bench = await Bench.start();
    const before = bench.source.current;
    bench.move("vm1", "vm2");
    bench.hint("vm1");
    await bench.clock.advance(SOON_MS);
    expect([bench.findZone("vm1"), bench.findZone("vm2")]).toEqual(["new", "old"]);
    expect([bench.provider.fewReads, bench.provider.lists]).toEqual([[["vm1"]], 1]);
    expect(bench.told).toEqual([["vm1"]]);
    expect(before?.instances.get("vm1")?.zone).toBe("old");
  });

  test("leaves age, coverage and pace of refreshes as they were", async () => {
    await using bench = await Bench.start();
    const before = bench.source.current;
    const attemptMs = bench.source.lastAttemptMs;
    for (let at = 0; at < 10; at += 1) {
      bench.move("vm1");
      bench.hint("vm1");
      await bench.clock.advance(1_000);
    }
    expect(bench.source.ageMs).toBe(20_000);
    expect(bench.source.lastAttemptMs).toBe(attemptMs);
    expect(bench.source.current).toMatchObject({
      observedAtMs: before?.observedAtMs,
      coverage: before?.coverage,
    });
    await bench.clock.advance(9_999);
    expect(bench.provider.lists).toBe(1);
    await bench.clock.advance(1);
    expect(bench.provider.lists).toBe(2);
  });

  test("keeps the very same inventory, and tells nobody, when nothing differs", async () => {
    await using bench = await Bench.start();
    const before = bench.source.current;
    bench.hint("vm1");
    await bench.clock.advance(SOON_MS);
    expect(bench.provider.fewReads).toEqual([["vm1"]]);
    expect(bench.source.current).toBe(before);
    expect(bench.told).toEqual([]);
  });

  test("answers a swarm of up to eight names with one read", async () => {
    await using bench = await Bench.start();
    const ids = toIds(8);
    bench.move(...ids);
    for (const id of [...ids, ...ids]) bench.hint(id);
    await bench.clock.advance(SOON_MS);
    expect(bench.provider.fewReads).toEqual([ids]);
    expect(bench.provider.lists).toBe(1);
    expect(bench.told).toEqual([ids]);
  });

  test.each<[string, readonly ChangeHint[]]>([
    ["nine names", [new Set(toIds(9))]],
    ["anything", ["everything"]],
    ["twenty times anything and a name", toIds(20).flatMap((id) => [new Set([id]), "everything"])],
  ])("answers %s with one refresh", async (_title, hints) => {
    await using bench = await Bench.start();
    for (const hint of hints) bench.provider.hint(hint);
    await bench.clock.advance(SOON_MS);
    expect([bench.provider.fewReads, bench.provider.lists]).toEqual([[], 2]);
    await bench.clock.advance(REFRESH_MS - 1);
    expect(bench.provider.lists).toBe(2);
    await bench.clock.advance(1);
    expect(bench.provider.lists).toBe(3);
  });

  test("reads a few twice in a second at most", async () => {
    await using bench = await Bench.start();
    for (let at = 0; at < 100; at += 1) {
      bench.hint(`vm${at % 4}`);
      await bench.clock.advance(100);
    }
    expect(bench.provider.lists).toBe(1);
    expect(bench.provider.fewReads.length).toBeLessThanOrEqual(20);
    expect(bench.provider.fewReads.length).toBeGreaterThanOrEqual(15);
  });

  test("refreshes when what is named is not shown: alone that proves nothing", async () => {
    await using bench = await Bench.start();
    bench.provider.instances.delete("vm1");
    bench.hint("vm1");
    const shown: (boolean | undefined)[] = [];
    bench.source.subscribe(() => shown.push(bench.source.current?.instances.has("vm1")));
    let observedAtMs: number | undefined;
    for (let at = 0; at < 3 && shown.length === 0; at += 1) {
      expect(bench.source.current?.instances.has("vm1")).toBe(true);
      observedAtMs = bench.source.current?.observedAtMs;
      await bench.clock.advance(SOON_MS);
    }
    expect([bench.provider.fewReads, bench.provider.lists]).toEqual([[["vm1"]], 2]);
    // It went with a refresh, which has a time of its own.
    expect(shown).toEqual([false]);
    expect(bench.source.current?.observedAtMs).toBeGreaterThan(observedAtMs ?? Infinity);
  });

  test("refreshes when the few cannot be read, and calls that no failure", async () => {
    await using bench = await Bench.start();
    bench.provider.fewFailure = new CloudError("unreachable", "down");
    bench.move("vm1");
    bench.hint("vm1");
    await bench.clock.advance(SOON_MS);
    expect(bench.provider.lists).toBe(2);
    expect([bench.findZone("vm1"), bench.source.lastError]).toEqual(["new", undefined]);
  });

  test("does nothing while the cloud is in trouble but to go on asking at its pace", async () => {
    await using bench = await Bench.start();
    bench.provider.failure = new CloudError("unreachable", "down");
    bench.source.requestRefresh();
    await bench.clock.advance(0);
    expect(bench.source.lastError?.message).toBe("down");
    const { lists } = bench.provider;
    for (let second = 0; second < 15; second += 1) {
      bench.provider.hint("everything");
      bench.hint("vm1");
      await bench.clock.advance(1_000);
    }
    // Tries after 1, 3, 7 and 15 seconds.
    expect([bench.provider.lists - lists, bench.provider.fewReads]).toEqual([4, []]);
    bench.provider.failure = undefined;
    bench.move("vm1");
    await bench.clock.advance(REFRESH_MS);
    expect(bench.findZone("vm1")).toBe("new");
  });

  test("that comes during a refresh looks again after it", async () => {
    await using bench = await Bench.start();
    const gate = Promise.withResolvers<void>();
    bench.provider.gate = gate.promise;
    bench.source.requestRefresh();
    await bench.clock.advance(0);
    bench.hint("vm1");
    gate.resolve();
    await bench.clock.advance(SOON_MS);
    expect([bench.provider.lists, bench.provider.fewReads]).toEqual([2, [["vm1"]]]);
  });

  test("that comes before the first inventory does not delay it", async () => {
    const provider = new HintingProvider();
    const gate = Promise.withResolvers<void>();
    provider.gate = gate.promise;
    await using bench = new Bench(provider);
    await bench.clock.advance(0);
    bench.hint("vm1");
    expect(provider.lists).toBe(1);
    gate.resolve();
    await bench.clock.advance(SOON_MS);
    expect(provider.fewReads).toEqual([["vm1"]]);
  });

  test.each([
    ["reports changes", "everything"],
    ["cannot report changes", new Set<string>()],
  ] as const)("lists once at its start, after the cloud %s", async (_title, first) => {
    const provider = new HintingProvider();
    const answer = Promise.withResolvers<void>();
    provider.watchChanges = async (onHint) => {
      await answer.promise;
      onHint(first);
    };
    await using bench = new Bench(provider);
    await bench.clock.advance(200);
    expect(provider.lists).toBe(0);
    answer.resolve();
    await bench.clock.advance(0);
    expect(provider.lists).toBe(1);
    await bench.clock.advance(10_000);
    expect(provider.lists).toBe(1);
  });

  test("does not wait longer than half a second at its start", async () => {
    const provider = new HintingProvider();
    provider.watchChanges = (_onHint, signal) => abortable(new Promise<never>(() => {}), signal);
    await using bench = new Bench(provider);
    await bench.clock.advance(500);
    expect(provider.lists).toBe(1);
  });

  test("passes over what no Node is looked up by", async () => {
    const provider = new CaringProvider();
    await using bench = await Bench.start(provider);
    bench.hint(...toIds(20).slice(2));
    await bench.clock.advance(5_000);
    expect([provider.fewReads, provider.lists]).toEqual([[], 1]);
    bench.hint(...toIds(20));
    await bench.clock.advance(SOON_MS);
    expect([provider.fewReads, provider.lists]).toEqual([[["vm1"]], 1]);
    expect(bench.metrics.render()).toContain('{kind="instances",provider="test"} 1\n');
  });

  test("passes over what no Node is looked up by where a few cannot be read by themselves", async () => {
    const provider = new CaringProvider();
    Object.assign(provider, { readInstances: undefined });
    await using bench = await Bench.start(provider);
    bench.hint("vm2");
    await bench.clock.advance(5_000);
    expect(provider.lists).toBe(1);
    bench.hint("vm1");
    await bench.clock.advance(5_000);
    expect(provider.lists).toBe(2);
  });

  test("refreshes where a few cannot be read by themselves", async () => {
    const provider = new HintingProvider();
    Object.assign(provider, { readInstances: undefined });
    await using bench = await Bench.start(provider);
    bench.move("vm1");
    bench.hint("vm1");
    await bench.clock.advance(SOON_MS);
    expect([bench.findZone("vm1"), provider.lists]).toEqual(["new", 2]);
  });

  test("counts it by kind", async () => {
    await using bench = await Bench.start();
    bench.hint("vm1");
    bench.hint("vm1");
    bench.provider.hint("everything");
    const text = bench.metrics.render();
    expect(text).toContain('landfall_change_hints_total{kind="instances",provider="test"} 2');
    expect(text).toContain('landfall_change_hints_total{kind="everything",provider="test"} 1');
  });
});

/** What happens in one step: instances move or go, some are hinted at (rightly or not), and time passes. */
const steps = fc.array(
  fc.record({
    moved: fc.subarray(toIds(12)),
    gone: fc.subarray(["vm10", "vm11"]),
    hinted: fc.oneof(fc.subarray(toIds(14)), fc.constant("everything" as const)),
    ms: fc.constantFrom(0, 40, 100, 350, 500, 1_900, 7_000),
  }),
  { minLength: 1, maxLength: 30 },
);

test("InventorySource shows the truth in time whatever is hinted at, and asks no oftener than it may", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const provider = new HintingProvider();
      await using bench = await Bench.start(provider);
      const startedMs = bench.clock.monotonic();
      const { lists } = provider;
      for (const [at, { moved, gone, hinted, ms }] of list.entries()) {
        for (const id of moved) provider.instances.set(id, toInstance(id, { zone: `${at}` }));
        for (const id of gone) provider.instances.delete(id);
        provider.hint(hinted === "everything" ? hinted : new Set(hinted));
        await bench.clock.advance(ms);
      }
      const seconds = (bench.clock.monotonic() - startedMs) / 1_000;
      expect(provider.lists - lists).toBeLessThanOrEqual(1 + seconds / 2);
      expect(provider.fewReads.length).toBeLessThanOrEqual(1 + seconds * 2);
      expect(provider.fewReads.every((ids) => ids.length > 0 && ids.length <= 8)).toBe(true);
      await bench.clock.advance(REFRESH_MS);
      expect(bench.source.current?.instances).toEqual(provider.instances);
    }),
    tries(60),
  );
});

test("InventorySource goes on refreshing when following changes breaks", async () => {
  const provider: Provider & HintingProvider = Object.assign(new HintingProvider(), {
    watchChanges: () => Promise.reject(new Error("a bug")),
  });
  await using bench = await Bench.start(provider);
  await bench.clock.advance(REFRESH_MS);
  expect(bench.provider.lists).toBe(2);
});
