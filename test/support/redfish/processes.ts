/**
 * Processes that run the Vino controller with its Redfish service, on a simulated API server and a simulated Xen
 * Orchestra.
 * @module
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Vino, VINOES } from "../../../lib/controllers/vino/resource/vino.ts";
import { VINO_MACHINES } from "../../../lib/controllers/vino/resource/vino_machine.ts";
import { IP_POOLS } from "../../../lib/controllers/vino/resource/ip_pool.ts";
import { ENDPOINT_SLICES } from "../../../lib/controllers/vino/redfish/leader_endpoint.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import {
  type KubernetesSimulator,
  startKubernetesSimulator,
} from "../../../lib/simulator/kubernetes/mod.ts";
import {
  createMachineSite,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { tlsPath } from "../net/tls_fixtures.ts";
import { until } from "../nodes/rig.ts";
import {
  type LandfallProcess,
  type Program,
  SHORT_LEASES,
  startLandfall,
} from "../process/landfall_process.ts";
import { findFreePort } from "../process/server_process.ts";
import { METAL } from "../vino/stage.ts";
import { toXenOrchestraSpec } from "../vino/xen_orchestra_stage.ts";
import { askRedfish } from "./ask.ts";
import type { RedfishLogin } from "./python.ts";

/** The Vino, and the only host of it. */
export const VINO = "edge";
export const HOST = "edge-worker-0";
/** The Service that leads to the leader. */
const SERVICE = "redfish";
const SECRET = `${HOST}-bmc-credentials`;
const OVERRIDE_SECRET = `${HOST}-boot-override`;
const START_MS = 30_000;

/** One process. */
export interface RedfishProcess {
  readonly landfall: LandfallProcess;
  /** Where it serves Redfish. */
  readonly url: string;
  /** What it says its Pod has. */
  readonly ip: string;
}

/** API server, cloud and processes. */
export class RedfishRig implements AsyncDisposable {
  readonly kubernetes: KubernetesSimulator;
  readonly cloud: XenOrchestraSimulator;
  readonly processes: RedfishProcess[] = [];
  readonly #folder: string;

  private constructor(cloud: XenOrchestraSimulator, folder: string) {
    this.kubernetes = startKubernetesSimulator({ clock: systemClock });
    this.cloud = cloud;
    this.#folder = folder;
  }

  /**
   * Starts them with a Vino of one machine that boots from the network.
   *
   * @param users Of Xen Orchestra; Landfall is the first. @default {an administrator}
   */
  static async start(
    program: Program,
    count: number,
    users?: Parameters<typeof startXenOrchestraSimulator>[0]["users"],
  ): Promise<RedfishRig> {
    const { world } = createMachineSite();
    const options = { clock: systemClock, world, ...(users && { users }) };
    const cloud = await startXenOrchestraSimulator(options);
    const rig = new RedfishRig(cloud, await mkdtemp(join(tmpdir(), "landfall-redfish-")));
    const { kubernetes } = rig;
    for (const kind of [BARE_METAL_HOSTS, VINOES, VINO_MACHINES, IP_POOLS])
      kubernetes.installKind(kind);
    for (const name of [METAL, "kube-system"]) {
      if (kubernetes.objects.get("namespaces", { name })) continue;
      kubernetes.objects.create("namespaces", { metadata: { name } });
    }
    const spec = toXenOrchestraSpec(1, { boot: "Network" });
    kubernetes.objects.create(VINOES.plural, {
      metadata: { name: VINO, namespace: METAL, generation: 1 },
      spec: JSON.parse(JSON.stringify(spec)),
    });
    await rig.#writeFiles();
    for (let at = 0; at < count; at += 1) await rig.#startProcess(program, at);
    await until("the host is published", () => rig.findAddress() !== undefined, START_MS);
    await rig.#untilKnown();
    return rig;
  }

