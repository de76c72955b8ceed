/**
 * A real cluster with SIPClusters and BareMetalHosts, and processes that run only their controller.
 * @module
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { listRights, type NeededRight, toPolicy } from "../../../lib/app/rights.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../../lib/kube/kinds/bare_metal_host.ts";
import {
  type SipCluster,
  type SipClusterSpec,
  SIP_CLUSTERS,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import {
  CLUSTER_NAME,
  CLUSTER_NAMESPACE,
  LEASE,
  NAME,
  NODE_TYPE,
  STANDBY,
} from "../../../lib/controllers/sipcluster/words.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import { type KubeObject, type Resource, toPath } from "../../../lib/kube/kinds/resource.ts";
import {
  formatNetworkData,
  OAM_NETWORK,
  planHosts,
  type RackPlan,
} from "../../../lib/simulator/metal3/hosts.ts";
import { requireTool } from "../deploy/deploy_tools.ts";
import { CRDS_PATH } from "../kube/crd.ts";
import { type Cluster, type ClusterOptions, startCluster } from "../process/cluster.ts";
import { type Controller, waitUntil } from "../process/cluster_rig.ts";
import { runPods } from "../process/kube_controllers.ts";
import { killAll, PROGRAM, type Program, startLandfall } from "../process/landfall_process.ts";
import { findFreePort } from "../process/server_process.ts";
import { ROOT } from "../sources.ts";
import { toRackSpec } from "./specs.ts";
import { readBareMetalHostCrd, toHostStatus } from "../metal3/bare_metal_host_crd.ts";
import { createProviderPems } from "./auth_facts.ts";

const ACCOUNT = { namespace: "kube-system", name: "landfall-sipcluster" } as const;
/** Of the controller, as the audit log has it. */
export const USERNAME: string = `system:serviceaccount:${ACCOUNT.namespace}:${ACCOUNT.name}`;
/** All that the registry asks for a process that runs only this controller, without a port for clients. */
export const RIGHTS: readonly NeededRight[] = listRights({
  registry: CONTROLLERS,
  controllers: new Set([NAME]),
  // As the flags have it that are not given.
  lease: { namespace: "kube-system", name: "cloud-controller-manager" },
  hasSecurePort: false,
});
const CRD_PATH = join(ROOT, "deploy/manifests/sipcluster/crd.yaml");
const LEASES_PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
/** A process notices soon that the one before it is gone. */
const ELECTION = ["--leader-elect-retry-period=500ms"];

/** The namespace of the hosts. */
export const METAL = "metal";
/** Flags of this version. */
const FLAGS = [`--sip-host-namespaces=${METAL}`, "--sip-host-error-grace=1s"];

