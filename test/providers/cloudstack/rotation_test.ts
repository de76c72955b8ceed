/**
 * Keys that are replaced while inventories and single reads go on: key files, one after the other or both at once, and
 * the settings file. Nothing but what was signed with a revoked key may fail, and no message may show a key.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { renameSync, writeFileSync } from "node:fs";
import { CloudError } from "../../../lib/cloud/errors.ts";
import type { NodeIdentity } from "../../../lib/cloud/instance.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { Fence } from "../../../lib/core/fence.ts";
import { createLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import {
  type CloudStackSimulator,
  createDemoWorld,
  startCloudStackSimulator,
} from "../../../lib/simulator/cloudstack/mod.ts";
import { type ChangingProvider, createChanging } from "../../support/cloud/changing_provider.ts";
import { SecretMount } from "../../support/process/secret_mount.ts";
import { longTest } from "../../support/long_tests.ts";

const { world } = createDemoWorld();
const ROTATIONS = 4;
/** How many requests of the load succeed before and after each change, so that it meets all of them. */
const SETTLED = 6;

interface Keys {
  readonly apiKey: string;
  readonly secretKey: string;
}

function toKeys(version: number): Keys {
  return { apiKey: `canary-api-key-${version}-x`, secretKey: `canary-secret-key-${version}-x` };
}

/** What a request of the load came to. */
interface Outcome {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly error?: CloudError;
}

/** Inventories, reads by ID and reads by name, one after the other, until it is told to stop. */
class Load {
  readonly outcomes: Outcome[] = [];
  readonly #running: Promise<unknown>;
  readonly #pauseMs: number;
  #isOver = false;

  /** @param pauseMs Between two requests of a kind; longer where the test waits for seconds */
  constructor(provider: Provider, nodes: readonly NodeIdentity[], pauseMs: number = 1) {
    this.#pauseMs = pauseMs;
    const signal = new AbortController().signal;
    const [first = { name: "" }] = nodes;
    const read = async (node: NodeIdentity): Promise<void> => {
      const inventory = await provider.listInventory(nodes, signal);
      const presence = await provider.readInstance(inventory, node, signal);
      if (presence.kind === "absent") throw new Error(`${node.name} is taken for gone`);
      const isRefused = presence.kind === "unknown" && presence.reason === "denied";
      if (isRefused) throw new CloudError("denied", presence.message, { status: 401 });
    };
    const lane = (act: () => Promise<unknown>): Promise<void> => this.#repeat(act);
    this.#running = Promise.all([
      lane(() => provider.listInventory(nodes, signal)),
      lane(() => read(first)),
      lane(() => read({ name: first.name })),
    ]);
  }

  /** Waits until so many more succeeded than so far. */
  async settle(): Promise<void> {
    const isDone = ({ error }: Outcome): boolean => error === undefined;
    const wanted = this.outcomes.filter(isDone).length + SETTLED;
    while (this.outcomes.filter(isDone).length < wanted) await Bun.sleep(5);
  }

  async stop(): Promise<readonly Outcome[]> {
    this.#isOver = true;
    await this.#running;
    return this.outcomes;
  }

  async #repeat(act: () => Promise<unknown>): Promise<void> {
    while (!this.#isOver) {
      const startedMs = systemClock.monotonic();
      const error = await act().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error !== undefined && !(error instanceof CloudError)) throw error;
      const endedMs = systemClock.monotonic();
      this.outcomes.push({ startedMs, endedMs, ...(error && { error }) });
      await Bun.sleep(this.#pauseMs);
    }
  }
}