  /** The host is published a moment before the VinoMachine names its machine, and a process reads that. */
  async #untilKnown(): Promise<void> {
    const { objects } = this.kubernetes;
    const isNamed = (): boolean => {
      const machines = objects.list(VINO_MACHINES.plural, METAL);
      return machines.some((one) => JSON.stringify(one["status"] ?? {}).includes(this.machineId));
    };
    await until("the VinoMachine names the machine", isNamed, START_MS);
    const path = `/redfish/v1/Systems/${this.machineId}`;
    const isKnown = async (): Promise<boolean> => {
      const ask = (one: RedfishProcess): Promise<Response> =>
        askRedfish(one, path, this.login(one));
      return (await Promise.all(this.processes.map(ask))).some(({ ok }) => ok);
    };
    await until("a process knows the machine", isKnown, START_MS);
  }

  /** `redfish+https://…`; `undefined` if there is no host with a management controller. */
  findAddress(): string | undefined {
    const host = this.kubernetes.objects.get(BARE_METAL_HOSTS.plural, {
      namespace: METAL,
      name: HOST,
    });
    const { address } = Object(Object(host?.["spec"]).bmc);
    return typeof address === "string" ? address : undefined;
  }

  /** The ID of the machine. */
  get machineId(): string {
    return this.findAddress()?.split("/").at(-1) ?? "";
  }

  /** User and password from the Secret of the host, at a process. */
  login({ url }: RedfishProcess): RedfishLogin {
    const secret = this.kubernetes.objects.get("secrets", { namespace: METAL, name: SECRET });
    const { username, password } = Object(secret?.["data"]);
    const toText = (encoded: string): string => Buffer.from(encoded, "base64").toString();
    return { url, username: toText(username), password: toText(password) };
  }

  /** Whether a boot override is written down. */
  get hasOverride(): boolean {
    const path = { namespace: METAL, name: OVERRIDE_SECRET };
    const secret = this.kubernetes.objects.get("secrets", path);
    return Object.keys(secret?.metadata["annotations"] ?? {}).some((key) =>
      key.includes("override"),
    );
  }

  /** Addresses of the Service. */
  listEndpoints(): readonly string[] {
    const slice = this.kubernetes.objects.get(ENDPOINT_SLICES.plural, {
      namespace: METAL,
      name: `${SERVICE}-ipv4`,
    });
    const endpoints: readonly { readonly addresses: readonly string[] }[] =
      Object(slice)["endpoints"] ?? [];
    return endpoints.flatMap(({ addresses }) => addresses);
  }

  /** The process that the Service leads to. */
  findLeader(): RedfishProcess | undefined {
    const [ip] = this.listEndpoints();
    return this.processes.find((one) => one.ip === ip);
  }

  /** The order of the machine's devices in the cloud. */
  readOrder(): unknown {
    return Object(this.cloud.state.read("vms", this.machineId)?.["boot"]).order;
  }

  /** The status of the Vino. */
  readStatus(): Vino["status"] {
    const found = this.kubernetes.objects.get(VINOES.plural, { namespace: METAL, name: VINO });
    return found && JSON.parse(JSON.stringify(found)).status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { landfall } of this.processes) landfall.signal("SIGKILL");
    await Promise.all(this.processes.map(({ landfall }) => landfall.ended));
    await Promise.all([this.kubernetes.stop(), this.cloud.stop()]);
    await rm(this.#folder, { recursive: true });
  }

  async #writeFiles(): Promise<void> {
    const config = {
      clusters: [{ name: "c", cluster: { server: this.kubernetes.url } }],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    };
    await writeFile(join(this.#folder, "kubeconfig"), JSON.stringify(config));
    const settings = { url: this.cloud.url, token: this.cloud.token };
    await writeFile(join(this.#folder, "cloud.yaml"), JSON.stringify(settings));
  }

  async #startProcess(program: Program, at: number): Promise<void> {
    const files = {
      cloudConfig: join(this.#folder, "cloud.yaml"),
      kubeconfig: join(this.#folder, "kubeconfig"),
    };
    const service = `${METAL}/${SERVICE}`;
    // Nothing is fetched from there.
    const flags = [
      "--vino-redfish-iso-storage=ISOs",
      "--vino-redfish-iso-sources=https://images.example.org/",
    ];
    this.processes.push(await startRedfishProcess(program, { ...files, service, at, flags }));
  }
}

/** What {@linkcode startRedfishProcess} needs. */
interface RedfishProcessOptions {
  readonly cloudConfig: string;
  readonly kubeconfig: string;
  /** `metal/redfish`. */
  readonly service: string;
  /** Which one it is, from 0: its Pod has its own address. */
  readonly at: number;
  /** More flags. @default {none} */
  readonly flags?: readonly string[];
}

/** Starts a process that serves Redfish on loopback, with short leases. */
export async function startRedfishProcess(
  program: Program,
  { cloudConfig, kubeconfig, service, at, flags = [] }: RedfishProcessOptions,
): Promise<RedfishProcess> {
  const port = await findFreePort();
  const url = `https://127.0.0.1:${port}`;
  const ip = `10.0.0.${at + 1}`;
  const landfall = startLandfall(program, [
    "run",
    "--cloud-provider=xenorchestra",
    `--cloud-config=${cloudConfig}`,
    `--kubeconfig=${kubeconfig}`,
    "--controllers=vino",
    "--secure-port=0",
    "--debug-address=127.0.0.1:0",
    "--logging-format=json",
    ...SHORT_LEASES,
    `--vino-redfish-address=127.0.0.1:${port}`,
    `--vino-redfish-url=${url}`,
    `--vino-redfish-tls-cert-file=${tlsPath("server.crt")}`,
    `--vino-redfish-tls-private-key-file=${tlsPath("server.key")}`,
    `--vino-redfish-service=${service}`,
    `--vino-redfish-pod-ip=${ip}`,
    ...flags,
  ]);
  return { landfall, url, ip };
}