/** A cluster of a test file. */
export class SipClusterRig implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly #kubectl: string;
  readonly #controllers: Controller[] = [];
  #pods: AsyncDisposable | undefined;
  /** Of objects in namespaces, for kubectl. */
  #kinds: string | undefined;

  private constructor(cluster: Cluster, kubectl: string) {
    this.cluster = cluster;
    this.#kubectl = kubectl;
  }

  /** Starts an API server without kinds, with rights for the controller; some 5 s. */
  static async start(kubectl: string, options: ClusterOptions = {}): Promise<SipClusterRig> {
    const rig = new SipClusterRig(await startCluster(options), kubectl);
    await rig.allow(RIGHTS);
    return rig;
  }

  /** Starts it with both kinds, and with what makes Pods; some 10 s. */
  static async startWithPods(kubectl: string, crdPath?: string): Promise<SipClusterRig> {
    const rig = await SipClusterRig.start(kubectl);
    await rig.installKinds(crdPath);
    rig.#pods = runPods(rig.cluster);
    return rig;
  }

  /** Lets the controller do this and nothing else. */
  async allow(rights: readonly NeededRight[]): Promise<void> {
    await this.cluster.applyRbac(ACCOUNT, toPolicy(rights));
  }

  /** Installs both kinds, as an administrator does. @param crdPath That of SIPClusters */
  async installKinds(crdPath: string = CRD_PATH): Promise<void> {
    await this.cluster.create(CRDS_PATH, await readBareMetalHostCrd());
    await this.run("apply", "-f", crdPath);
    await this.run("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pods?.[Symbol.asyncDispose]();
    await this.killControllers();
    await this.cluster.stop();
  }

  /** Runs kubectl as an administrator. */
  run(...args: readonly string[]): Promise<string> {
    return requireTool(this.#kubectl, [
      `--kubeconfig=${this.cluster.adminKubeconfigPath}`,
      `--cache-dir=${join(this.cluster.folder, "kubectl-cache")}`,
      ...args,
    ]);
  }

  /** Applies objects by kubectl. */
  async apply(...objects: readonly object[]): Promise<void> {
    const file = join(this.cluster.folder, `${crypto.randomUUID()}.json`);
    await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
    await this.run("apply", "-f", file);
  }

  /** Applies a SIPCluster by kubectl, in a namespace of its own name, after other objects there. */
  async applyCluster(
    name: string,
    spec: SipClusterSpec,
    others: readonly object[] = [],
  ): Promise<void> {
    const { apiVersion, kind } = SIP_CLUSTERS;
    await this.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } }, ...others, {
      apiVersion,
      kind,
      metadata: { name, namespace: name },
      spec,
    });
  }

  /** Applies a SIPCluster that has one of every service, at ports that Kubernetes chooses. */
  async applyWhole(name: string): Promise<void> {
    const common = { nodeInterfaceId: OAM_NETWORK, nodePort: 0 };
    const jumpHost = { image: "example.org/jump-host:1", nodeSSHPrivateKeys: "ssh-private-keys" };
    const issuerURL = "https://dex.example.org";
    const auth = { nodePort: 0, issuerURL, configSecret: "dex-config", tlsSecret: "dex-tls" };
    const spec: SipClusterSpec = {
      ...toRackSpec({ controlPlanes: 1, workers: 1, nodePort: 0 }),
      services: {
        loadBalancerControlPlane: [common],
        jumpHost: [{ ...common, ...jumpHost }],
        auth: [auth],
      },
    };
    const toSecret = (secret: string, stringData: object): object => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: secret, namespace: name },
      stringData,
    });
    const { crt, key, ca } = await createProviderPems("DNS:dex.example.org");
    await this.applyCluster(name, spec, [
      toSecret("dex-config", { "config.yaml": `issuer: ${issuerURL}` }),
      toSecret("dex-tls", { "tls.crt": crt, "tls.key": key, "ca.crt": ca }),
    ]);
  }

  /** Registers hosts in racks, with their network data. They are available. */
  async addHosts(racks: readonly RackPlan[]): Promise<void> {
    const plans = planHosts(METAL, racks);
    await this.apply(
      { apiVersion: "v1", kind: "Namespace", metadata: { name: METAL } },
      ...plans.flatMap(({ name, labels, networks }) => {
        const secret = `${name}-networkdata`;
        return [
          {
            apiVersion: "v1",
            kind: "Secret",
            metadata: { name: secret, namespace: METAL },
            stringData: { networkData: formatNetworkData(networks) },
          },
          {
            apiVersion: BARE_METAL_HOSTS.apiVersion,
            kind: BARE_METAL_HOSTS.kind,
            metadata: { name, namespace: METAL, labels },
            spec: { online: true, networkData: { name: secret } },
          },
        ];
      }),
    );
    for (const { name } of plans) await this.setHostStatus(name, toHostStatus("available"));
  }

  /** Sets the whole status of a host, as metal3's operator does. */
  async setHostStatus(name: string, status: object, namespace: string = METAL): Promise<void> {
    const path = `${toPath(BARE_METAL_HOSTS, { namespace, name })}/status`;
    await this.cluster.patch(path, { status });
  }

  /** Uses a host as Cluster API does, or uses it no more. */
  async consume(name: string, isUsed: boolean, namespace: string = METAL): Promise<void> {
    const consumer = {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
      kind: "Metal3Machine",
    };
    const consumerRef = isUsed ? { ...consumer, name: `machine-${name}`, namespace } : null;
    await this.cluster.patch(toPath(BARE_METAL_HOSTS, { namespace, name }), {
      spec: { consumerRef },
    });
  }

  /** All objects of a kind. */
  async list<T extends KubeObject>(
    resource: Resource<T>,
    namespace?: string,
  ): Promise<readonly T[]> {
    const path = toPath(resource, namespace === undefined ? {} : { namespace });
    return (await this.cluster.read<{ items: readonly T[] }>(path)).items;
  }

  /** A SIPCluster in a namespace of its own name, as it is now. */
  async read(name: string): Promise<SipCluster | undefined> {
    const path = toPath(SIP_CLUSTERS, { namespace: name, name });
    return await this.cluster.find<SipCluster>(path);
  }

  /** Hosts of a cluster, sorted, with role and `*` for standby: `worker-1 Worker*`. */
  async listHosts(cluster: string): Promise<string[]> {
    const hosts = await this.list<BareMetalHost>(BARE_METAL_HOSTS);
    return hosts
      .filter(({ metadata: { labels = {} } }) => {
        return labels[CLUSTER_NAME] === cluster && labels[CLUSTER_NAMESPACE] === cluster;
      })
      .map(({ metadata: { name, labels = {} } }) => {
        return `${name} ${labels[NODE_TYPE]}${labels[STANDBY] === "true" ? "*" : ""}`;
      })
      .toSorted();
  }

  /** Waits until a condition has a status and reason for the newest spec. Returns its message. */
  untilCondition(name: string, type: string, wanted: string): Promise<string> {
    let last: SipCluster | undefined;
    return waitUntil(
      () =>
        `${type} of ${name} to be ${wanted}; it is ${JSON.stringify(last?.status)}:\n${this.logs}`,
      async () => {
        last = await this.read(name);
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

  /** Events about a SIPCluster: `Reason message`. */
  async listEvents(name: string): Promise<string[]> {
    const query = new URLSearchParams({ fieldSelector: `involvedObject.name=${name}` }).toString();
    const items = await this.cluster.list<KubeEvent>(`/api/v1/namespaces/${name}/events?${query}`);
    return items.map(({ reason, message }) => `${reason} ${message}`);
  }

  /** Everything in a namespace but Events, of every kind that the API server has: `Deployment/web`. */
  async listAll(namespace: string): Promise<string[]> {
    this.#kinds ??= await this.#listKinds();
    const text = await this.run("get", this.#kinds, "--namespace", namespace, "--output=name");
    return text.trim().split("\n").filter(Boolean).toSorted();
  }

  async #listKinds(): Promise<string> {
    const flags = ["--namespaced", "--verbs=list", "--output=name"];
    const kinds = (await this.run("api-resources", ...flags)).trim().split("\n");
    return kinds.filter((kind) => !kind.startsWith("events")).join(",");
  }

  /** What all controllers so far logged, at most the end. */
  get logs(): string {
    return this.#controllers.map(({ landfall }) => landfall.log.slice(-4_000)).join("\n---\n");
  }

  /**
   * Starts a process and waits until it is up. It takes part in the election for the kind's Lease.
   *
   * @param server @default {the API server itself}
   * @param program One of another version. @default {this version, with the namespace of the hosts}
   */
  async startController(
    options: {
      readonly server?: string;
      readonly args?: readonly string[];
      readonly program?: Program;
    } = {},
  ): Promise<Controller> {
    const program = options.program ?? PROGRAM;
    const port = await findFreePort();
    const landfall = startLandfall(program, [
      "run",
      `--kubeconfig=${await this.#writeKubeconfig(options.server)}`,
      "--secure-port=0",
      "--logging-format=json",
      `--debug-address=127.0.0.1:${port}`,
      ...ELECTION,
      `--controllers=${NAME}`,
      ...(options.program === undefined ? FLAGS : []),
      ...(options.args ?? []),
    ]);
    const controller = { landfall, debugUrl: `http://127.0.0.1:${port}` };
    this.#controllers.push(controller);
    await this.untilTrue("a process that answers", async () => {
      return (await fetch(`${controller.debugUrl}/livez`).catch(() => undefined))?.ok ?? false;
    });
    return controller;
  }

  /** Ends all processes at once, and takes their Lease away, so that the next one need not wait for its end. */
  async killControllers(): Promise<void> {
    await killAll(this.#controllers.splice(0).map(({ landfall }) => landfall));
    await this.cluster.remove(`${LEASES_PATH}/${LEASE}`);
  }

  async #writeKubeconfig(server: string | undefined): Promise<string> {
    const token = await this.cluster.createServiceAccountToken(ACCOUNT, 3_600);
    const path = await this.cluster.writeTokenKubeconfig(token);
    if (server !== undefined) {
      const text = await Bun.file(path).text();
      await writeFile(path, text.replaceAll(this.cluster.url, server));
    }
    return path;
  }
}
