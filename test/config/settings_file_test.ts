/**
 * A file of settings that a provider lives on, and that is followed as well.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { createReloadMetric, runReload } from "../../lib/app/reload.ts";
import type { DeletionSettings } from "../../lib/cloud/deletion/guard.ts";
import { DELETION } from "../../lib/cloud/deletion/settings.ts";
import { InventorySource } from "../../lib/cloud/inventory/source.ts";
import { ProviderInUse } from "../../lib/cloud/provider_in_use.ts";
import { LOAD_BALANCERS } from "../../lib/cloud/pools/settings.ts";
import { loadProviderConfig } from "../../lib/config/provider_config.ts";
import { SettingsFile } from "../../lib/config/settings_file.ts";
import { Fence } from "../../lib/core/fence.ts";
import { ConfigError } from "../../lib/core/errors.ts";
import type { RunningController } from "../../lib/controllers/definition.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { staticProvider } from "../../lib/providers/static/mod.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { GALLERY_SECTION } from "../support/galleries/settings.ts";
import { SecretMount } from "../support/process/secret_mount.ts";

const toText = (name: string, more = ""): string =>
  `instances: [{ id: a, name: ${name} }]\n${more}`;

describe("SettingsFile", () => {
  test("parse() judges by the provider and by what every cloud has, with lines", async () => {
    const file = new SettingsFile("FILE", {}, [DELETION]);
    const parse = (text: string) => file.parse(new TextEncoder().encode(text), staticProvider);
    expect((await parse(toText("x", "deletion: { enabled: false }"))).instances).toHaveLength(1);
    const more = toText("x", "galleries: { most: 2 }");
    const brought = new SettingsFile("FILE", {}, [GALLERY_SECTION]);
    const bytes = new TextEncoder().encode(more);
    expect((await brought.parse(bytes, staticProvider)).instances).toHaveLength(1);
    await expect(parse(more)).rejects.toThrow("galleries: unknown key");
    const refused = parse(toText("5", "deletion: { x: 1 }"));
    await expect(refused).rejects.toBeInstanceOf(ConfigError);
    await expect(refused).rejects.toThrow("FILE:1:22: instances.0.name: must be text");
    await expect(refused).rejects.toThrow("FILE:2:13: deletion.x: unknown key");
  });

  test.each([
    ["a wrong value", "loadBalancers: { pools: [{ name: a, addresses: [x] }] }"],
    ["no block", "loadBalancers: 5"],
    ["an unknown key", "loadBalancers: { poools: [] }"],
  ])("parse() goes on without load balancers that have %s", async (_what, block) => {
    const file = new SettingsFile("FILE", {}, [DELETION, LOAD_BALANCERS]);
    const parse = (text: string) => file.parse(new TextEncoder().encode(text), staticProvider);
    // What the settings in use say about Nodes is not known yet.
    await expect(parse(toText("x", block))).rejects.toThrow("FILE:2");
    await parse(toText("x", "deletion: { enabled: true }"));
    const same = await parse(toText("y", `${block}\ndeletion: { enabled: true }`));
    expect(same.instances).toMatchObject([{ name: "y" }]);
    const changed = parse(toText("x", `${block}\ndeletion: { enabled: false }`));
    await expect(changed).rejects.toThrow("FILE:2");
    const both = parse(toText("x", `${block}\ndeletion: { x: 1 }`));
    await expect(both).rejects.toThrow("FILE:3:13: deletion.x: unknown key");
    await expect(parse(toText("x", "loadBalancer: {}"))).rejects.toThrow("loadBalancer: unknown");
  });
});

/** An inventory file that is followed while the static provider refreshes, on a clock that a test moves. */
class Stage implements AsyncDisposable {
  readonly clock: ManualClock;
  readonly #mount: SecretMount;
  readonly #stop = new AbortController();
  readonly deletions: boolean[] = [];
  #running: Promise<unknown> = Promise.resolve();
  source: InventorySource | undefined;

  constructor(text: string) {
    this.#mount = new SecretMount({ "config.yaml": text });
    this.clock = new ManualClock(0, async () => {
      // Both sleep when nothing is read.
      while (this.clock.pending < 2 && !this.#stop.signal.aborted) await Bun.sleep(0);
    });
  }

  static async start(text: string): Promise<Stage> {
    const stage = new Stage(text);
    await stage.#run();
    return stage;
  }

  write(text: string): void {
    this.#mount.update({ "config.yaml": text });
  }

  async #run(): Promise<void> {
    const { clock } = this;
    const { signal } = this.#stop;
    const path = this.#mount.path("config.yaml");
    const sections = [DELETION, LOAD_BALANCERS];
    const definition = staticProvider;
    const common = { clock, log: silentLogger, metrics: new MetricsRegistry() };
    const file = new SettingsFile(path, {}, sections);
    const current = await loadProviderConfig({ path, env: {}, definition, sections });
    const deps = { ...common, signal, fence: new Fence(), configFile: file };
    const provider = new ProviderInUse(staticProvider, current.settings, deps);
    const replace = provider.replace.bind(provider);
    const source = new InventorySource({ ...common, provider, interest: () => [] });
    this.source = source;
    const configuration = { path, env: {}, definition, replace, sections, current };
    const controller: RunningController<DeletionSettings> = {
      run: () => Promise.resolve(),
      reconfigure: ({ enabled }) => void this.deletions.push(enabled),
    };
    const controllers = [{ definition: { section: DELETION }, controller }];
    const success = createReloadMetric(common.metrics);
    const reload = { ...common, configuration, source, controllers, success };
    this.#running = Promise.all([runReload(reload, signal), source.run(signal)]);
    await clock.advance(1_000);
  }

  get name(): string | undefined {
    return this.source?.current?.instances.get("a")?.name;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the test is over"));
    await this.#running;
    this.#mount[Symbol.dispose]();
  }
}

describe("an inventory file that is followed", () => {
  test.each(["1s", "10s", "30s"])(
    "brings a change to both within 20 s, with refreshInterval %s",
    async (interval) => {
      for (const passedMs of [0, 400, 5_000, 9_900]) {
        await using stage = await Stage.start(toText("one", `refreshInterval: ${interval}`));
        await stage.clock.advance(60_000 + passedMs);
        stage.write(toText("two", `refreshInterval: ${interval}\ndeletion: { enabled: false }`));
        await stage.clock.advance(20_000);
        expect([stage.deletions, stage.name]).toEqual([[false], "two"]);
      }
    },
  );

  test("goes on with the machines while only its load balancers are wrong", async () => {
    await using stage = await Stage.start(toText("one"));
    await stage.clock.advance(60_000);
    stage.write(toText("two", "loadBalancers: 5"));
    await stage.clock.advance(60_000);
    expect([stage.name, stage.source?.lastError]).toEqual(["two", undefined]);
    stage.write(toText("three", "loadBalancers: 5\ndeletion: { enabled: false }"));
    await stage.clock.advance(60_000);
    expect([stage.name, stage.source?.lastError?.message]).toEqual([
      "two",
      expect.stringContaining("loadBalancers"),
    ]);
    stage.write(toText("three", "deletion: { enabled: false }"));
    await stage.clock.advance(60_000);
    expect([stage.name, stage.deletions]).toEqual(["three", [false]]);
  });
});
