/**
 * The binary with the memory of the manifests, while a tenant of a real API server, or the cloud, gives it far more.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Simulators } from "../../../bench/processes.ts";
import { forEachAtOnce } from "../../../lib/core/concurrency.ts";
import { readManifests } from "../../support/deploy/deploy_tools.ts";
import { CRDS_PATH } from "../../support/kube/crd.ts";
import { readBareMetalHostCrd } from "../../support/metal3/bare_metal_host_crd.ts";
import { until } from "../../support/nodes/rig.ts";
import { type Cluster, skipsCluster, startCluster } from "../../support/process/cluster.ts";
import { PROGRAM, startLandfall } from "../../support/process/landfall_process.ts";
import {
  createMemoryLimit,
  type MemoryLimit,
  skipsMemoryLimits,
} from "../../support/process/memory_limit.ts";
import { ROOT } from "../../support/sources.ts";
import { toKubeconfig } from "../../support/process/kubeconfig.ts";

const MIB = 1024 * 1024;
/** As in the manifests. */
const LIMIT_MIB = 256;
const READY_MS_MAX = 60_000;
const MAPS = 250;
const ALL = new AbortController().signal;

const isSkipped = PROGRAM.name !== "binary" || (await skipsMemoryLimits());

/** A running controller within a limit. */
interface Limited extends AsyncDisposable {
  ask(path: string): Promise<string>;
  log(): string;
  untilReady(): Promise<void>;
}

async function start(folder: string, args: readonly string[]): Promise<Limited> {
  const limit: MemoryLimit = await createMemoryLimit(LIMIT_MIB * MIB);
  const unix = join(folder, `socket-${crypto.randomUUID().slice(0, 8)}`);
  const command = [...limit.prefix, ...PROGRAM.command];
  const own = ["--secure-port=0", `--debug-address=${unix}`, "--leader-elect=false"];
  const landfall = startLandfall({ name: "limited", command }, ["run", ...args, ...own]);
  const ask = async (path: string): Promise<string> => {
    if ((await limit.countKills()) > 0) throw new Error(`Ended: ${landfall.log.slice(-2_000)}`);
    return await (await fetch(`http://localhost${path}`, { unix })).text();
  };
  const isReady = async (): Promise<boolean> =>
    (await ask("/readyz").catch((error: unknown) => String(error))) === "ok";
  return {
    ask,
    log: () => landfall.log,
    untilReady: () => until("ready", isReady, READY_MS_MAX),
    [Symbol.asyncDispose]: async () => {
      const { code, stderr } = await landfall.stop();
      expect(await limit.countKills(), stderr.slice(-2_000)).toBe(0);
      expect(code, stderr.slice(-2_000)).toBe(0);
      await limit[Symbol.asyncDispose]();
    },
  };
}

describe.skipIf(isSkipped || skipsCluster())(`with ${LIMIT_MIB} MiB, beside a tenant`, () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    const path = join(ROOT, "deploy/manifests/sipcluster/crd.yaml");
    const crds = [...readManifests(await readFile(path, "utf8")), await readBareMetalHostCrd()];
    for (const crd of crds) await cluster.create(CRDS_PATH, crd);
    await cluster.create("/api/v1/namespaces", { metadata: { name: "evil" } });
  }, 60_000);
  afterAll(() => cluster?.stop());

  test(`survives ${MAPS} ConfigMaps of 0.94 MiB, while it runs and from a start, and names them`, async () => {
    const args = ["--controllers=sipcluster", `--kubeconfig=${cluster.adminKubeconfigPath}`];
    const owner = {
      apiVersion: "airship.airshipit.org/v1",
      kind: "SIPCluster",
      name: "x",
      uid: "u",
    };
    const labels = { "landfall.dev/sip-cluster": "x" };
    const data = { long: "x".repeat(985_000) };
    {
      await using running = await start(cluster.folder, args);
      await running.untilReady();
      const numbers = Array.from({ length: MAPS }, (_one, at) => at);
      await forEachAtOnce(numbers, { atOnce: 8, signal: ALL }, async (at) => {
        const metadata = {
          name: `m${at}`,
          labels,
          ownerReferences: [{ ...owner, controller: true }],
        };
        await cluster.create("/api/v1/namespaces/evil/configmaps", { metadata, data });
      });
      await until("stubs", async () => (await countStubs(running)) > MAPS / 2, READY_MS_MAX);
      expect(running.log()).toContain("object=evil/m");
    }
    await using again = await start(cluster.folder, args);
    await again.untilReady();
    expect(await countStubs(again)).toBeGreaterThan(MAPS / 2);
    const listEvents = async (): Promise<string[]> => {
      const items = await cluster.list<{ readonly reason: string }>(
        "/api/v1/namespaces/evil/events",
      );
      return items.map(({ reason }) => reason);
    };
    await until("an Event", async () => (await listEvents()).includes("TooLarge"), READY_MS_MAX);
  }, 120_000);
});