describe("rotation of keys under load", () => {
  let simulator: CloudStackSimulator;
  let mount: SecretMount;
  let said = "";
  let stop: AbortController;
  /** When each pair was revoked, and when the last file of the next one stood. */
  let gaps: { readonly fromMs: number; toMs: number }[];

  beforeEach(async () => {
    said = "";
    gaps = [];
    stop = new AbortController();
    simulator = await startCloudStackSimulator({ clock: systemClock, world });
    Object.assign(simulator.user, toKeys(0));
    const { apiKey, secretKey } = toKeys(0);
    mount = new SecretMount({ "api-key": apiKey, "secret-key": secretKey });
  });
  afterEach(async () => {
    stop.abort(new Error("the test is over"));
    await simulator.stop();
    mount[Symbol.dispose]();
  });

  type Settings = Parameters<typeof cloudStack.create>[0];
  const create = (keys: object): ChangingProvider<Settings> => {
    const { settings } = cloudStack.parseConfig({ apiUrl: simulator.url, ...keys }, {});
    if (settings === undefined) throw new Error("Cannot use the settings");
    return createChanging(cloudStack, settings, {
      clock: systemClock,
      log: createLogger({
        format: "json",
        level: "debug",
        write: (line) => (said += line),
        now: () => 0,
      }),
      metrics: new MetricsRegistry(),
      signal: stop.signal,
      fence: new Fence(),
    });
  };
  const listNodes = (): NodeIdentity[] =>
    [...simulator.state.vms.values()]
      .filter(({ accountId }) => accountId === simulator.user.accountId)
      .map(({ id, name }) => ({ name, providerId: `external-cloudstack://${id}` }));
  /** Replaces the keys in CloudStack, which revokes the old ones at once. */
  const revoke = (version: number): void => {
    Object.assign(simulator.user, toKeys(version));
    const fromMs = systemClock.monotonic();
    gaps.push({ fromMs, toMs: Infinity });
  };
  const endGap = (): void => {
    const last = gaps.at(-1);
    if (last) last.toMs = systemClock.monotonic();
  };
  /** What failed although the keys in the files were good from its beginning to its end. */
  const listUndue = (outcomes: readonly Outcome[]): Outcome[] =>
    outcomes.filter(
      ({ error, startedMs, endedMs }) =>
        error !== undefined &&
        (error.status !== 401 ||
          !gaps.some(({ fromMs, toMs }) => startedMs <= toMs && endedMs >= fromMs)),
    );
  const expectNoLeak = (outcomes: readonly Outcome[]): void => {
    const all = said + outcomes.map(({ error }) => String(error)).join("\n");
    for (let version = 0; version <= ROTATIONS; version += 1) {
      for (const key of Object.values(toKeys(version))) expect(all).not.toContain(key);
    }
  };

  longTest.each([
    ["both in one moment, as in a mounted Secret", "together"],
    ["one after the other", "apart"],
  ] as const)(
    "of files that change %s, only what the old keys signed fails",
    async (_how, order) => {
      const { provider } = create({
        apiKeyFile: mount.path("api-key"),
        secretKeyFile: mount.path("secret-key"),
      });
      const load = new Load(provider, listNodes());
      await load.settle();
      for (let version = 1; version <= ROTATIONS; version += 1) {
        const { apiKey, secretKey } = toKeys(version);
        revoke(version);
        await Bun.sleep(10);
        if (order === "together") mount.update({ "api-key": apiKey, "secret-key": secretKey });
        else {
          mount.update({ "secret-key": secretKey });
          await Bun.sleep(20);
          mount.update({ "api-key": apiKey });
        }
        endGap();
        await load.settle();
      }
      const outcomes = await load.stop();
      expect(listUndue(outcomes)).toEqual([]);
      expect(outcomes.at(-1)?.error).toBeUndefined();
      expect(said.split("The keys changed").length - 1).toBeGreaterThanOrEqual(ROTATIONS);
      expectNoLeak(outcomes);
    },
    60_000,
  );

  longTest(
    "of a file that is torn, empty or gone for a moment, the last good keys stay in use",
    async () => {
      const [apiKeyFile, secretKeyFile] = [mount.path("plain-api"), mount.path("plain-secret")];
      const write = (path: string, text: string): void => {
        writeFileSync(`${path}.new`, text);
        renameSync(`${path}.new`, path);
      };
      const { apiKey, secretKey } = toKeys(0);
      write(apiKeyFile, apiKey);
      write(secretKeyFile, secretKey);
      const load = new Load(create({ apiKeyFile, secretKeyFile }).provider, listNodes(), 20);
      for (const wrong of ["", apiKey.slice(0, 5), "\u0000"]) {
        write(apiKeyFile, wrong);
        // Longer than the files are trusted without another look.
        await Bun.sleep(1_100);
        await load.settle();
        write(apiKeyFile, apiKey);
        await load.settle();
      }
      const outcomes = await load.stop();
      expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([]);
      expectNoLeak(outcomes);
    },
    60_000,
  );

  test("of settings that change, only what the old keys signed fails", async () => {
    const { provider, change } = create(toKeys(0));
    const load = new Load(provider, listNodes());
    await load.settle();
    for (let version = 1; version <= ROTATIONS; version += 1) {
      revoke(version);
      await Bun.sleep(10);
      const raw = { apiUrl: simulator.url, ...toKeys(version), region: `region-${version}` };
      const { settings } = cloudStack.parseConfig(raw, {});
      expect(change(settings ?? fail())).toBe("sameCloud");
      endGap();
      await load.settle();
    }
    const outcomes = await load.stop();
    expect(listUndue(outcomes)).toEqual([]);
    expectNoLeak(outcomes);
  }, 60_000);
});

function fail(): never {
  throw new Error("Cannot use the settings");
}
