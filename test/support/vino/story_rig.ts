/**
 * A real cluster with Vinos and SIPClusters, a simulated Xen Orchestra as their cloud, and processes for each of the
 * two controllers with exactly the rights of their manifests and of the role in the guide.
 * @module
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HOST } from "../../../lib/controllers/vino/hosts/words.ts";
import { IP_POOLS, type IpPool } from "../../../lib/controllers/vino/resource/ip_pool.ts";
import { type Vino, VINOES } from "../../../lib/controllers/vino/resource/vino.ts";
import { LEASE } from "../../../lib/controllers/vino/words.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { toPath } from "../../../lib/kube/kinds/resource.ts";
import { type Secret, SECRETS } from "../../../lib/kube/kinds/secret.ts";
import {
  createMachineSite,
  type MachineSite,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
  type XoRecord,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { ROLE, USER } from "../../providers/xenorchestra/machines/rig.ts";
import { adaptManifests, readManifests } from "../deploy/deploy_tools.ts";
import { readJson } from "../kube/contract/client.ts";
import { waitUntil } from "../process/cluster_rig.ts";
import {
  killAll,
  type LandfallProcess,
  listPrograms,
  startLandfall,
} from "../process/landfall_process.ts";
import { METAL, SipClusterRig } from "../sipcluster/sip_cluster_rig.ts";
import { readSource, ROOT } from "../sources.ts";

const FOLDER = "deploy/manifests/vino";
const ACCOUNT = { namespace: "kube-system", name: "landfall-vino" } as const;
/** A takeover takes some 4 s. */
const ELECTION = [
  "--leader-elect-lease-duration=4s",
  "--leader-elect-renew-deadline=3s",
  "--leader-elect-retry-period=500ms",
];
/** As the sample's names are in the simulated cloud. */
const NAMES = [
  ["rack-6", "paris"],
  ["ubuntu-24.04", "vino-debian"],
  ["Pool-wide network associated with eth0", "oam"],
] as const;
/** How long a call of a hypervisor takes: long enough to do something while machines are made. */
const OPERATION_MS = 20;
const RIGHTS = /^(ServiceAccount|(Cluster)?Role(Binding)?)$/;

/** The name of the Vino of the sample. */
export const VINO = "wordpress";

/** The label that the sample copies from tags. */
const RACK = "airshipit.org/rack";

/** What is known of a host. */
export interface HostView {
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
  readonly cloud: XenOrchestraSimulator;
  readonly site: MachineSite;
  readonly #args: readonly string[];
  readonly #processes: LandfallProcess[] = [];
  readonly #logs: LandfallProcess[] = [];

  private constructor(parts: {
    readonly sip: SipClusterRig;
    readonly cloud: XenOrchestraSimulator;
    readonly site: MachineSite;
    readonly args: readonly string[];
  }) {
    this.sip = parts.sip;
    this.cloud = parts.cloud;
    this.site = parts.site;
    this.#args = parts.args;
  }

