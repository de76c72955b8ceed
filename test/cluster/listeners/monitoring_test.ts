/**
 * deploy/monitoring on a real Prometheus that scrapes a real Landfall.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../../lib/core/clock.ts";
import {
  type ObjectInput,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { UNINITIALIZED, waitUntil } from "../../support/process/cluster_rig.ts";
import { readJson } from "../../support/kube/contract/client.ts";
import {
  type LandfallProcess,
  PROGRAM,
  startLandfall,
} from "../../support/process/landfall_process.ts";
import {
  fillVariables,
  readDashboard,
  readRules,
  RULES_PATH,
  skipsWithout,
} from "../../support/deploy/monitoring.ts";
import {
  findFreePort,
  type ServerProcess,
  startProcess,
} from "../../support/process/server_process.ts";
import { askRedfish } from "../../support/redfish/ask.ts";
import { RedfishRig } from "../../support/redfish/processes.ts";
import { ROOT } from "../../support/sources.ts";

const SCRAPE_MS = 250;
const NODES = ["worker-1", "worker-3", "nobody"] as const;
/** What is empty while all is well, or for a Xen Orchestra that does not tell. */
const MAY_BE_EMPTY = [
  "landfall_node_deletions_total",
  "landfall_node_deletions_blocked",
  "landfall_cloud_undecodable_objects_total",
  "landfall_xenorchestra_token_expiry_timestamp_seconds",
  "landfall_watch_restarts_total",
  "landfall_change_hints_total",
  "service_controller_nodesync_error_total",
] as const;

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

const isSkipped = skipsWithout("prometheus");
const dashboard = isSkipped ? { panels: [] } : await readDashboard();
const targets = dashboard.panels.flatMap(({ title, targets: all = [] }) =>
  all.map((one) => ({ title, ...one })),
);

describe.skipIf(isSkipped)("deploy/monitoring on a real Prometheus", () => {
  const kubernetes = startKubernetesSimulator({ clock: systemClock });
  let folder = "";
  let url = "";
  let prometheus: ServerProcess | undefined;
  let landfall: LandfallProcess | undefined;
  let vinos: RedfishRig | undefined;
  let closeCloud = (): Promise<void> => Promise.resolve();

  const query = async (expression: string): Promise<readonly Sample[]> => {
    const body = new URLSearchParams({ query: expression });
    const response = await fetch(`${url}/api/v1/query`, { method: "POST", body });
    const answer = await readJson<{ readonly data?: { readonly result: readonly Sample[] } }>(
      response,
    );
    if (answer.data === undefined)
      throw new Error(`Cannot query ${expression}: ${response.status}`);
    return answer.data.result;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-prometheus-"));
    const { world } = createDemoWorld();
    const cloud = await startXenOrchestraSimulator({ clock: systemClock, world });
    closeCloud = () => cloud.stop();
    landfall = startLandfall(
      PROGRAM,
      [
        "run",
        `--master=${kubernetes.url}`,
        "--debug-address=127.0.0.1:0",
        "--secure-port=0",
        "--logging-format=json",
        "--leader-elect-resource-name=test",
        `--cloud-config=${await writeSettings(folder)}`,
      ],
      { XOA_URL: cloud.url, XOA_TOKEN: cloud.token },
    );
    vinos = await RedfishRig.start(PROGRAM, 1);
    const addresses = await Promise.all(
      [landfall, ...vinos.processes.map((one) => one.landfall)].map(findDebugAddress),
    );
    await switchOn(vinos);
    for (const name of NODES) {
      kubernetes.objects.create("nodes", toNode(name));
    }
    kubernetes.objects.create("services", {
      metadata: { name: "web", namespace: "default" },
      spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
    });
    const port = await findFreePort();
    url = `http://127.0.0.1:${port}`;
    prometheus = await startPrometheus(folder, port, addresses);
    const isScraped = 'landfall_reconciles_total{outcome="ok"}';
    await waitUntil("enough scrapes", async () => {
      const found = await query(`count_over_time(${isScraped}[1m]) > 12`).catch(() => []);
      return found.length > 0 ? true : undefined;
    });
  }, 60_000);
  afterAll(async () => {
    await prometheus?.stop("SIGKILL");
    await landfall?.stop();
    await vinos?.[Symbol.asyncDispose]();
    await kubernetes.stop();
    await closeCloud();
    await rm(folder, { recursive: true, force: true });
  });

  test.each(targets)('the panel "$title" shows $legendFormat', async ({ expr, legendFormat }) => {
    const samples = await query(fillVariables(expr));
    const mayBeEmpty = MAY_BE_EMPTY.some((name) => expr.includes(name));
    if (!mayBeEmpty) expect(samples.length, expr).toBeGreaterThan(0);
    const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
    for (const { metric } of samples) {
      expect(
        labels.filter((label) => !metric[label]),
        expr,
      ).toEqual([]);
    }
  });

  test("every alert can be judged, and none fires while all is well", async () => {
    const { groups } = await readRules();
    const response = await fetch(`${url}/api/v1/rules?type=alert`);
    const { data } = await readJson<{
      readonly data: {
        readonly groups: readonly {
          readonly rules: readonly {
            readonly name: string;
            readonly health: string;
            readonly state: string;
          }[];
        }[];
      };
    }>(response);
    const judged = data.groups.flatMap(({ rules }) => rules);
    expect(judged.map(({ name }) => name)).toEqual(
      groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)),
    );
    expect(judged.filter(({ health }) => health !== "ok")).toEqual([]);
    // One Node has no machine, which is worth waiting for.
    const waiting = judged.filter(({ state }) => state !== "inactive").map(({ name }) => name);
    expect(waiting).toEqual(["LandfallNodesUnmatched"]);
  });
});

