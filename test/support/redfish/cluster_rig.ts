/**
 * Processes that serve Redfish for the machine of a Vino on a real API server, with exactly the rights of the manifests
 * and of the guide, and a simulated Xen Orchestra.
 * @module
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { VINOES, type VinoSpec } from "../../../lib/controllers/vino/resource/vino.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { type KubeObject, type Resource, toPath } from "../../../lib/kube/kinds/resource.ts";
import { SECRETS } from "../../../lib/kube/kinds/secret.ts";
import {
  createMachineSite,
  startXenOrchestraSimulator,
  type World,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { ROLE, USER } from "../../providers/xenorchestra/machines/rig.ts";
import { readManifests } from "../deploy/deploy_tools.ts";
import { readJson } from "../kube/contract/client.ts";
import { CRDS_PATH } from "../kube/crd.ts";
import { until } from "../nodes/rig.ts";
import { type AuditedRequest, type Cluster, startCluster } from "../process/cluster.ts";
import type { Program } from "../process/landfall_process.ts";
import { readBareMetalHostCrd } from "../metal3/bare_metal_host_crd.ts";
import { readSource } from "../sources.ts";
import { METAL } from "../vino/stage.ts";
import { toXenOrchestraSpec } from "../vino/xen_orchestra_stage.ts";
import { HOST, type RedfishProcess, startRedfishProcess, VINO } from "./processes.ts";
import type { RedfishLogin } from "./python.ts";
import { toTenantBinding } from "../vino/tenant_binding.ts";

const NAMESPACE = "kube-system";
/** As the manifests name the Service. */
export const SERVICE = "landfall-vino-redfish";
const ACCOUNT = { namespace: NAMESPACE, name: "landfall-vino" } as const;
const SECRET = `${HOST}-bmc-credentials`;
const WAIT_MS = 60_000;
const SLICES_PATH = `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`;
const STARTS: ReadonlySet<string> = new Set(["VM.start", "VM.hard_reboot", "VM.clean_reboot"]);
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const PATHS: Readonly<Record<string, string>> = {
  ServiceAccount: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`,
  Service: `/api/v1/namespaces/${NAMESPACE}/services`,
  ClusterRole: `${RBAC}/clusterroles`,
  ClusterRoleBinding: `${RBAC}/clusterrolebindings`,
  Role: `${RBAC}/namespaces/${NAMESPACE}/roles`,
  RoleBinding: `${RBAC}/namespaces/${NAMESPACE}/rolebindings`,
};

/** API server, cloud and processes. */
export class RedfishClusterRig implements AsyncDisposable {
  readonly cloud: XenOrchestraSimulator;
  readonly processes: RedfishProcess[] = [];
  readonly #cluster: Cluster;
  readonly #program: Program;
  #machineId = "";

  private constructor(
    program: Program,
    { cluster, cloud }: { cluster: Cluster; cloud: XenOrchestraSimulator },
  ) {
    this.#program = program;
    this.#cluster = cluster;
    this.cloud = cloud;
  }

  /**
   * Starts an API server with a Vino, and no process.
   *
   * @param spec @default {one machine that boots from the network}
   * @param adapt Changes the world of the cloud before it starts
   */
  static async start(
    program: Program,
    spec: VinoSpec = toXenOrchestraSpec(1, { boot: "Network" }),
    adapt: (world: World) => World = (world) => world,
  ): Promise<RedfishClusterRig> {
    const cluster = await startCluster();
    const { world: site, poolIds } = createMachineSite();
    const world = adapt(site);
    const user = { ...USER, privileges: ROLE, operatorOf: [poolIds.paris] };
    const cloud = await startXenOrchestraSimulator({ clock: systemClock, world, users: [user] });
    const rig = new RedfishClusterRig(program, { cluster, cloud });
    await rig.#install(spec);
    return rig;
  }

  /** Starts a process, and waits until it runs. @param flags More of them */
  async startProcess(flags: readonly string[] = []): Promise<RedfishProcess> {
    const { folder } = this.#cluster;
    const started = await startRedfishProcess(this.#program, {
      cloudConfig: join(folder, "vino.yaml"),
      kubeconfig: join(folder, "vino.kubeconfig"),
      service: `${NAMESPACE}/${SERVICE}`,
      at: this.processes.length,
      flags,
    });
    this.processes.push(started);
    return started;
  }

  /** Waits until the host has its management controller. */
  async untilPublished(): Promise<void> {
    await until(
      "the host is published",
      async () => {
        const host = await this.read(BARE_METAL_HOSTS, HOST);
        const { address } = Object(Object(host)["spec"]?.bmc);
        this.#machineId =
          String(address ?? "")
            .split("/")
            .at(-1) ?? "";
        return this.#machineId !== "";
      },
      WAIT_MS,
    );
  }

  /** The ID of the machine. */
  get machineId(): string {
    return this.#machineId;
  }

  /** User and password from the Secret of the host, at a process. */
  async login({ url }: RedfishProcess): Promise<RedfishLogin> {
    const { username, password } = Object(Object(await this.read(SECRETS, SECRET))["data"]);
    const toText = (encoded: string): string => Buffer.from(encoded, "base64").toString();
    return { url, username: toText(username), password: toText(password) };
  }

  /** Whether a boot override of a host is written down. */
  async hasOverride(host: string = HOST): Promise<boolean> {
    const secret = await this.read(SECRETS, `${host}-boot-override`);
    const keys = Object.keys(secret?.metadata.annotations ?? {});
    return keys.some((key) => key.includes("override"));
  }

  /** Where the Service leads; `undefined` if there is no such EndpointSlice. */
  async findEndpoints(): Promise<readonly string[] | undefined> {
    const response = await this.#cluster.adminFetch(`${SLICES_PATH}/${SERVICE}-ipv4`);
    if (!response.ok) return undefined;
    const { endpoints } = await readJson<{
      readonly endpoints: readonly { readonly addresses: readonly string[] }[] | null;
    }>(response);
    return (endpoints ?? []).flatMap(({ addresses }) => addresses);
  }

  /** Waits until the Service leads to a process, and to nothing else. */
  async untilLeads({ ip, landfall }: RedfishProcess): Promise<void> {
    const isSo = async (): Promise<boolean> => (await this.findEndpoints())?.join() === ip;
    await until(`the Service leads to ${ip}`, isSo, WAIT_MS).catch(async (error) => {
      throw new Error(`${error}; it leads to ${await this.findEndpoints()}\n${landfall.log}`);
    });
  }

  /** How often the VM with a MAC address was started; `undefined` while it does not run. */
  countStarts(mac: string): number | undefined {
    const vif = [...this.cloud.state.all("vifs").values()].find((one) => one["MAC"] === mac);
    const vm = this.cloud.state.read("vms", String(vif?.["$VM"]));
    if (vm?.["power_state"] !== "Running") return undefined;
    const { journal } = this.cloud.cloud.hypervisor;
    return journal.filter(({ method, id }) => id === vm.id && STARTS.has(method)).length;
  }

  /** The names of images for CDs in the cloud that Landfall made. */
  listImages(): readonly string[] {
    const names = [...this.cloud.state.all("vdis").values()].map((one) =>
      String(one["name_label"]),
    );
    return names.filter((name) => name.endsWith(".iso") && name.startsWith("vino-"));
  }

  /** The order of the machine's devices in the cloud. */
  readOrder(machineId: string = this.#machineId): unknown {
    return Object(this.cloud.state.read("vms", machineId)?.["boot"]).order;
  }

  /** What the processes asked of EndpointSlices. */
  async listSliceRequests(): Promise<readonly AuditedRequest[]> {
    const all = await this.#cluster.listRequests();
    return all.filter(({ resource }) => resource === "endpointslices");
  }

  /** Writes of the processes that the API server refused for lack of rights. */
  async listRefusedWrites(): Promise<readonly AuditedRequest[]> {
    const all = await this.#cluster.listRequests();
    return all.filter(({ code, verb }) => code === 403 && verb !== "get");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { landfall } of this.processes) landfall.signal("SIGKILL");
    await Promise.all(this.processes.map(({ landfall }) => landfall.ended));
    await Promise.all([this.#cluster.stop(), this.cloud.stop()]);
  }

  /** Creates a Secret beside the Vino. */
  async createSecret(name: string, stringData: Readonly<Record<string, string>>): Promise<void> {
    const path = toPath(SECRETS, { namespace: METAL });
    await this.#cluster.create(path, { metadata: { name }, stringData });
  }

  /** Merges into the spec of the Vino. */
  async changeVino(spec: VinoSpec): Promise<void> {
    const headers = { "content-type": "application/merge-patch+json" };
    const init = { method: "PATCH", headers, body: JSON.stringify({ spec }) };
    const path = toPath(VINOES, { namespace: METAL, name: VINO });
    const response = await this.#cluster.adminFetch(path, init);
    if (!response.ok) throw new Error(`Cannot change the Vino: ${await response.text()}`);
  }

  /** An object beside the Vino. */
  async read<T extends KubeObject>(kind: Resource<T>, name: string): Promise<T | undefined> {
    const response = await this.#cluster.adminFetch(toPath(kind, { namespace: METAL, name }));
    return response.ok ? await readJson<T>(response) : undefined;
  }

  async #install(spec: VinoSpec): Promise<void> {
    const cluster = this.#cluster;
    const crds = readManifests(await readSource("deploy/manifests/vino/crd.yaml"));
    for (const crd of [...crds, await readBareMetalHostCrd()]) await cluster.create(CRDS_PATH, crd);
    for (const file of ["deployment.yaml", "redfish/service.yaml"]) {
      for (const object of readManifests(await readSource(`deploy/manifests/vino/${file}`))) {
        const path = PATHS[object.kind];
        if (path !== undefined) await cluster.create(path, object);
      }
    }
    await cluster.create("/api/v1/namespaces", { metadata: { name: METAL } });
    await cluster.create(`${RBAC}/namespaces/${METAL}/rolebindings`, toTenantBinding(METAL));
    const settings = { url: this.cloud.url, token: this.cloud.token };
    await writeFile(join(cluster.folder, "vino.yaml"), JSON.stringify(settings));
    const config = {
      clusters: [
        {
          name: "c",
          cluster: { server: cluster.url, "certificate-authority": cluster.caPath },
        },
      ],
      users: [
        { name: "u", user: { token: await cluster.createServiceAccountToken(ACCOUNT, 3_600) } },
      ],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    };
    await writeFile(join(cluster.folder, "vino.kubeconfig"), JSON.stringify(config));
    const vinoes = toPath(VINOES, { namespace: METAL });
    await until("the kind is served", async () => (await cluster.adminFetch(vinoes)).ok, WAIT_MS);
    const { apiVersion, kind } = VINOES;
    await cluster.create(vinoes, { apiVersion, kind, metadata: { name: VINO }, spec });
  }
}
