/**
 * A Landfall in a place of its own: its way to API server and cloud, what it may use, and who it is.
 * @module
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toPolicy } from "../../../lib/app/rights.ts";
import { type ClusterRig, LEASE, RIGHTS, waitUntil } from "./cluster_rig.ts";
import { toKubeconfig } from "./kubeconfig.ts";
import { type LandfallProcess, type Program, startLandfall } from "./landfall_process.ts";

/** Where a Landfall runs. */
export interface PlaceOptions {
  /** Of its service account: by that the API server tells replicas apart. */
  readonly name: string;
  /** What comes before the program, such as what moves it into a namespace. @default {nothing} */
  readonly prefix?: readonly string[];
  /** Environment variables beside PATH. @default {none} */
  readonly env?: Readonly<Record<string, string>>;
  /** Address of the API server. @default {that of the cluster} */
  readonly server?: string;
  /** Address of Xen Orchestra. @default {that of the rig} */
  readonly cloudUrl?: string;
  /** More lines of the cloud's settings. */
  readonly settings?: readonly string[];
  /** More flags; they win. */
  readonly args?: readonly string[];
}

/** A running Landfall. */
export interface PlacedLandfall {
  /** Of its service account, as the audit log has it. */
  readonly username: string;
  readonly landfall: LandfallProcess;
  /** Process ID: that of the program, when the prefix replaces itself. */
  readonly pid: number;
  /** Where the debug pages are. */
  readonly socketPath: string;
  /** Asks a debug page. @throws Error when there is no answer in 5 s */
  ask(path: string): Promise<Response>;
  /** Value of a metric, the sum over its labels; 0 when it is absent. */
  readMetric(name: string): Promise<number>;
  /** Resolves once it is ready. */
  untilReady(): Promise<void>;
}

const ASK_MS_MAX = 5_000;

/** Starts a Landfall with every right that the manifests give, deletion included. It may not be ready yet. */
export async function placeLandfall(
  rig: ClusterRig,
  program: Program,
  options: PlaceOptions,
): Promise<PlacedLandfall> {
  const { name, prefix = [], env = {}, args = [] } = options;
  const { folder } = rig.cluster;
  const socketPath = join(folder, `${name}-${crypto.randomUUID().slice(0, 8)}.socket`);
  const cloudConfigPath = join(folder, `${name}.yaml`);
  await writeFile(cloudConfigPath, toCloudConfig(rig, options), { mode: 0o600 });
  const landfall = startLandfall(
    { ...program, command: [...prefix, ...program.command] },
    [
      "run",
      `--kubeconfig=${await writeKubeconfig(rig, options)}`,
      "--cloud-provider=xenorchestra",
      `--cloud-config=${cloudConfigPath}`,
      "--leader-elect=false",
      `--leader-elect-resource-name=${LEASE.name}`,
      "--secure-port=0",
      "--logging-format=json",
      `--debug-address=${socketPath}`,
      ...args,
    ],
    env,
  );
  const ask: PlacedLandfall["ask"] = (path) =>
    fetch(`http://localhost${path}`, {
      unix: socketPath,
      keepalive: false,
      signal: AbortSignal.timeout(ASK_MS_MAX),
    });
  return {
    username: `system:serviceaccount:${LEASE.namespace}:${name}`,
    landfall,
    pid: landfall.pid,
    socketPath,
    ask,
    readMetric: async (metric) => sumMetric(await (await ask("/metrics")).text(), metric),
    untilReady: () =>
      waitUntil(
        () => `readiness:\n${landfall.log}`,
        async () => ((await ask("/readyz").catch(() => undefined))?.ok ? true : undefined),
      ).then(() => undefined),
  };
}

function toCloudConfig(rig: ClusterRig, { cloudUrl, settings = [] }: PlaceOptions): string {
  const { url, token } = rig.cloud;
  const lines = [`url: ${cloudUrl ?? url}`, `token: ${token}`, "refreshInterval: 1s", ...settings];
  return `${lines.join("\n")}\n`;
}

async function writeKubeconfig(rig: ClusterRig, { name, server }: PlaceOptions): Promise<string> {
  const { cluster } = rig;
  const account = { namespace: LEASE.namespace, name };
  const token = await cluster.createServiceAccountToken(account, 3_600);
  await cluster.applyRbac(account, toPolicy(RIGHTS));
  const path = await cluster.writeTokenKubeconfig(token);
  if (server === undefined) return path;
  // Its certificate names localhost, whichever way leads there.
  const options = { user: { token }, caPath: cluster.caPath, serverName: "localhost" };
  await writeFile(path, toKubeconfig(server, options));
  return path;
}

/** @param text As Prometheus reads it */
function sumMetric(text: string, name: string): number {
  const lines = text.split("\n").filter((line) => /^[^{ ]+/.exec(line)?.[0] === name);
  return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
