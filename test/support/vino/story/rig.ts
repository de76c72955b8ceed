/**
 * A real cluster with Vinos and SIPClusters, a simulated Xen Orchestra as their cloud, and processes for each of the
 * two controllers with exactly the rights of their manifests and of the role in the guide.
 * @module
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HOST } from "../../../../lib/controllers/vino/hosts/words.ts";
import { IP_POOLS, type IpPool } from "../../../../lib/controllers/vino/resource/ip_pool.ts";
import { type Vino, VINOES } from "../../../../lib/controllers/vino/resource/vino.ts";
import { CONFIRMED_REMOVAL, LEASE } from "../../../../lib/controllers/vino/words.ts";
import {
  BARE_METAL_HOSTS,
  type BareMetalHost,
} from "../../../../lib/kube/kinds/bare_metal_host.ts";
import { toPath } from "../../../../lib/kube/kinds/resource.ts";
import { type Secret, SECRETS } from "../../../../lib/kube/kinds/secret.ts";
import { readManifests } from "../../deploy/deploy_tools.ts";
import { readJson } from "../../kube/contract/client.ts";
import { until } from "../../nodes/rig.ts";
import { waitUntil } from "../../process/cluster_rig.ts";
import {
  killAll,
  type LandfallProcess,
  PROGRAM,
  SHORT_LEASES,
  startLandfall,
} from "../../process/landfall_process.ts";
import { METAL, SipClusterRig } from "../../sipcluster/sip_cluster_rig.ts";
import { toTenantBinding } from "../tenant_binding.ts";
import { readSource, ROOT } from "../../sources.ts";
import { RACK, StoryCloud } from "./cloud.ts";

const FOLDER = "deploy/manifests/vino";
const ACCOUNT = { namespace: "kube-system", name: "landfall-vino" } as const;
/** As the sample's names are in the simulated cloud. */
const NAMES = [
  ["rack-6", "paris"],
  ["ubuntu-24.04", "vino-debian"],
  ["Pool-wide network associated with eth0", "oam"],
] as const;
const RIGHTS = /^(ServiceAccount|(Cluster)?Role(Binding)?)$/;

/** Whether a request arrived whose answer was lost is clear only after some 40 s. */
const CONDITION_MS = 80_000;

/** The name of the Vino of the sample. */
export const VINO = "wordpress";

/** What is known of a host. */
interface HostView {
  /** ID of the cloud's host. */
  readonly host: string;
  readonly rack: string;
  /** The first one of its network data. */
  readonly address: string;
}

/** Cluster, cloud and processes. */
export class VinoStoryRig implements AsyncDisposable {
  /** The cluster and its SIPClusters. */
  readonly sip: SipClusterRig;
  readonly cloud: StoryCloud;
  readonly #args: readonly string[];
  readonly #processes: LandfallProcess[] = [];

  private constructor(parts: {
    readonly sip: SipClusterRig;
    readonly cloud: StoryCloud;
    readonly args: readonly string[];
  }) {
    this.sip = parts.sip;
    this.cloud = parts.cloud;
    this.#args = parts.args;
  }

