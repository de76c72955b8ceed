/**
 * An inventory source that runs on a manual clock, on a cloud in memory.
 * @module
 */
import { InventorySource } from "../../../lib/cloud/inventory/source.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { ManualClock } from "../manual_clock.ts";
import { FakeProvider } from "./instances.ts";

/** A running source and what it lives on. */
export interface SourceRig {
  readonly clock: ManualClock;
  readonly provider: FakeProvider;
  readonly source: InventorySource;
  readonly metrics: MetricsRegistry;
  stop(): Promise<void>;
}

/**
 * Starts a source that is asked for a Node `a`; its first inventory has been asked for.
 *
 * @param prepare Puts the cloud in order before that
 */
export async function startSource(
  prepare: (provider: FakeProvider) => void = () => {},
): Promise<SourceRig> {
  const clock = new ManualClock();
  const provider = new FakeProvider();
  provider.clock = () => clock.monotonic();
  prepare(provider);
  const metrics = new MetricsRegistry();
  const source = new InventorySource({
    provider,
    interest: () => [{ name: "a" }],
    clock,
    log: silentLogger,
    metrics,
    random: () => 0,
  });
  const stopping = new AbortController();
  const running = source.run(stopping.signal);
  await clock.advance(0);
  const stop = async (): Promise<void> => {
    stopping.abort();
    await running;
  };
  return { clock, provider, source, metrics, stop };
}
