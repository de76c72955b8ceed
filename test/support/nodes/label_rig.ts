/**
 * The label controller alone, on a manual clock, with a cluster in memory.
 * @module
 */
import { NodeLabelController } from "../../../lib/controllers/node_labels/mod.ts";
import { FakeProvider, toInstance } from "../cloud/instances.ts";
import type { NodeServer } from "../kube/node_server.ts";
import type { ManualClock } from "../manual_clock.ts";
import { createNodeWorld, type NodeWorld, runController } from "./lifecycle_rig.ts";
import { toNode } from "./nodes.ts";

/** How often the inventory is refreshed. */
export const REFRESH_MS = 30_000;
/** How often every Node is looked at. */
export const FULL_PASS_MS = 300_000;
/** Label of the host, and the one that keeps the first. */
export const HOST = "a.cloud/host";
export const FIRST_HOST = "a.cloud/first-host";

/** A cloud that tells hosts. */
class Cloud extends FakeProvider {
  override refreshIntervalMs: number = REFRESH_MS;
  readonly originLabels: Readonly<Record<string, string>> = { [HOST]: FIRST_HOST };

  /** Shows a machine on a host; without one it does not run. */
  place(id: string, host: string | undefined, type = "t"): void {
    const place = host === undefined ? {} : { zone: host, labels: { [HOST]: host } };
    this.instances.set(id, toInstance(id, { region: "r", instanceType: type, ...place }));
  }
}

/** Machines, their Nodes, and what the controller did to them. */
export class LabelRig implements AsyncDisposable {
  /** Labels of each write that was taken. */
  readonly writes: Record<string, string>[] = [];
  /** When set, writes fail with it. */
  refusal: Error | undefined;
  readonly #world: NodeWorld<Cloud> = createNodeWorld(new Cloud());
  readonly #running: ReturnType<typeof runController>;

  /** @param gate Awaited by every inventory */
  constructor(gate: Promise<void> = Promise.resolve()) {
    const { context, provider, server } = this.#world;
    provider.gate = gate;
    server.beforeWrite = ({ body }) => {
      if (this.refusal) throw this.refusal;
      this.writes.push((body["metadata"] as { labels: Record<string, string> }).labels);
    };
    const controller = new NodeLabelController({ context, fullPassIntervalMs: FULL_PASS_MS });
    this.#running = runController(this.#world, controller);
  }

  /** Starts with a machine and its Node. */
  static async start(...machine: Parameters<LabelRig["settle"]>): Promise<LabelRig> {
    const rig = new LabelRig();
    await rig.settle(...machine);
    return rig;
  }

  get clock(): ManualClock {
    return this.#world.clock;
  }

  get provider(): Cloud {
    return this.#world.provider;
  }

  get server(): NodeServer {
    return this.#world.server;
  }

  /** `node: type reason message` of each. */
  get events(): string[] {
    return this.#world.events.map(
      ({ node, type, reason, message }) => `${node}: ${type} ${reason} ${message}`,
    );
  }

  /** Brings the machine and its initialised Node, right from the start. */
  async settle(name: string, host: string, type = "t"): Promise<void> {
    this.provider.place(name, host, type);
    this.server.put(toNode(name, { providerId: `test://${name}`, uninitialized: false }));
    await this.clock.advance(REFRESH_MS);
    this.writes.length = 0;
    this.server.writes.length = 0;
  }

  /** What somebody else does to the labels of a Node; `undefined` deletes one. */
  async edit(name: string, labels: Record<string, string | undefined>): Promise<void> {
    const kept = Object.entries({ ...this.labels(name), ...labels });
    const entries = kept.filter((entry): entry is [string, string] => entry[1] !== undefined);
    this.server.setLabels(name, Object.fromEntries(entries));
    await this.clock.advance(0);
  }

  /** As the controller sees them. */
  labels(name: string): Readonly<Record<string, string>> {
    return this.#world.nodes.get(name)?.metadata.labels ?? {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#running)[Symbol.asyncDispose]();
  }
}
