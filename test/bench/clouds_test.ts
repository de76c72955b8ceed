/**
 * The benchmark's clouds: chosen by a flag, opened with a fleet, and read with the settings that Landfall gets.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CLOUD_NAMES, type CloudName, CLOUDS } from "../../bench/clouds/mod.ts";
import { openCloud } from "../../bench/clouds/open.ts";
import { toReading } from "../../bench/clouds/reading.ts";
import { MEASUREMENTS } from "../../bench/measurements.ts";
import type { Provider } from "../../lib/cloud/provider.ts";
import { parseProviderConfig } from "../../lib/config/provider_config.ts";
import { systemClock } from "../../lib/core/clock.ts";
import { Fence } from "../../lib/core/fence.ts";
import { silentLogger } from "../../lib/core/log.ts";
import { MetricsRegistry } from "../../lib/core/metrics.ts";
import { requireProvider } from "../../lib/providers/mod.ts";
import { startKubernetesSimulator } from "../../lib/simulator/kubernetes/mod.ts";
import { ROOT } from "../support/sources.ts";

function runBench(args: readonly string[]): Promise<readonly [number, string]> {
  return new Promise((resolve) => {
    execFile(process.execPath, [join(ROOT, "bench/mod.ts"), ...args], (error, stdout, stderr) =>
      resolve([Number(error?.code ?? 0), stdout + stderr]),
    );
  });
}

test("npm run bench names its clouds, and what it measures with each", async () => {
  const [code, help] = await runBench(["--help"]);
  expect(code).toBe(0);
  expect(help).toMatch(/--cloud=NAME .*: xenorchestra, cloudstack \(default: xenorchestra\)/);
  for (const cloud of CLOUD_NAMES) {
    expect(help).toContain(`${cloud}: ${Object.keys(MEASUREMENTS[cloud]).join(", ")}`);
  }
});

test.each<[args: string[], message: string]>([
  [["--cloud=openstack"], '--cloud: there is no "openstack"; there are xenorchestra, cloudstack\n'],
  [["--cloud="], '--cloud: there is no ""; there are xenorchestra, cloudstack\n'],
  [
    ["--cloud=cloudstack", "--only=denied"],
    `--only: there is no "denied"; there are ${Object.keys(MEASUREMENTS.cloudstack).join(", ")}\n`,
  ],
])("npm run bench refuses %j", async (args, message) => {
  expect(await runBench(args)).toEqual([2, message]);
});

describe.each(CLOUD_NAMES.map((name) => [name] as const))("%s", (name) => {
  test("opens with machines that Landfall sees, also when they are off or deleted", async () => {
    await using stack = new AsyncDisposableStack();
    const kubernetes = startKubernetesSimulator({ clock: systemClock });
    stack.defer(() => kubernetes.stop());
    const { stage, secrets } = await openCloud(name, { clock: systemClock, kubernetes, count: 3 });
    stack.defer(() => stage.cloud.stop());
    const folder = await mkdtemp(join(tmpdir(), "landfall-clouds-"));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    for (const [file, secret] of Object.entries(secrets))
      await writeFile(join(folder, file), secret);
    const stop = new AbortController();
    stack.defer(() => stop.abort());
    const provider = await createProvider(name, {
      url: stage.cloud.url,
      folder,
      signal: stop.signal,
    });
    const [first, second, third] = stage.machines;
    if (!first || !second || !third) throw new Error("there are too few machines");
    expect(await listStates(provider, stop.signal)).toEqual({
      [first.vmId]: "running",
      [second.vmId]: "running",
      [third.vmId]: "running",
    });
    stage.halt(first);
    stage.remove(second);
    const { [first.vmId]: halted, ...others } = await listStates(provider, stop.signal);
    expect(halted).not.toBe("running");
    expect(others).toEqual({ [third.vmId]: "running" });
    expect(stage.cloud.requests.total).toBeGreaterThan(0);
  });

  test("reads a whole fleet without a connection", () => {
    const { machines, read } = toReading(name, 3);
    const { instances, undecodable } = read();
    expect(undecodable.size).toBe(0);
    expect([...instances.keys()].toSorted()).toEqual(machines.map(({ vmId }) => vmId).toSorted());
  });
});

/** The provider with the settings of the benchmark. */
async function createProvider(
  name: CloudName,
  { url, folder, signal }: { url: string; folder: string; signal: AbortSignal },
): Promise<Provider> {
  const { provider, file, toSettings } = CLOUDS[name];
  const definition = await requireProvider(provider);
  const options = { path: join(folder, file), env: {}, definition, sections: [] };
  const { settings } = await parseProviderConfig(toSettings(url, folder), options);
  return definition.create(settings, {
    clock: systemClock,
    log: silentLogger,
    metrics: new MetricsRegistry(),
    signal,
    fence: new Fence(),
  });
}

async function listStates(
  provider: Provider,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const { instances } = await provider.listInventory([], signal);
  return Object.fromEntries([...instances].map(([id, { state }]) => [id, state]));
}