  /** Starts the cluster with all kinds, rights and the cloud, but no process; some 10 s. */
  static async start(kubectl: string): Promise<VinoStoryRig> {
    const sip = await SipClusterRig.start(kubectl);
    const site = createMachineSite();
    const options = { clock: systemClock, world: tagHosts(site), operationMs: OPERATION_MS };
    const users = [{ ...USER, privileges: ROLE }];
    const cloud = await startXenOrchestraSimulator({ ...options, users });
    await sip.installKinds();
    await sip.run("apply", "--validate=false", "-f", join(ROOT, FOLDER, "crd.yaml"));
    await sip.run("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
    const { minor } = await readJson<{ readonly minor: string }>(
      await sip.cluster.adminFetch("/version"),
    );
    const objects = adaptManifests(
      readManifests(await readSource(`${FOLDER}/deployment.yaml`)),
      Number.parseInt(minor, 10),
    );
    // The process of the Deployment is played by this test.
    await sip.apply(...objects.filter(({ kind }) => RIGHTS.test(kind)));
    const { template } = Object(objects.find(({ kind }) => kind === "Deployment")?.spec);
    const args: readonly string[] = template.spec.containers[0].args;
    return new VinoStoryRig({ sip, cloud, site, args });
  }

  /** Starts a process for Vinos, with the flags of the manifest; it takes part in the election. */
  async startVino(): Promise<LandfallProcess> {
    const { cluster } = this.sip;
    const config = join(cluster.folder, "vino.yaml");
    const { url, token } = this.cloud;
    await writeFile(config, `url: ${url}\ntoken: ${token}\nrefreshInterval: 1s\n`);
    const own = await cluster.createServiceAccountToken(ACCOUNT, 3_600);
    const program = listPrograms().at(-1);
    if (program === undefined) throw new Error("Cannot test: there is no program");
    const landfall = startLandfall(program, [
      ...this.#args.filter((arg) => !/^--(secure-port|debug-address|cloud-config)=/.test(arg)),
      `--cloud-config=${config}`,
      `--kubeconfig=${await cluster.writeTokenKubeconfig(own)}`,
      "--secure-port=0",
      "--debug-address=",
      "--logging-format=json",
      ...ELECTION,
    ]);
    this.#processes.push(landfall);
    return landfall;
  }

  /** Ends the process that holds the Lease, at once, and keeps the other ones. */
  async killLeader(): Promise<void> {
    const holder = (await this.sip.findHolder(LEASE)) ?? "";
    const at = this.#processes.findIndex(({ log }) => hasIdentity(log, holder));
    const [leader] = at < 0 ? [] : this.#processes.splice(at, 1);
    if (leader === undefined) throw new Error(`Cannot test: nobody is ${holder}`);
    this.#logs.push(leader);
    await killAll([leader]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await killAll(this.#processes);
    await this.cloud.stop();
    await this.sip[Symbol.asyncDispose]();
  }

  /** What all processes for Vinos logged, at most the end. */
  get logs(): string {
    const all = [...this.#logs, ...this.#processes];
    return all.map(({ log }) => log.slice(-4_000)).join("\n---\n");
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
    await this.sip.patch(this.#path, { spec: { nodes } });
  }

  /** The Vino; absent once it is gone. */
  async read(): Promise<Vino | undefined> {
    const response = await this.sip.cluster.adminFetch(this.#path);
    return response.ok ? await readJson<Vino>(response) : undefined;
  }

  /** Waits until a condition has a status and reason for the newest spec. Returns its message. */
  async untilCondition(type: string, wanted: string): Promise<string> {
    let last: Vino | undefined;
    return await waitUntil(
      () => `${type} to be ${wanted}; it is ${JSON.stringify(last?.status)}:\n${this.logs}`,
      async () => {
        last = await this.read();
        const one = last?.status?.conditions?.find((condition) => condition.type === type);
        const isNew = one?.observedGeneration === last?.metadata.generation;
        return isNew && `${one?.status} ${one?.reason}` === wanted ? one?.message : undefined;
      },
    );
  }

  /** Waits until this holds. */
  async untilTrue(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    await waitUntil(
      () => `${what}:\n${this.logs}`,
      async () => ((await holds()) ? true : undefined),
    );
  }

  /** The machines in the cloud whose names are a Vino's, in order: `control-plane-0 Running`. */
  listVms(): string[] {
    return this.listMachines()
      .map((vm) => `${toShort(vm)} ${String(vm["power_state"])}`)
      .toSorted();
  }

  /** Their records. */
  listMachines(): readonly XoRecord[] {
    return this.cloud.state.list("vms").filter((vm) => toShort(vm) !== "");
  }

  /** The only machine of this name, as in `worker-0`. */
  findMachine(name: string): XoRecord {
    const [found, ...others] = this.listMachines().filter((vm) => toShort(vm) === name);
    if (found === undefined || others.length > 0) throw new Error(`Not one machine is ${name}`);
    return found;
  }

  /** IDs of all objects in the cloud that Landfall could make, in order. */
  listObjects(): string[] {
    const names = ["vms", "vm-templates", "vdis", "vbds", "vifs"] as const;
    return names
      .flatMap((name) => this.cloud.state.list(name).map(({ id }) => `${name}/${id}`))
      .toSorted();
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

  /** The rack in the tags of a host of the cloud. */
  rackOf(hostId: string): string {
    const tags = this.cloud.state.read("hosts", hostId)?.["tags"];
    const found = Array.isArray(tags) ? tags.map(String).find((tag) => tag.startsWith(RACK)) : "";
    return found?.split("=")[1] ?? "";
  }

  /** Addresses that pools have given to somebody. */
  async listAddresses(): Promise<string[]> {
    const pools = await this.sip.list<IpPool>(IP_POOLS);
    return pools.flatMap(({ spec }) => spec?.allocatedIPs ?? []).map(({ ip = "" }) => ip);
  }

  get #path(): string {
    return toPath(VINOES, { namespace: METAL, name: VINO });
  }
}

/** The part of a machine's name that says which one of its Vino it is; empty for what is no Vino's. */
function toShort(vm: XoRecord): string {
  return /^vino-[0-9a-f]{8}-(.*)/.exec(String(vm["name_label"]))?.[1] ?? "";
}

/** The world with the tags that the sample chooses and copies. */
function tagHosts({ world, poolIds }: MachineSite): MachineSite["world"] {
  const hosts = world.hosts?.map((host, at) =>
    host["$pool"] === poolIds.paris ? { ...host, tags: ["vino", `${RACK}=r${at}`] } : host,
  );
  return { ...world, ...(hosts && { hosts }) };
}

function hasIdentity(log: string, identity: string): boolean {
  return identity !== "" && log.includes(identity);
}
