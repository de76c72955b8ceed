/**
 * A configuration file that changes under a running process: what is put to use, and what is told.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Announcer, toOwnObject } from "../../lib/app/announcer.ts";
import { followSettings } from "../../lib/app/reload.ts";
import { DELETION } from "../../lib/cloud/settings/sections.ts";
import { LOAD_BALANCERS } from "../../lib/cloud/pools/settings.ts";
import type { RunningController } from "../../lib/controllers/definition.ts";
import type { DeletionSettings } from "../../lib/cloud/deletion/guard.ts";
import type { Provider } from "../../lib/cloud/provider.ts";
import type { ProviderDefinition } from "../../lib/cloud/provider_definition.ts";
import { ProviderInUse } from "../../lib/cloud/provider_in_use.ts";
import { loadProviderConfig, toSectionParser } from "../../lib/config/provider_config.ts";
import { Fence } from "../../lib/core/fence.ts";
import { createLogger, silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { requireProvider } from "../../lib/providers/mod.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { GALLERY_SECTION, type GallerySettings } from "../support/galleries/gallery.ts";
import { SecretMount } from "../support/process/secret_mount.ts";

const XO = "url: https://xo.example.org\ntoken: canary\n";

const toStaticFile = (scheme: string): string => `scheme: ${scheme}\ninstances: []\n`;

interface Bench {
  readonly provider: Provider;
  readonly said: string[];
  readonly lines: string[];
  readonly deletions: [DeletionSettings, boolean][];
  refreshes: number;
  readonly metric: () => number;
  /** Changes the file and lets 20 s pass. */
  change(text: string): Promise<void>;
  stop(): Promise<void>;
}

let mount: SecretMount;
let bench: Bench;
beforeEach(() => {
  mount = new SecretMount({});
});
afterEach(async () => {
  await bench.stop();
  mount[Symbol.dispose]();
  expect([...bench.said, ...bench.lines].join("")).not.toContain("canary");
});

async function start(name: string, text: string, over: object = {}): Promise<void> {
  mount.update({ "config.yaml": text });
  const path = mount.path("config.yaml");
  const found = await requireProvider(name);
  const definition: ProviderDefinition = { ...found, ...over };
  const stop = new AbortController();
  const clock: ManualClock = new ManualClock(0, async () => {
    while (clock.pending === 0 && !stop.signal.aborted) await Bun.sleep(0);
  });
  const metrics = new MetricsRegistry();
  const lines: string[] = [];
  const said: string[] = [];
  const deletions: Bench["deletions"] = [];
  const write = (line: string): number => lines.push(line);
  const log = createLogger({ format: "json", now: () => 0, write });
  const env = {};
  const sections = [DELETION, LOAD_BALANCERS];
  const current = await loadProviderConfig({ path, env, definition, sections });
  const { signal } = stop;
  const fence = new Fence();
  const deps = { clock, log, metrics, signal, fence };
  const provider = new ProviderInUse(definition, current.settings, deps);
  const replace = provider.replace.bind(provider);
  const counters = { refreshes: 0 };
  const controller: RunningController<DeletionSettings> = {
    run: () => Promise.resolve(),
    reconfigure: (to, { isOtherCloud }) => void deletions.push([to, isOtherCloud]),
  };
  const announcer = new Announcer(toOwnObject({}, name));
  announcer.connect({
    record: (_object, { reason, message }) => void said.push(`${reason}: ${message}`),
  });
  const configuration = { path, env, definition, sections, current, replace };
  const source = {
    requestRefresh: (isForNewSettings?: boolean) =>
      void (counters.refreshes += isForNewSettings ? 1 : 0),
  };
  const controllers = [
    { definition: {}, controller: {} },
    { definition: { section: DELETION }, controller },
  ];
  const running = followSettings(
    configuration,
    { announcer, clock, log, metrics },
    { cloud: { source }, controllers },
    signal,
  );
  await clock.advance(1_000);
  bench = {
    provider,
    said,
    lines,
    deletions,
    get refreshes(): number {
      return counters.refreshes;
    },
    metric: () => readMetric(metrics),
    change: async (next) => {
      mount.update({ "config.yaml": next });
      await clock.advance(20_000);
    },
    stop: async () => {
      stop.abort(new Error("the test is over"));
      await running;
    },
  };
}

/** Whether the process uses its file, as the metrics say. */
function readMetric(metrics: MetricsRegistry): number {
  const [, value] = /^landfall_config_last_reload_successful (\d)$/m.exec(metrics.render()) ?? [];
  return Number(value);
}

