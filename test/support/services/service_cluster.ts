/**
 * A real cluster with Services, a simulated CloudStack, and one controller after another between them.
 * @module
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { listRights, needAll } from "../../../lib/app/rights.ts";
import { systemClock } from "../../../lib/core/clock.ts";
import type { KubeEvent } from "../../../lib/kube/kinds/event.ts";
import type { Service } from "../../../lib/kube/kinds/service.ts";
import {
  type CloudStackSimulator,
  type Settings,
  startCloudStackSimulator,
  type World,
} from "../../../lib/simulator/cloudstack/mod.ts";
import { ClusterRig, type Controller, waitUntil } from "../process/cluster_rig.ts";
import { killAll, type Program } from "../process/landfall_process.ts";

const LEASE = { namespace: "kube-system", name: "cloud-controller-manager" } as const;
const SERVICES = "/api/v1/namespaces/default/services";

/** Cluster and cloud of a test file about Services of the namespace `default`. */
export class ServiceCluster {
  readonly rig: ClusterRig;
  readonly cloud: CloudStackSimulator;
  readonly #configPath: string;
  readonly #controllers: Controller[] = [];

  private constructor(rig: ClusterRig, cloud: CloudStackSimulator) {
    this.rig = rig;
    this.cloud = cloud;
    this.#configPath = join(rig.cluster.folder, "cloud-config");
  }

  /** Starts both, with no Node; some 10 s. */
  static async start(world: World, settings: Partial<Settings> = {}): Promise<ServiceCluster> {
    const cloud = await startCloudStackSimulator({ clock: systemClock, world, settings });
    const rig = await ClusterRig.start();
    const started = new ServiceCluster(rig, cloud);
    const needs = needAll(LEASE);
    const controllers = new Set([...needs.controllers, "service"]);
    await rig.allow(listRights({ ...needs, controllers }));
    const { url, apiKey, secretKey } = cloud;
    const lines = ["[Global]", `api-url = ${url}`, `api-key = ${apiKey}`];
    const config = [...lines, `secret-key = ${secretKey}`, "refresh-interval = 1s", ""].join("\n");
    await writeFile(started.#configPath, config);
    return started;
  }

  /** Ends everything. */
  async stop(): Promise<void> {
    await killAll(this.#controllers.map(({ landfall }) => landfall));
    await this.cloud.stop();
    await this.rig.stop();
  }

  /** What all controllers so far logged. */
  get logs(): string {
    return this.#controllers.map(({ landfall }) => landfall.log).join("\n");
  }

  /** Starts a controller, without election unless `args` say otherwise. */
  async startController(program: Program, ...args: readonly string[]): Promise<Controller> {
    const controller = await this.rig.startController(program, {
      args: [
        "--cloud-provider=external-cloudstack",
        `--cloud-config=${this.#configPath}`,
        "--controllers=*,service",
        `--leader-elect-resource-name=${LEASE.name}`,
        ...args,
      ],
    });
    this.#controllers.push(controller);
    return controller;
  }

  /** Lets the controllers stop by themselves. */
  async stopControllers(): Promise<void> {
    for (const { landfall } of this.#controllers.splice(0)) await landfall.stop();
  }

  /** Creates a Service of type LoadBalancer with port 80, unless `spec` says otherwise. Returns it. */
  async create(name: string, spec: object = {}, metadata: object = {}): Promise<Service> {
    const body = {
      metadata: { name, ...metadata },
      spec: { type: "LoadBalancer", selector: { app: name }, ports: [{ port: 80 }], ...spec },
    };
    // The API server releases a node port a moment after the Service that had it is gone.
    await this.untilTrue(`a free node port for ${name}`, async () => {
      try {
        await this.rig.cluster.create(SERVICES, body);
        return true;
      } catch (error) {
        if (String(error).includes("provided port is already allocated")) return false;
        throw error;
      }
    });
    const service = await this.read(name);
    if (service === undefined) throw new Error(`Cannot find Service ${name}, which was just made`);
    return service;
  }

  async remove(name: string): Promise<void> {
    const response = await this.rig.cluster.adminFetch(`${SERVICES}/${name}`, { method: "DELETE" });
    if (!response.ok) throw new Error(`Cannot delete ${name}: ${await response.text()}`);
  }

  /** Merges into the status, as a controller does. */
  async setStatus(name: string, status: object): Promise<void> {
    await this.rig.cluster.patch(`${SERVICES}/${name}/status`, { status });
  }

  async read(name: string): Promise<Service | undefined> {
    return await this.rig.cluster.find<Service>(`${SERVICES}/${name}`);
  }

  /** Events about a Service, also about earlier ones of its name. */
  async listEvents(name: string): Promise<readonly KubeEvent[]> {
    const selector = new URLSearchParams({ fieldSelector: `involvedObject.name=${name}` });
    const path = `/api/v1/namespaces/default/events?${selector.toString()}`;
    const items = await this.rig.cluster.list<KubeEvent>(path);
    return items;
  }

  /** Waits for the address in the status. */
  untilAddress(name: string): Promise<string> {
    return waitUntil(
      () => `an address of ${name}:\n${this.logs}`,
      async () => (await this.read(name))?.status?.loadBalancer?.ingress?.[0]?.ip,
    );
  }

  /** Waits until a Service is gone. */
  async untilGone(name: string): Promise<void> {
    await this.untilTrue(`the end of ${name}`, async () => (await this.read(name)) === undefined);
  }

  async untilTrue(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    await waitUntil(
      () => `${what}:\n${this.logs}`,
      async () => ((await holds()) ? true : undefined),
    );
  }
}