async function countStubs(limited: Limited): Promise<number> {
  const text = await limited.ask("/metrics");
  return Number(/^landfall_cache_stubs\{resource="configmaps"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

describe.skipIf(isSkipped)(`with ${LIMIT_MIB} MiB, beside a cloud that lies`, () => {
  const JSON_TYPE = { "content-type": "application/json" };
  const packed = { ...JSON_TYPE, "content-encoding": "gzip" };
  const LIES: readonly (() => Response)[] = [
    () => new Response("[".repeat(5_000_000) + "]".repeat(5_000_000), { headers: JSON_TYPE }),
    () => new Response(gzipSync(Buffer.alloc(512 * MIB, 32)), { headers: packed }),
    () => new Response(toEndless(), { headers: JSON_TYPE }),
    () => new Response(`["${"x".repeat(100 * MIB)}"]`, { headers: JSON_TYPE }),
  ];

  test("survives nesting, packing, a stream without an end and a long text, and goes on after them", async () => {
    const folder = await mkdtemp(join(tmpdir(), "landfall-tenants-"));
    await using simulators = await Simulators.start(5);
    const { kubernetesUrl, cloudUrl, secrets } = simulators.places;
    const lies = [...LIES];
    await using proxy = Bun.serve({
      port: 0,
      idleTimeout: 0,
      fetch: async ({ url, headers, method, body }) => {
        const { pathname, search } = new URL(url);
        const lie = pathname.endsWith("/vms") ? lies.shift() : undefined;
        if (lie !== undefined) return lie();
        const reply = await fetch(cloudUrl + pathname + search, { headers, method, body });
        // It arrives unpacked.
        const type = reply.headers.get("content-type") ?? "";
        return new Response(reply.body, {
          status: reply.status,
          headers: { "content-type": type },
        });
      },
    });
    const [kubeconfig, settings] = [join(folder, "kubeconfig"), join(folder, "cloud.yaml")];
    await writeFile(kubeconfig, toKubeconfig(kubernetesUrl));
    const text = `url: http://127.0.0.1:${proxy.port}\ntoken: ${secrets["token"]}\n`;
    await writeFile(settings, text, { mode: 0o600 });
    const args = [`--kubeconfig=${kubeconfig}`, `--cloud-config=${settings}`];
    {
      await using running = await start(folder, [...args, "--cloud-provider=xenorchestra"]);
      await running.untilReady();
      expect(lies).toHaveLength(0);
      expect(running.log()).toContain("would need more than 96Mi of memory");
      expect(running.log()).toContain("the answer is longer than 16Mi");
      await simulators.register();
      const areDone = async (): Promise<boolean> => (await simulators.progress()).initialised === 5;
      await until("the Nodes", areDone, READY_MS_MAX);
    }
    await rm(folder, { recursive: true, force: true });
  }, 120_000);
});

function toEndless(): ReadableStream<Uint8Array> {
  const blanks = new Uint8Array(MIB).fill(32);
  return new ReadableStream({ pull: (controller) => controller.enqueue(blanks) });
}
