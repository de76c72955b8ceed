/**
 * A real cluster without kubelets, a simulated Xen Orchestra, and what a controller needs to serve both.
 * @module
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toNodeInfo } from "../../../lib/cli/demo/cluster.ts";
import { listRights, needAll, type NeededRight, toPolicy } from "../../../lib/app/rights.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import type { Access } from "../../../lib/kube/access/rights.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { VmOptions } from "../../../lib/simulator/xenorchestra/records.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { toKubeconfig } from "./kubeconfig.ts";
import { type LandfallProcess, type Program, startLandfall } from "./landfall_process.ts";

/** The taint of a Node that waits for its cloud, as a kubelet with `--cloud-provider=external` sets it. */
export const UNINITIALIZED = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  value: "true",
  effect: "NoSchedule",
} as const;

/** The condition of a Node whose kubelet is well. */
export const READY = {
  type: "Ready",
  status: "True",
  reason: "KubeletReady",
  message: "",
} as const;
/** That of one whose kubelet is not heard of any more. */
export const NOT_READY = { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" } as const;

const ACCOUNT = { namespace: "kube-system", name: "landfall" } as const;
/** The Lease that the manifests name. */
export const LEASE = {
  namespace: "kube-system",
  name: "cloud-controller-manager-xenorchestra",
} as const;
/** All that the manifests let the controller do. */
export const RIGHTS: readonly NeededRight[] = listRights(needAll(LEASE));
/** Of the controller, as the audit log has it. */
export const USERNAME: string = `system:serviceaccount:${ACCOUNT.namespace}:${ACCOUNT.name}`;
const BAD_REQUEST = 400;
const FORBIDDEN = 403;
const WAIT_MS = 25_000;
const POLL_MS = 50;

/** A Node as a kubelet registers it; what is left out is as kubelets have it. */
interface Registration {
  /** @default {a UUID made of the name, as a VM of that name has} */
  readonly systemUuid?: string;
  readonly providerID?: string;
  readonly nodeIp?: string;
  /** @default {the uninitialized taint alone} */
  readonly taints?: readonly object[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly status?: object;
}

/** Cluster and cloud of a test file. */
export class ClusterRig {
  readonly cluster: Cluster;
  readonly cloud: XenOrchestraSimulator;
  /** The token in the file that the controller reads. */
  token: string = "";
  readonly #tokenPath: string;
  /** Rights that the controller did not have at some time, as `verb resource`. */
  readonly #withheld = new Set<string>();
  readonly #cloudConfigPath: string;
  /** How many VMs there were: no two have the same addresses. */
  #vms = 0;
  readonly poolId: string = createDemoWorld().poolIds.paris;
  readonly hostId: string = createDemoWorld().hostIds["xcp-par-1"];

  private constructor(cluster: Cluster, cloud: XenOrchestraSimulator) {
    this.cluster = cluster;
    this.cloud = cloud;
    this.#tokenPath = join(cluster.folder, "token");
    this.#cloudConfigPath = join(cluster.folder, "cloud.yaml");
  }

  /** Starts both; some 10 s. */
  static async start(): Promise<ClusterRig> {
    const cluster = await startCluster();
    const { world } = createDemoWorld();
    const cloud = await startXenOrchestraSimulator({ clock: systemClock, world });
    const rig = new ClusterRig(cluster, cloud);
    await rig.configure([]);
    await rig.renewToken();
    await rig.allowDeletion(false);
    return rig;
  }

  /** Ends both. @throws Error when the controller was refused what the manifests let it do, or asked for more */
  async stop(): Promise<void> {
    const refused = await this.#listRefused();
    await Promise.all([this.cluster.stop(), this.cloud.stop()]);
    if (refused.length > 0) throw new Error(`The API server refused: ${refused.join(", ")}`);
  }

  /**
   * Of what the controller was refused, that which it never got and no test withheld. An API server that starts
   * refuses everything for a moment, until it has read the roles.
   */
  async #listRefused(): Promise<string[]> {
    const requests = await this.cluster.listRequests();
    const own = requests.filter(({ username }) => username === USERNAME);
    const toTexts = (some: typeof own): Set<string> =>
      new Set(some.map(({ verb, resource }) => `${verb} ${resource}`));
    const granted = toTexts(own.filter(({ code }) => code < BAD_REQUEST));
    const refused = toTexts(own.filter(({ code }) => code === FORBIDDEN));
    return [...refused.difference(granted).difference(this.#withheld)];
  }

  /** Settings of the cloud beside where it is and how it is signed in to: more lines of YAML. */
  async configure(lines: readonly string[]): Promise<void> {
    const { url, token } = this.cloud;
    const config = [`url: ${url}`, `token: ${token}`, "refreshInterval: 1s", ...lines, ""].join(
      "\n",
    );
    await writeFile(this.#cloudConfigPath, config, { mode: 0o600 });
  }

  /** Takes the Lease away, whoever holds it. */
  async deleteLease(): Promise<void> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${LEASE.namespace}/leases/${LEASE.name}`;
    await this.cluster.remove(path);
  }

  /** Lets the controller delete Nodes, which it may not at first; or forbids it again. */
  async allowDeletion(isAllowed: boolean): Promise<void> {
    await this.allow(
      RIGHTS.filter(
        ({ access }) => isAllowed || access.verb !== "delete" || access.resource !== "nodes",
      ),
    );
  }

  /** Lets the controller do this and nothing else. */
  async allow(rights: readonly NeededRight[]): Promise<void> {
    for (const right of RIGHTS) {
      if (!rights.includes(right)) this.#withheld.add(formatAccess(right.access));
    }
    await this.cluster.applyRbac(ACCOUNT, toPolicy(rights));
  }

  /** Puts a new token into the file that the controller reads. */
  async renewToken(): Promise<void> {
    this.token = await this.cluster.createServiceAccountToken(ACCOUNT, 600);
    await writeFile(this.#tokenPath, this.token, { mode: 0o600 });
  }

  /** Makes all tokens so far worthless: they name an account that is gone. */
  async revokeTokens(): Promise<void> {
    const path = `/api/v1/namespaces/${ACCOUNT.namespace}/serviceaccounts/${ACCOUNT.name}`;
    const response = await this.cluster.adminFetch(path, { method: "DELETE" });
    if (!response.ok) throw new Error(`Cannot delete service account: ${await response.text()}`);
  }

  /** A kubeconfig with the token's file. @param server @default {the API server itself} */
  async writeKubeconfig(server: string = this.cluster.url): Promise<string> {
    const path = join(this.cluster.folder, `landfall-${crypto.randomUUID()}.kubeconfig`);
    const { caPath } = this.cluster;
    await writeFile(path, toKubeconfig(server, { user: { tokenFile: this.#tokenPath }, caPath }));
    return path;
  }

  /** Starts a controller and waits until it is ready, unless told not to. More `args` win over those of the rig. */
  async startController(
    program: Program,
    options: {
      readonly server?: string;
      readonly args?: readonly string[];
      readonly isReadyAwaited?: boolean;
    } = {},
  ): Promise<Controller> {
    const landfall = startLandfall(program, [
      "run",
      `--kubeconfig=${await this.writeKubeconfig(options.server)}`,
      "--cloud-provider=xenorchestra",
      `--cloud-config=${this.#cloudConfigPath}`,
      "--leader-elect=false",
      `--leader-elect-resource-name=${LEASE.name}`,
      "--secure-port=0",
      "--logging-format=json",
      "--debug-address=127.0.0.1:0",
      ...(options.args ?? []),
    ]);
    const { address } = await landfall.waitForRecord(
      ({ message, flag }) => message === "Listening" && flag === "--debug-address",
    );
    const controller = { landfall, debugUrl: `http://${String(address)}` };
    if (options.isReadyAwaited === false) return controller;
    await waitUntil(
      () => `readiness:\n${landfall.log}`,
      async () => {
        const response = await fetch(`${controller.debugUrl}/readyz`).catch(() => undefined);
        return response?.ok ? true : undefined;
      },
    );
    return controller;
  }

  /** A running VM on a host of the demo's pool. Returns its ID. */
  addVm(name: string, options: Partial<VmOptions> = {}): string {
    const { poolId, hostId } = this;
    const last = (this.#vms += 1);
    const addresses = {
      "0/ipv4/0": `10.10.${last >> 8}.${last & 255}`,
      "0/ipv6/0": `fd00:10::${last}`,
    };
    return this.cloud.state.addVm({ name, poolId, hostId, addresses, ...options });
  }

  /** Registers a Node as its kubelet does. */
  async register(name: string, registration: Registration = {}): Promise<Node> {
    await this.cluster.create("/api/v1/nodes", toNodeObject(name, registration));
    return await this.readNode(name);
  }

  async readNode(name: string): Promise<Node> {
    return await this.cluster.read<Node>(`/api/v1/nodes/${name}`);
  }

  /** Sets a condition of a Node, as its kubelet or the cluster's node controller does. */
  async setCondition(name: string, condition: object): Promise<void> {
    await this.setStatus(name, { conditions: [condition] });
  }

  /** Merges into the status of a Node, as its kubelet does. */
  async setStatus(name: string, status: object): Promise<void> {
    await this.cluster.patch(`/api/v1/nodes/${name}/status`, { status }, "strategic");
  }

  /** Deletes the machine of an initialised Node for good. */
  async loseMachine(name: string): Promise<void> {
    const { providerID = "" } = (await this.readNode(name)).spec ?? {};
    this.cloud.state.removeVm(providerID.split("/").at(-1) ?? "");
    await this.setCondition(name, NOT_READY);
  }

  /** Waits until a Node is as wanted and returns it. @default {without the uninitialized taint, with addresses} */
  waitForNode(name: string, holds: (node: Node) => boolean = isInitialised): Promise<Node> {
    let last: Node | undefined;
    const read = async (): Promise<Node | undefined> => {
      last = await this.readNode(name);
      return holds(last) ? last : undefined;
    };
    return waitUntil(() => `Node ${name}, which is ${JSON.stringify(last, null, 2)}`, read);
  }

  /** Events about a Node, of all namespaces. */
  listEvents(name: string): Promise<readonly KubeEvent[]> {
    return this.#listEvents(`involvedObject.kind=Node,involvedObject.name=${name}`);
  }

  /** Events about the controller itself. */
  listOwnEvents(): Promise<readonly KubeEvent[]> {
    return this.#listEvents("involvedObject.kind=Component");
  }

  async #listEvents(fieldSelector: string): Promise<readonly KubeEvent[]> {
    const query = new URLSearchParams({ fieldSelector }).toString();
    const list = await this.cluster.read<{ readonly items: readonly KubeEvent[] }>(
      `/api/v1/events?${query}`,
    );
    return list.items;
  }

  /** Waits for an Event about a Node. */
  waitForEvent(name: string, reason: string): Promise<KubeEvent> {
    return waitUntil(`Event ${reason} of ${name}`, async () =>
      (await this.listEvents(name)).find((event) => event.reason === reason),
    );
  }
}

/** `patch nodes/status` */
export function formatAccess({ verb, resource, subresource }: Access): string {
  return subresource === undefined ? `${verb} ${resource}` : `${verb} ${resource}/${subresource}`;
}

/** A controller at work. */
export interface Controller {
  readonly landfall: LandfallProcess;
  /** `http://127.0.0.1:<port>` */
  readonly debugUrl: string;
}

/** Whether a Node's first write and its addresses are done. */
export function isInitialised({ spec, status }: Node): boolean {
  const waits = spec?.taints?.some(({ key }) => key === UNINITIALIZED.key) ?? false;
  return !waits && (status?.addresses?.some(({ type }) => type === "InternalIP") ?? false);
}

/** Asks until there is an answer, for 25 s. @throws Error naming `what` */
export async function waitUntil<T>(
  what: string | (() => string),
  ask: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) {
      throw new Error(`Waited in vain for ${typeof what === "string" ? what : what()}`);
    }
    await Bun.sleep(POLL_MS);
  }
}

/** What a kubelet sends when it registers its Node. */
export function toNodeObject(name: string, registration: Registration = {}): object {
  const { systemUuid = toUuid(`vm/${name}`), providerID, nodeIp } = registration;
  return {
    metadata: {
      name,
      labels: { "kubernetes.io/hostname": name, ...registration.labels },
      annotations: {
        ...(nodeIp !== undefined && { "alpha.kubernetes.io/provided-node-ip": nodeIp }),
        ...registration.annotations,
      },
    },
    spec: {
      taints: registration.taints ?? [UNINITIALIZED],
      ...(providerID !== undefined && { providerID }),
      ...registration.spec,
    },
    status: {
      addresses: [{ type: "Hostname", address: name }],
      nodeInfo: toNodeInfo(systemUuid),
      ...registration.status,
    },
  };
}
