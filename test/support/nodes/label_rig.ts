/**
 * The label controller alone, on a manual clock, with a cluster that is a store.
 * @module
 */
import { NodeLabelController } from "../../../lib/controllers/node_labels/mod.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { type Node, NODES } from "../../../lib/kube/kinds/node.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { FakeProvider, toInstance } from "../cloud/instances.ts";
import { ManualClock } from "../manual_clock.ts";
import { createNodeContext } from "./context.ts";
import { toNode } from "./nodes.ts";
import { ScriptedKubeClient } from "../kube/scripted_kube_client.ts";

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
  readonly clock: ManualClock = new ManualClock();
  readonly nodes: Store<Node> = new Store<Node>({ resource: NODES, log: silentLogger });
  readonly provider: Cloud = new Cloud();
  readonly client: ScriptedKubeClient = new ScriptedKubeClient(this.clock);
  /** `node: type reason message` of each. */
  readonly events: string[] = [];
  /** Labels of each write that was taken. */
  readonly writes: Record<string, string>[] = [];
  /** When set, writes fail with it. */
  refusal: Error | undefined;
  /** While set, the watch does not bring what is written. */
  isWatchSilent = false;
  readonly #stop = new AbortController();
  #version = 1_000;
  #running: Promise<unknown> = Promise.resolve();

  /** @param gate Awaited by every inventory */
  constructor(gate: Promise<void> = Promise.resolve()) {
    this.provider.gate = gate;
    const { clock, nodes, provider, client } = this;
    provider.clock = () => clock.monotonic();
    nodes.replace([], "1");
    client.feed(nodes);
    client.onWrite = ({ path, body }) => this.#take(path.name ?? "", body);
    const context = createNodeContext({
      client,
      nodes,
      provider,
      events: {
        record: ({ metadata }, { type, reason, message }) =>
          this.events.push(`${metadata.name}: ${type} ${reason} ${message}`),
      },
      clock,
      log: silentLogger,
      metrics: new MetricsRegistry(),
      workers: 2,
    });
    const controller = new NodeLabelController({
      context,
      fullPassIntervalMs: FULL_PASS_MS,
    });
    const { signal } = this.#stop;
    this.#running = Promise.all([controller.run(signal), context.source.run(signal)]);
  }

  /** Starts with a machine and its Node. */
  static async start(...machine: Parameters<LabelRig["settle"]>): Promise<LabelRig> {
    const rig = new LabelRig();
    await rig.settle(...machine);
    return rig;
  }

  /** Brings the machine and its initialised Node, right from the start. */
  async settle(name: string, host: string, type = "t"): Promise<void> {
    this.provider.place(name, host, type);
    const options = { providerId: `test://${name}`, uninitialized: false };
    this.nodes.apply(toNode(name, options));
    await this.clock.advance(REFRESH_MS);
    this.writes.length = 0;
    this.client.writes.length = 0;
  }

  /** What somebody else does to the labels of a Node; `undefined` deletes one. */
  async edit(name: string, labels: Record<string, string | undefined>): Promise<void> {
    const kept = Object.entries({ ...this.labels(name), ...labels });
    this.#apply(name, Object.fromEntries(kept.filter(([, value]) => value !== undefined)) as {});
    await this.clock.advance(0);
  }

  labels(name: string): Readonly<Record<string, string>> {
    return this.nodes.get(name)?.metadata.labels ?? {};
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the test is over"));
    await this.clock.advance(0);
    await this.#running;
  }

  #take(name: string, body: Readonly<Record<string, unknown>>): Node {
    if (this.refusal) throw this.refusal;
    const { labels } = body["metadata"] as { labels: Record<string, string> };
    this.writes.push(labels);
    return this.#apply(name, { ...this.labels(name), ...labels });
  }

  #apply(name: string, labels: Record<string, string>): Node {
    const node = this.nodes.get(name);
    if (node === undefined) throw new KubeError("notFound", `no Node ${name}`);
    this.#version += 1;
    const metadata = { ...node.metadata, labels, resourceVersion: `${this.#version}` };
    const next = { ...node, metadata };
    if (!this.isWatchSilent) this.nodes.apply(next);
    return next;
  }
}