  /** Starts the cluster with all kinds, rights and the cloud, but no process; some 10 s. */
  static async start(kubectl: string): Promise<VinoStoryRig> {
    const sip = await SipClusterRig.start(kubectl);
    const cloud = await StoryCloud.start();
    await sip.installKinds();
    await sip.run("apply", "-f", join(ROOT, FOLDER, "crd.yaml"));
    await sip.run("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
    const objects = readManifests(await readSource(`${FOLDER}/deployment.yaml`));
    // The process of the Deployment is played by this test.
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: METAL } };
    const rights = objects.filter(({ kind }) => RIGHTS.test(kind));
    await sip.apply(...rights, namespace, toTenantBinding(METAL));
    const { template } = Object(objects.find(({ kind }) => kind === "Deployment")?.spec);
    const args: readonly string[] = template.spec.containers[0].args;
    return new VinoStoryRig({ sip, cloud, args });
  }

  /** Starts a process for Vinos, with the flags of the manifest; it takes part in the election. */
  async startVino(): Promise<LandfallProcess> {
    const { cluster } = this.sip;
    const config = join(cluster.folder, "vino.yaml");
    const { url, token } = this.cloud.simulator;
    await writeFile(config, `url: ${url}\ntoken: ${token}\nrefreshInterval: 1s\n`);
    const own = await cluster.createServiceAccountToken(ACCOUNT, 3_600);
    const landfall = startLandfall(PROGRAM, [
      ...this.#args.filter((arg) => !/^--(secure-port|debug-address|cloud-config)=/.test(arg)),
      `--cloud-config=${config}`,
      `--kubeconfig=${await cluster.writeTokenKubeconfig(own)}`,
      "--secure-port=0",
      "--debug-address=",
      "--logging-format=json",
      ...SHORT_LEASES,
    ]);
    this.#processes.push(landfall);
    return landfall;
  }

  /**
   * Kills the leader when a hypervisor works on a call of a method, and resolves once another process leads.
   *
   * @param act What is done meanwhile: it has the call made
   */
  async killLeaderDuring(method: string, act: () => Promise<void>): Promise<void> {
    const holder = (await this.sip.cluster.findHolder(LEASE)) ?? "";
    // Standbys name it as the holder.
    const leader = this.#processes.find(({ log }) => log.includes(`"identity":"${holder}"`));
    if (leader === undefined) throw new Error(`Cannot test: no process is ${holder}`);
    const onHit = (): void => leader.signal("SIGKILL");
    this.cloud.onCall(method, onHit);
    await act();
    await leader.ended;
    await this.untilTrue("another leader", async () => {
      const next = await this.sip.cluster.findHolder(LEASE);
      return Boolean(next) && next !== holder;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await killAll(this.#processes);
    await this.cloud.simulator.stop();
    await this.sip[Symbol.asyncDispose]();
  }

  /** What all processes for Vinos logged, at most the end. */
  get logs(): string {
    return this.#processes.map(({ log }) => log.slice(-4_000)).join("\n---\n");
  }

  /** Applies the sample of a tenant by kubectl, with names of the cloud. */
  async applySample(): Promise<void> {
    const text = await readSource(`${FOLDER}/samples/tenant.yaml`);
    const path = join(this.sip.cluster.folder, "sample.yaml");
    await writeFile(
      path,
      NAMES.reduce((whole, [from, to]) => whole.replaceAll(from, to), text),
    );
    await this.sip.run("apply", "-f", path);
  }

  /** Sets how many machines there are of each role: the control plane in all, workers on each host. */
  async scale(controlPlanes: number, workers: number): Promise<void> {
    const vino = await this.read();
    const nodes = vino?.spec?.nodes?.map((role) => ({
      ...role,
      count: role.name === "worker" ? workers : controlPlanes,
    }));
    await this.sip.cluster.patch(this.#path, { spec: { nodes } });
  }

  /** The Vino; absent once it is gone. */
  async read(): Promise<Vino | undefined> {
    const response = await this.sip.cluster.adminFetch(this.#path);
    return response.ok ? await readJson<Vino>(response) : undefined;
  }

  /** Waits until a condition has a status and reason for the newest spec. Returns its message. */
  async untilCondition(type: string, wanted: string): Promise<string> {
    let message = "";
    await this.#until(`${type} is ${wanted}`, (vino) => {
      const one = vino?.status?.conditions?.find((condition) => condition.type === type);
      message = one?.message ?? "";
      const isNew = one?.observedGeneration === vino?.metadata.generation;
      return isNew && `${one?.status} ${one?.reason}` === wanted;
    });
    return message;
  }

  /** Deletes the Vino by kubectl, and confirms that its machines go. Resolves once it is gone. */
  async deleteVino(): Promise<void> {
    await this.sip.run("delete", "vino", VINO, "-n", METAL, "--wait=false");
    const path = ["vino", VINO, "-n", METAL];
    const generation = await this.sip.run(
      "get",
      ...path,
      "--output=jsonpath={.metadata.generation}",
    );
    await this.sip.run("annotate", ...path, "--overwrite", `${CONFIRMED_REMOVAL}=${generation}`);
    await this.#until("the end of the Vino", (vino) => vino === undefined);
  }

  /** Waits until this holds. */
  async untilTrue(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    await waitUntil(
      () => `${what}:\n${this.logs}`,
      async () => ((await holds()) ? true : undefined),
    );
  }

  /** Hosts of machines, by name. */
  async listHosts(): Promise<ReadonlyMap<string, BareMetalHost>> {
    const hosts = await this.sip.list<BareMetalHost>(BARE_METAL_HOSTS, METAL);
    return new Map(hosts.map((host) => [host.metadata.name, host]));
  }

  /** What labels and Secrets say of the hosts, by the name of the machine as in `worker-0`. */
  async readHosts(): Promise<ReadonlyMap<string, HostView>> {
    const secrets = await this.sip.list<Secret>(SECRETS, METAL);
    const toView = ({ metadata: { name, labels = {} } }: BareMetalHost): HostView => {
      const secret = secrets.find((one) => one.metadata.name === `${name}-network-data`);
      const text = Buffer.from(secret?.data?.["networkData"] ?? "", "base64").toString();
      const address = /"ip_address": ?"([^"]*)"/.exec(text)?.[1] ?? "";
      return { host: labels[HOST] ?? "", rack: labels[RACK] ?? "", address };
    };
    const hosts = await this.listHosts();
    return new Map([...hosts].map(([name, host]) => [name.slice(VINO.length + 1), toView(host)]));
  }

  /** Addresses that pools have given to somebody. */
  async listAddresses(): Promise<string[]> {
    const pools = await this.sip.list<IpPool>(IP_POOLS);
    return pools.flatMap(({ spec }) => spec?.allocatedIPs ?? []).map(({ ip = "" }) => ip);
  }

  /** @throws {Error} with the status and the logs */
  async #until(what: string, holds: (vino: Vino | undefined) => boolean): Promise<void> {
    let last: Vino | undefined;
    const read = async (): Promise<boolean> => holds((last = await this.read()));
    await until(what, read, CONDITION_MS).catch((error: unknown) => {
      const state = JSON.stringify(last?.status);
      throw new Error(`${String(error)}: ${state}\n${this.logs}`, { cause: error });
    });
  }

  get #path(): string {
    return toPath(VINOES, { namespace: METAL, name: VINO });
  }
}
