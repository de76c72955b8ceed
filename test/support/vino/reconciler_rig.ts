/**
 * The reconcilers of Vinos and of their machines with a cloud, hosts and addresses in memory, a cache that a test may
 * hold back, and a manual clock.
 * @module
 */
import type { MachineMac } from "../../../lib/cloud/capabilities/machine_power.ts";
import type {
  AddressAllocator,
  RestoredAddress,
} from "../../../lib/controllers/vino/addresses/types.ts";
import type { HostFacts } from "../../../lib/controllers/vino/hosts/host_facts.ts";
import type {
  BareMetalHosts,
  Published,
} from "../../../lib/controllers/vino/hosts/publish/host_publisher.ts";
import { MachineEvents } from "../../../lib/controllers/vino/machines/events.ts";
import { MachineReconciler } from "../../../lib/controllers/vino/machines/machine_reconciler.ts";
import { WorkList } from "../../../lib/controllers/vino/machines/work_list.ts";
import { VinoReconciler } from "../../../lib/controllers/vino/reconcile.ts";
import { type Vino, VINOES, type VinoSpec } from "../../../lib/controllers/vino/resource/vino.ts";
import type { HostState } from "../../../lib/controllers/vino/resource/vino_machine.ts";
import { VinoWriter } from "../../../lib/controllers/vino/vino_writer.ts";
import { FINALIZER } from "../../../lib/controllers/vino/words.ts";
import { ALONE, Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../lib/core/metrics.ts";
import { createLoopMetrics, WorkQueue } from "../../../lib/engine/work_queue.ts";
import { type ReconcileResult, Workers, type WorkersOptions } from "../../../lib/engine/workers.ts";
import type { KubeClient } from "../../../lib/kube/api/client.ts";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import { ManualClock } from "../manual_clock.ts";
import { VINO_OWNER } from "./known.ts";
import { MachineObjects } from "./machine_objects.ts";
import { MachinesDouble } from "./machines_double.ts";

/** A spec that wants so many workers. */
export function toVinoSpec(
  count: number,
  change: Partial<NonNullable<VinoSpec["xenOrchestra"]>> = {},
): VinoSpec {
  return {
    nodes: [{ name: "worker", count }],
    xenOrchestra: { template: "t", cpus: 2, memory: "4Gi", countPer: "Total", ...change },
  };
}

/** See the module. */
export class ReconcilerRig {
  readonly clock: ManualClock = new ManualClock();
  readonly cloud: MachinesDouble = new MachinesDouble();
  /** What the API server has. */
  server: Vino | undefined;
  /** The objects of its machines. */
  readonly objects: MachineObjects = new MachineObjects();
  /** Whether the cache follows the server. */
  isWatching = true;
  /** What was written: `status`, `metadata`. */
  readonly writes: string[] = [];
  /** What each status said: generation, whether it is ready, and complete of wanted machines: `1 True 2/2`. */
  readonly claims: string[] = [];
  /** Names of BareMetalHosts. */
  readonly hosts: Set<string> = new Set();
  /** Called with each status of the Vino that is written. */
  onStatus: (status: NonNullable<Vino["status"]>) => Promise<void> | void = () => undefined;
  /** Awaited before hosts are published. */
  onPublish: () => Promise<void> | void = () => undefined;
  /** Awaited while the Vino decides. */
  onDecide: () => Promise<void> | void = () => undefined;
  /** Reasons of Events. */
  readonly events: string[] = [];
  /** Names of machines that have addresses, besides those that are wanted. */
  holders: readonly string[] = [];
  /** What every call for addresses throws. */
  addressFailure: Error | undefined;
  /** Names of machines that get no addresses. */
  addressless: ReadonlySet<string> = new Set();
  /** UIDs of Vinos whose hosts were forgotten. */
  readonly forgotten: string[] = [];
  /** Addresses that a pool lists again. */
  restored: readonly RestoredAddress[] = [];
  /** Whether addresses need the MAC addresses of the cloud, and what they were told last. */
  needsMacs = false;
  macs: readonly MachineMac[] = [];
  /** Of the machines that may be removed within ten minutes. */
  fleetShare = 1;
  /** Names of machines whose addresses were taken back. */
  readonly released: string[] = [];
  #version = 1;
  #store = new Store<Vino>({ resource: VINOES, log: silentLogger });
  #reconciler: VinoReconciler;
  #machines: MachineReconciler;
  #work: WorkList;
  /** Machines that are handed over, and not worked on yet. */
  readonly #started = new Set<string>();

  constructor(spec: VinoSpec) {
    this.cloud.clock = () => this.clock.monotonic();
    const { namespace, name, uid } = VINO_OWNER;
    const metadata = {
      namespace,
      name,
      uid,
      generation: 1,
      resourceVersion: "1",
      finalizers: [FINALIZER],
    };
    this.server = { metadata, spec };
    [this.#work, this.#reconciler, this.#machines] = this.#create();
    this.show();
  }

  /** Begins again without memory, as a restart does. */
  restart(): void {
    this.#store = new Store<Vino>({ resource: VINOES, log: silentLogger });
    this.objects.restart();
    this.#started.clear();
    [this.#work, this.#reconciler, this.#machines] = this.#create();
    this.show();
  }

  /** Shows the cache what the server has. */
  show(): void {
    const { server } = this;
    this.#version = Number(server?.metadata.resourceVersion ?? this.#version + 1);
    this.#store.replace(server === undefined ? [] : [server], String(this.#version));
  }

  /** Changes the object on the server; another spec is another generation. */
  edit(change: Partial<Vino>): void {
    if (this.server === undefined) throw new Error("Cannot edit: there is no Vino");
    const { metadata } = this.server;
    const isEnd = change.metadata?.deletionTimestamp !== metadata.deletionTimestamp;
    const isOther = change.spec !== undefined || (change.metadata !== undefined && isEnd);
    const generation = (metadata.generation ?? 0) + (isOther ? 1 : 0);
    const resourceVersion = String(Number(metadata.resourceVersion) + 1);
    this.server = {
      ...this.server,
      ...change,
      metadata: { ...metadata, ...change.metadata, generation, resourceVersion },
    };
    if (this.isWatching) this.show();
  }

  /** Takes an inventory. */
  async refresh(): Promise<void> {
    await this.clock.advance(1);
    await this.cloud.listInventory([], new AbortController().signal);
  }

  /** Reconciles the Vino, and its machines that are due, until none is. */
  async reconcile(signal: AbortSignal = new AbortController().signal): Promise<ReconcileResult> {
    await this.clock.advance(1);
    for (;;) {
      const key = `${VINO_OWNER.namespace}/${VINO_OWNER.name}`;
      const result = await this.#reconciler.reconcile(key, signal);
      const started = [...this.#started];
      this.#started.clear();
      if (started.length === 0) return result;
      const ends = await Promise.allSettled(
        started.map((one) => this.#machines.reconcile(one, signal)),
      );
      const failed = ends.find((end) => end.status === "rejected");
      if (failed) throw failed.reason;
    }
  }

  /** Lets the workers of the controller work, with its back-off and without another inventory, until disposed of. */
  run(): AsyncDisposable {
    const { clock } = this;
    const metrics = createLoopMetrics(new MetricsRegistry());
    const start = (
      name: string,
      reconcile: WorkersOptions["reconcile"],
    ): { readonly queue: WorkQueue; readonly workers: Workers } => {
      const queue = new WorkQueue({ name, clock, metrics, backoffMs: 5_000, random: () => 0 });
      const options = { name, noun: name, queue, workers: 8, sliceMs: 10_000, clock, metrics };
      return { queue, workers: new Workers({ ...options, reconcile, log: silentLogger }) };
    };
    const machines = start("machine", (key, signal, detach) =>
      this.#machines.reconcile(key, signal, detach),
    );
    const vino = start("vino", (key, signal) => this.#reconciler.reconcile(key, signal));
    const add = (queue: WorkQueue) => (keys: Iterable<string>) => {
      for (const key of keys) queue.add(key);
    };
    const ends = [
      this.#work.started.subscribe(add(machines.queue)),
      this.#work.ended.subscribe(add(vino.queue)),
    ];
    const stop = new AbortController();
    const runs = [machines, vino].map(({ workers }) => workers.run(stop.signal));
    vino.queue.add(`${VINO_OWNER.namespace}/${VINO_OWNER.name}`);
    return {
      [Symbol.asyncDispose]: async () => {
        stop.abort();
        await clock.advance(5_000);
        await Promise.all(runs);
        for (const end of ends) end();
        this.#started.clear();
      },
    };
  }

  /** Takes an inventory, and reconciles once. */
  async pass(): Promise<void> {
    await this.refresh();
    await this.reconcile();
  }

  /** Steps of the cloud, without looks. */
  get steps(): string[] {
    return this.cloud.calls
      .filter((call) => !call.startsWith("look"))
      .map((call) => call.replace(/(VM )?vino-[0-9a-f]{8}-/, ""));
  }

  /** Machines by their objects: `worker-0 Ready`. */
  get machines(): string[] {
    const entries = this.objects.entries.toSorted((a, b) => a.index - b.index);
    return entries.map(({ role, index, state }) => `${role}-${index} ${state}`);
  }

  #create(): [WorkList, VinoReconciler, MachineReconciler] {
    const { clock, cloud } = this;
    const events = {
      record: (_object: object, { reason }: { reason: string }) => void this.events.push(reason),
    };
    const client = this.#toClient();
    const writer = new VinoWriter({ client, clock, events });
    const objects = this.objects.open({
      vinoes: this.#store,
      clock,
      record: ({ reason }) => void this.events.push(reason),
    });
    const machineEvents = new MachineEvents({
      events,
      log: silentLogger,
      metrics: { countMachine: () => undefined },
      objects,
      warn: (vino, word, message) => writer.warn(vino, word, message),
    });
    const work = new WorkList(cloud);
    work.started.subscribe((keys) => {
      for (const key of keys) this.#started.add(key);
    });
    const shared = {
      client,
      clock,
      machines: cloud,
      fence: new Fence(ALONE),
      addresses: this.#toAddresses(),
      hosts: this.#toHosts(),
      objects,
      machineEvents,
      work,
      vinoes: this.#store,
      writer,
      machinesMax: 8,
      findLimit: () => ({ fleetShare: this.fleetShare, fleetWindowMs: 600_000 }),
      isNamespaceEnding: async () => false,
      hasBmc: false,
      readSeed: async () => undefined,
    };
    return [work, new VinoReconciler(shared), new MachineReconciler(shared)];
  }

  #toClient(): KubeClient {
    const read = async (): Promise<Vino> => {
      if (this.server === undefined) throw new KubeError("notFound", "404");
      this.#store.learn(this.server, undefined);
      return this.server;
    };
    const patch = async (
      _kind: object,
      { subresource }: { subresource?: string },
      { body }: { body: { metadata: Vino["metadata"]; status?: Vino["status"] } },
    ): Promise<Vino> => {
      const now = await read();
      if (body.metadata.resourceVersion !== now.metadata.resourceVersion) {
        throw new KubeError("conflict", "modified");
      }
      this.writes.push(subresource ?? "metadata");
      const { finalizers = now.metadata.finalizers } = body.metadata;
      this.edit({
        metadata: { ...now.metadata, ...(finalizers && { finalizers }) },
        ...(body.status && { status: { ...now.status, ...body.status } }),
      });
      if (body.status) await this.onStatus(body.status);
      const after = await read();
      const ready = body.status?.conditions?.find(({ type }) => type === "Ready");
      const { generation } = after.metadata;
      if (ready) this.claims.push(`${generation} ${ready.status} ${body.status?.counts?.summary}`);
      if (
        after.metadata.deletionTimestamp !== undefined &&
        after.metadata.finalizers?.length === 0
      ) {
        this.server = undefined;
        this.show();
      }
      return after;
    };
    // Nothing else is called.
    return { read, patch } as unknown as KubeClient;
  }

  #toAddresses(): AddressAllocator {
    return {
      assign: async (_vino, _spec, requests, readMacs) => {
        if (this.addressFailure) throw this.addressFailure;
        if (this.needsMacs) this.macs = await readMacs();
        return {
          machines: new Map(
            requests.flatMap(({ name }) => (this.addressless.has(name) ? [] : [[name, []]])),
          ),
          problems: new Map(),
          restored: this.restored,
          notices: [],
        };
      },
      listHolders: async () => {
        await this.onDecide();
        if (this.addressFailure) throw this.addressFailure;
        return new Set(this.holders);
      },
      release: async (_vino, machines) => void this.released.push(...machines),
    };
  }

  #toHosts(): BareMetalHosts {
    return {
      find: (_namespace, name) => (this.hosts.has(name) ? toFacts(name) : undefined),
      forget: (uid) => void this.forgotten.push(uid),
      isGone: ({ name }) => !this.hosts.has(name),
      publish: async ({ name }) => {
        await this.onPublish();
        this.hosts.add(name);
        return toPublished(name, "Published");
      },
      remove: async ({ name }) => {
        await this.onPublish();
        this.hosts.delete(name);
        return toPublished(name, "Gone");
      },
    };
  }
}

function toPublished(name: string, state: HostState): Published {
  return { outcome: { name, state, notices: [] }, againMs: Infinity };
}

/** A host that nothing uses. */
function toFacts(name: string): HostFacts {
  return {
    name,
    uid: `uid-${name}`,
    resourceVersion: "1",
    vinoUid: VINO_OWNER.uid,
    labels: {},
    record: new Set(),
    machineName: undefined,
    machineId: undefined,
    hardwareDetails: undefined,
    bootMac: undefined,
    isPaused: false,
    isDeleting: false,
    use: undefined,
    wayOut: undefined,
    bmcAddress: undefined,
    isBmcOpen: true,
    error: undefined,
  };
}
