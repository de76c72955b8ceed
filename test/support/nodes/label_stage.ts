/**
 * A simulated Xen Orchestra, Kubernetes, and the controllers that keep labels and addresses.
 * @module
 */
import { expect } from "bun:test";
import { systemClock } from "../../../lib/core/clock.ts";
import { xenOrchestra } from "../../../lib/providers/xenorchestra/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type StoryWorld,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { toDeps, toSettings } from "../../providers/xenorchestra/fake_server.ts";
import { type NodeOptions, toRegistration } from "./nodes.ts";
import { type Rig, startRig, until } from "./rig.ts";

/** How often the inventory is refreshed. */
export const REFRESH_MS = 25;

export const ZONE = "topology.kubernetes.io/zone";
export const BETA_ZONE = "failure-domain.beta.kubernetes.io/zone";
const REGION = "topology.kubernetes.io/region";
const BETA_REGION = "failure-domain.beta.kubernetes.io/region";
/** Before the keys of labels that tell the place of a machine. */
export const PREFIX = "topology.k8s.xenorchestra/";

type HostName = keyof StoryWorld["hostIds"];

/** The demo's machines; Nodes are made of them one by one. */
export class LabelStage implements AsyncDisposable {
  readonly world: StoryWorld;
  readonly cloud: XenOrchestraSimulator;
  readonly rig: Rig;

  constructor(world: StoryWorld, cloud: XenOrchestraSimulator, rig: Rig) {
    this.world = world;
    this.cloud = cloud;
    this.rig = rig;
  }

  /** Starts with Nodes that are initialised. */
  static async startWith(...names: readonly string[]): Promise<LabelStage> {
    const stage = await LabelStage.start();
    await stage.join(...names);
    return stage;
  }

  /**
   * @param fullPassIntervalMs So long that no pass mends what differences should. @default {60_000}
   * @param more Settings of Xen Orchestra, as a file has them. @default {none}
   */
  static async start(fullPassIntervalMs: number = 60_000, more: object = {}): Promise<LabelStage> {
    const world = createDemoWorld();
    const cloud = await startXenOrchestraSimulator({ clock: systemClock, world: world.world });
    const settings = {
      ...toSettings(cloud.url, { token: cloud.token, ...more }),
      refreshIntervalMs: REFRESH_MS,
    };
    const rig = await startRig({
      provider: xenOrchestra.create(settings, { ...toDeps(), clock: systemClock }),
      controllers: ["cloud-node", "cloud-node-label-sync"],
      fullPassIntervalMs,
    });
    return new LabelStage(world, cloud, rig);
  }

  /** A kubelet comes up. */
  register(name: string, options: NodeOptions = {}): void {
    const { systemUuid = "" } = this.world.machines.get(name) ?? {};
    this.rig.kubernetes.objects.createNode(toRegistration(name, { systemUuid, ...options }));
  }

  /** A Node that is initialised and at rest; whatever was asked to get there is forgotten. */
  async join(...names: readonly string[]): Promise<void> {
    for (const name of names) this.register(name);
    await until("they are initialised", () =>
      names.every((name) => this.rig.listEvents(name, "Synced").length === 1),
    );
    await this.pass();
    for (const name of names) expect(this.countWrites(name)).toEqual([1, 1]);
    this.rig.kubernetes.requests.clear();
  }

  /** Waits until so many refreshes have begun after this moment and are worked on. */
  async pass(refreshes = 3): Promise<void> {
    const { requests } = this.cloud;
    const done = requests.count("GET /pools") + refreshes + 1;
    await until("the cloud was asked again", () => requests.count("GET /pools") >= done);
  }

  vmId(name: string): string {
    return this.world.machines.get(name)?.vmId ?? "";
  }

  labels(name: string): Readonly<Record<string, string>> {
    return this.rig.readNode(name)?.metadata.labels ?? {};
  }

  /** PATCHes of the Node and of its status. */
  countWrites(name: string): [number, number] {
    const count = (resource: string): number =>
      this.rig.kubernetes.requests.count({ verb: "patch", resource, name });
    return [count("nodes"), count("nodes/status")];
  }

  /** Waits until labels are as they should be, and tells in how many milliseconds. */
  async untilLabels(name: string, wanted: Readonly<Record<string, string>>): Promise<number> {
    const startedMs = performance.now();
    await until("the labels are right", () =>
      Object.entries(wanted).every(([key, value]) => this.labels(name)[key] === value),
    );
    return performance.now() - startedMs;
  }

  /** What the labels of a place are. */
  toPlace(host: HostName): Record<string, string> {
    const hostId = this.world.hostIds[host];
    const pool = host.includes("-par-") ? "paris" : "lyon";
    const poolId = this.world.poolIds[pool];
    return {
      [ZONE]: hostId,
      [BETA_ZONE]: hostId,
      [`${PREFIX}host_id`]: hostId,
      [`${PREFIX}host_name_label`]: host,
      [REGION]: poolId,
      [BETA_REGION]: poolId,
      [`${PREFIX}pool_id`]: poolId,
      [`${PREFIX}pool_name_label`]: pool,
    };
  }

  /** Reasons and texts of the Events about changes. */
  listChanges(name: string): string[] {
    const events = this.rig.listEvents(name).filter(({ reason }) => reason !== "Synced");
    return events
      .map(({ type, reason, message = "" }) => `${type} ${reason} ${message.replace(/^.*: /, "")}`)
      .toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rig[Symbol.asyncDispose]();
    await this.cloud.stop();
  }
}