describe("followSettings()", () => {
  test("gives the provider its settings, and asks for an inventory by them", async () => {
    await start("xenorchestra", XO);
    expect(bench.metric()).toBe(1);
    await bench.change(`${XO}refreshInterval: 7s\n`);
    expect(bench.provider.refreshIntervalMs).toBe(7_000);
    expect(bench.refreshes).toBe(1);
    expect(bench.deletions).toEqual([]);
    expect(bench.said).toEqual([
      `ConfigApplied: The changed ${mount.path("config.yaml")} is in use`,
    ]);
    expect(bench.metric()).toBe(1);
  });

  test("gives the deletion guard its settings, and says when the cloud is another", async () => {
    await start("xenorchestra", XO);
    await bench.change(`${XO}deletion: { enabled: false }\n`);
    await bench.change(`${XO.replace("xo.", "other.")}deletion: { enabled: false }\n`);
    expect(bench.deletions.map(([{ enabled }, isOther]) => [enabled, isOther])).toEqual([
      [false, false],
      [false, true],
    ]);
  });

  test("leaves the provider alone when only a controller's section changed", async () => {
    let created = 0;
    const { create } = await requireProvider("xenorchestra");
    await start("xenorchestra", XO, {
      create: (...asked: Parameters<typeof create>) => {
        created += 1;
        return create(...asked);
      },
    });
    await bench.change(`${XO}deletion: { enabled: false }\n`);
    expect(created).toBe(1);
    expect(bench.metric()).toBe(1);
    expect(bench.deletions.map(([{ enabled }]) => enabled)).toEqual([false]);
    expect(bench.refreshes).toBe(0);
  });

  test("says that the first pools need a restart, because their controller does not run", async () => {
    await start("xenorchestra", XO);
    await bench.change(`${XO}loadBalancers: { pools: [{ name: a, addresses: [192.0.2.1] }] }\n`);
    expect(bench.metric()).toBe(1);
    const warnings = bench.lines.filter((line) => line.includes("loadBalancers.pools"));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("Restart Landfall");
  });

  test("gives a controller its section, and no other change, where there is no cloud", async () => {
    mount.update({ "config.yaml": XO });
    const path = mount.path("config.yaml");
    const stop = new AbortController();
    const clock: ManualClock = new ManualClock(0, async () => {
      while (clock.pending === 0 && !stop.signal.aborted) await Bun.sleep(0);
    });
    const definition = toSectionParser(await requireProvider("xenorchestra"));
    const sections = [DELETION, GALLERY_SECTION];
    const current = await loadProviderConfig({ path, env: {}, definition, sections });
    const told: unknown[] = [];
    const controller: RunningController<GallerySettings> = {
      run: () => Promise.resolve(),
      reconfigure: (settings, { isOtherCloud }) =>
        void told.push([settings.separator, isOtherCloud]),
    };
    const metrics = new MetricsRegistry();
    const configuration = { path, env: {}, definition, sections, current };
    const running = followSettings(
      configuration,
      { clock, log: silentLogger, metrics },
      { controllers: [{ definition: { section: GALLERY_SECTION }, controller }] },
      stop.signal,
    );
    const change = async (text: string): Promise<void> => {
      mount.update({ "config.yaml": text });
      await clock.advance(20_000);
    };
    await clock.advance(1_000);
    // What is of the cloud is not judged here but for its keys, and no reason to tell anybody.
    await change("url: nonsense\ndeletion: { enabled: false }\n");
    expect([told, readMetric(metrics)]).toEqual([[], 1]);
    await change(`${XO}galleries: { separator: ";" }\n`);
    expect(told).toEqual([[";", false]]);
    await change(`${XO}galleries: { separator: 7 }\n`);
    await change(`${XO}gallery: { separator: "+" }\n`);
    expect([told.length, readMetric(metrics)]).toEqual([1, 0]);
    await change(XO);
    expect([told, readMetric(metrics)]).toEqual([
      [
        [";", false],
        [",", false],
      ],
      1,
    ]);
    stop.abort(new Error("the test is over"));
    await running;
    await start("xenorchestra", XO);
  });

  test("refuses a bad file in the log and to the cluster, and keeps the old settings", async () => {
    await start("xenorchestra", XO);
    await bench.change("url: canary\ntoken: can ary\nrefreshInterval: 1ms\n");
    const path = mount.path("config.yaml");
    const [said = ""] = bench.said;
    expect(said).toStartWith("ConfigRefused: Cannot use the changed configuration file; keeping");
    for (const problem of [":1:1: url: ", ":2:1: token: ", ":3:1: refreshInterval: "]) {
      expect(said).toContain(path + problem);
      expect(bench.lines.join("")).toContain(path + problem);
    }
    expect(bench.provider.refreshIntervalMs).toBe(30_000);
    expect([bench.refreshes, bench.metric()]).toEqual([0, 0]);
    await bench.change(XO);
    expect([bench.said.length, bench.metric()]).toEqual([1, 1]);
  });

  test("refuses another scheme of the static provider, which needs a restart", async () => {
    await start("static", toStaticFile("static"));
    await bench.change(toStaticFile("other"));
    expect(bench.said[0]).toContain(':1:1: scheme: cannot change to "other" while Landfall runs');
    await bench.change(`${toStaticFile("static")}refreshInterval: 5s\n`);
    expect(bench.said[1]).toStartWith("ConfigApplied: ");
    expect(bench.refreshes).toBe(1);
  });
});