async function findDebugAddress(landfall: LandfallProcess): Promise<string> {
  const { address } = await landfall.waitForRecord(
    ({ message, flag }) => message === "Listening" && flag === "--debug-address",
  );
  return String(address);
}

/** Switches the machine of the Vino on, as Ironic does: a request, and a reset. */
async function switchOn(vinos: RedfishRig): Promise<void> {
  const [process] = vinos.processes;
  if (process === undefined) throw new Error("Cannot test: no process serves Redfish");
  const path = `/redfish/v1/Systems/${vinos.machineId}/Actions/ComputerSystem.Reset`;
  const change = { method: "POST", json: { ResetType: "On" } } as const;
  const response = await askRedfish(process, path, vinos.login(process), change);
  expect(response.status).toBe(204);
}

function toNode(name: string): ObjectInput {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    spec: { taints: [UNINITIALIZED] },
    status: {
      nodeInfo: { systemUUID: toUuid(`vm/${name}`) },
      conditions: [{ type: "Ready", status: "True" }],
      addresses: [{ type: "Hostname", address: name }],
    },
  };
}

/** An address pool, so that the controller of Services runs. @returns The path of the file */
async function writeSettings(folder: string): Promise<string> {
  const path = join(folder, "settings.yaml");
  const pools = [{ name: "office", addresses: ["192.0.2.10-192.0.2.20"] }];
  await writeFile(path, JSON.stringify({ loadBalancers: { pools } }));
  return path;
}

async function startPrometheus(
  folder: string,
  port: number,
  targets: readonly string[],
): Promise<ServerProcess> {
  const config = join(folder, "prometheus.json");
  const every = `${SCRAPE_MS}ms`;
  // JSON is YAML.
  const settings = {
    global: { scrape_interval: every, scrape_timeout: every, evaluation_interval: "500ms" },
    rule_files: [join(ROOT, RULES_PATH)],
    scrape_configs: [{ job_name: "landfall", static_configs: [{ targets }] }],
  };
  await writeFile(config, JSON.stringify(settings));
  const flags = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  return startProcess("prometheus", flags, join(folder, "prometheus.log"));
}
