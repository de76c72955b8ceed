/**
 * Changes as they happen, seen by a process of its own between two simulated servers.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../lib/core/clock.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import {
  type LandfallProcess,
  PROGRAM,
  startLandfall,
} from "../../support/process/landfall_process.ts";
import { toRegistration } from "../../support/nodes/nodes.ts";
import { until } from "../../support/nodes/rig.ts";

const ZONE = "topology.kubernetes.io/zone";
const NODE = "worker-1";
const { world, machines, hostIds } = createDemoWorld();
const vmId = machines.get(NODE)?.vmId ?? "";
/** From the event on; the event itself takes up to 200 ms. */
const TARGET_MS = 2_200;

describe(`landfall as ${PROGRAM.name}, at its default interval of 30 s,`, () => {
  let folder = "";
  let kubernetes: KubernetesSimulator;
  let cloud: XenOrchestraSimulator;
  let landfall: LandfallProcess;
  const hosts = ["xcp-par-3", "xcp-par-1", "xcp-par-2"] as const;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-live-"));
    kubernetes = startKubernetesSimulator({ clock: systemClock });
    cloud = await startXenOrchestraSimulator({ clock: systemClock, world });
    kubernetes.objects.createNode(toRegistration(NODE, { systemUuid: vmId }));
    const config = join(folder, "cloud.yaml");
    await writeFile(config, `url: ${cloud.url}\ntoken: ${cloud.token}\n`, { mode: 0o600 });
    landfall = startLandfall(PROGRAM, [
      "run",
      `--master=${kubernetes.url}`,
      "--cloud-provider=xenorchestra",
      `--cloud-config=${config}`,
      "--leader-elect=false",
      "--secure-port=0",
      "--debug-address=",
      "--logging-format=json",
    ]);
    await until("the Node is initialised", () => readZone() !== undefined);
    await landfall.waitForRecord(
      ({ message }) => message === "Xen Orchestra reports changes as they happen",
    );
  });
  afterAll(async () => {
    await landfall.stop();
    await Promise.all([kubernetes.stop(), cloud.stop()]);
    await rm(folder, { recursive: true });
  });

  const readZone = (): string | undefined => {
    const node = kubernetes.objects.getNode(NODE) as Node | undefined;
    return node?.metadata.labels?.[ZONE];
  };
  const migrate = async (host: (typeof hosts)[number]): Promise<number> => {
    const startedMs = performance.now();
    cloud.state.migrateLive(vmId, hostIds[host]);
    await until("the label is right", () => readZone() === hostIds[host]);
    return performance.now() - startedMs;
  };

  test("shows within 2 s of the event where a machine moved", async () => {
    for (const host of hosts) expect(await migrate(host)).toBeLessThan(TARGET_MS);
  });

  test("shows it again after the stream was cut", async () => {
    const opened = cloud.requests.count("GET /events");
    cloud.events.drop();
    await until("there is another stream", () => cloud.requests.count("GET /events") > opened);
    await until("it is subscribed to", () => Object.keys(cloud.events.subscriptions[0] ?? {})[2]);
    expect(await migrate("xcp-par-3")).toBeLessThan(TARGET_MS);
  });

  test("ends at once with a stream open, and closes it", async () => {
    const startedMs = performance.now();
    const { code } = await landfall.stop();
    expect([code, performance.now() - startedMs < 5_000]).toEqual([0, true]);
    await until("the stream is closed", () => cloud.events.size === 0);
  });
});
