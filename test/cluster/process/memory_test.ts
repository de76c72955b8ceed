/**
 * Thousands of Nodes of the size that real ones have, and a controller that gets little memory. Both simulators are in
 * a process of their own: a real API server takes minutes to make so many Nodes on a busy machine.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Simulators } from "../../../bench/processes.ts";
import { readHoldings } from "../../../bench/meters/proc.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { toKubeconfig } from "../../support/process/kubeconfig.ts";
import { isInitialised } from "../../support/process/cluster_rig.ts";
import { readJson } from "../../support/kube/contract/client.ts";
import {
  type LandfallProcess,
  PROGRAM,
  type Program,
  startLandfall,
} from "../../support/process/landfall_process.ts";
import {
  createMemoryLimit,
  type MemoryLimit,
  skipsMemoryLimits,
} from "../../support/process/memory_limit.ts";

const MIB = 1024 * 1024;
const LIMIT_MIB = 128;
const NODES = 5_000;
/** How often each kubelet says that it is well. */
const HEARTBEAT_PERIOD_MS = 10_000;
const HEARTBEATS_MS = 30_000;
/** Ample: the machine may be busy with other tests. */
const READY_MS_MAX = 60_000;
const INITIALISE_MS_MAX = 180_000;
const POLL_MS = 250;
const LABELS = ["topology.kubernetes.io/region", "node.kubernetes.io/instance-type"] as const;

const isSkipped = PROGRAM.name !== "binary" || (await skipsMemoryLimits());

/** A running controller and the way to its pages. */
interface Small {
  readonly landfall: LandfallProcess;
  readonly readyMs: number;
}

describe.skipIf(isSkipped)(`with ${LIMIT_MIB} MiB of memory, the binary`, () => {
  let folder = "";
  let simulators: Simulators | undefined;
  const use = (): { program: Program; simulators: Simulators } => {
    if (simulators === undefined) throw new Error("Cannot test: not up");
    return { program: PROGRAM, simulators };
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-memory-"));
    simulators = await Simulators.start(NODES);
  }, 60_000);
  afterAll(async () => {
    await simulators?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const start = async (limit: MemoryLimit): Promise<Small> => {
    const { program, simulators } = use();
    const { kubernetesUrl, cloudUrl, secrets } = simulators.places;
    const [kubeconfig, cloudConfig] = [join(folder, "kubeconfig"), join(folder, "cloud.yaml")];
    const socket = join(folder, "socket");
    await writeFile(kubeconfig, toKubeconfig(kubernetesUrl));
    await writeFile(cloudConfig, `url: ${cloudUrl}\ntoken: ${secrets["token"]}\n`, { mode: 0o600 });
    const args = [`--kubeconfig=${kubeconfig}`, `--cloud-config=${cloudConfig}`, "--secure-port=0"];
    const more = ["--cloud-provider=xenorchestra", `--debug-address=${socket}`];
    const command = [...limit.prefix, ...program.command];
    const startMs = performance.now();
    // Who is starved of the processor by other tests may lose a Lease of 15 s.
    const all = ["run", ...args, ...more, "--leader-elect=false"];
    const landfall = startLandfall({ name: "small", command }, all);
    for (;;) {
      const reply = await fetch("http://localhost/readyz", { unix: socket }).catch(() => undefined);
      if (reply?.ok) return { landfall, readyMs: performance.now() - startMs };
      if (performance.now() > startMs + READY_MS_MAX || (await limit.countKills()) > 0) {
        landfall.signal("SIGKILL");
        await landfall.ended;
        throw new Error(
          `Not ready, ${await limit.countKills()} killed: ${landfall.log.slice(-2_000)}`,
        );
      }
      await Bun.sleep(POLL_MS);
    }
  };

  test(`initialises ${NODES} Nodes, starts again on them, and lives with their heartbeats`, async () => {
    const { simulators } = use();
    await using limit = await createMemoryLimit(LIMIT_MIB * MIB);
    const peaks: number[] = [];
    const end = async ({ landfall }: Small): Promise<void> => {
      peaks.push((await readHoldings(landfall.pid)).peak);
      const { code, stderr } = await landfall.stop();
      expect(code, stderr.slice(-2_000)).toBe(0);
    };
    const first = await start(limit);
    const startMs = performance.now();
    await simulators.register();
    while ((await simulators.progress()).initialised < NODES) {
      expect(performance.now() - startMs).toBeLessThan(INITIALISE_MS_MAX);
      await Bun.sleep(POLL_MS);
    }
    const initialisedMs = performance.now() - startMs;
    // Events come after.
    await waitForQuiet(simulators);
    await end(first);
    const before = await simulators.progress();
    const second = await start(limit);
    await simulators.startHeartbeats(HEARTBEAT_PERIOD_MS);
    await Bun.sleep(HEARTBEATS_MS);
    await simulators.stopHeartbeats();
    await end(second);
    const after = await simulators.progress();
    expect(after.heartbeats - before.heartbeats).toBeGreaterThan(NODES);
    // Nothing differs, so nothing is written.
    expect(after.writes).toBe(before.writes);
    const reply = await fetch(`${simulators.places.kubernetesUrl}/api/v1/nodes`);
    const { items } = await readJson<{ readonly items: readonly Node[] }>(reply);
    expect(items).toHaveLength(NODES);
    expect(items.filter((node) => !isWhole(node)).map(({ metadata }) => metadata.name)).toEqual([]);
    expect(await limit.countKills()).toBe(0);
    const counted = (await limit.readPeak()) / MIB;
    console.log(
      `${NODES} Nodes with ${LIMIT_MIB} MiB: initialised after ${Math.round(initialisedMs)} ms, ready on them in ` +
        `${Math.round(second.readyMs)} ms, ${after.heartbeats - before.heartbeats} heartbeats; resident at most ` +
        `${peaks.map((peak) => Math.round(peak)).join(" and ")} MiB, counted by the kernel ${Math.round(counted)} MiB`,
    );
    // It must fit by itself, not by the kernel's throwing out what is read again at once.
    for (const peak of peaks) expect(peak).toBeLessThan(LIMIT_MIB);
  }, 420_000);
});

function isWhole(node: Node): boolean {
  const { labels = {} } = node.metadata;
  const hasLabels = LABELS.every((label) => labels[label] !== undefined);
  return isInitialised(node) && hasLabels && node.spec?.providerID !== undefined;
}

async function waitForQuiet(simulators: Simulators): Promise<void> {
  for (let last = -1; ;) {
    const { writes } = await simulators.progress();
    if (writes === last) return;
    last = writes;
    await Bun.sleep(8 * POLL_MS);
  }
}
