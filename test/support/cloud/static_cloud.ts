/**
 * A static provider on a file that a test may change.
 * @module
 */
import { afterEach } from "bun:test";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DELETION } from "../../../lib/cloud/settings/sections.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import { loadProviderConfig } from "../../../lib/config/provider_config.ts";
import { SettingsFile } from "../../../lib/config/settings_file.ts";
import type { Clock } from "../../../lib/core/clock.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { staticProvider } from "../../../lib/providers/static/mod.ts";
import { ManualClock } from "../manual_clock.ts";

/** The cloud of test/fixtures/static/cloudlycke.yaml. */
export const CLOUDLYCKE: string = join(import.meta.dir, "../../fixtures/static/cloudlycke.yaml");

/** A provider and its file. */
export interface StaticCloud<C extends Clock = ManualClock> {
  readonly provider: Provider;
  readonly path: string;
  readonly clock: C;
  /** Replaces the text of the file. */
  write(text: string): Promise<void>;
  /** Changes the text of the file. */
  edit(change: (text: string) => string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a static provider on a copy of `text`. @throws {ConfigError} when the text is not an inventory */
export function startStaticCloud(text: string): Promise<StaticCloud> {
  return startStaticCloudOn(new ManualClock(), text);
}

/** For the tests of a file: what starts static providers, each of which is stopped after its test. */
export function useStaticClouds(): (text: string) => Promise<StaticCloud> {
  const clouds: StaticCloud[] = [];
  afterEach(async () => {
    for (const cloud of clouds.splice(0)) await cloud.stop();
  });
  return async (text) => {
    const cloud = await startStaticCloud(text);
    clouds.push(cloud);
    return cloud;
  };
}

/** Starts one on a clock of the caller's. */
export async function startStaticCloudOn<C extends Clock>(
  clock: C,
  text: string,
): Promise<StaticCloud<C>> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-static-"));
  const path = join(folder, "inventory.yaml");
  await writeFile(path, text);
  const { settings } = await loadProviderConfig({
    path,
    env: {},
    definition: staticProvider,
    sections: [DELETION],
  });
  const provider = staticProvider.create(settings, {
    clock,
    log: silentLogger,
    metrics: new MetricsRegistry(),
    signal: new AbortController().signal,
    fence: new Fence(),
    configFile: new SettingsFile(path, {}, [DELETION]),
  });
  return {
    provider,
    path,
    clock,
    write: (next) => writeFile(path, next),
    edit: async (change) => writeFile(path, change(await readFile(path, "utf8"))),
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}
