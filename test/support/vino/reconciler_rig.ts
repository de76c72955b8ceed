/**
 * The reconciler of Vinos with a cloud, hosts and addresses in memory, a cache that a test may hold back, and a manual
 * clock.
 * @module
 */
import type { MachineMac } from "../../../lib/cloud/capabilities/machine_power.ts";
import type {
  AddressAllocator,
  RestoredAddress,
} from "../../../lib/controllers/vino/addresses/types.ts";
import type { BareMetalHosts } from "../../../lib/controllers/vino/hosts/publish/host_publisher.ts";
import { MachineEvents } from "../../../lib/controllers/vino/machines/events.ts";
import { VinoReconciler } from "../../../lib/controllers/vino/reconcile.ts";
import { type Vino, VINOES, type VinoSpec } from "../../../lib/controllers/vino/resource/vino.ts";
import { VinoWriter } from "../../../lib/controllers/vino/vino_writer.ts";
import { FINALIZER } from "../../../lib/controllers/vino/words.ts";
import { ALONE, Fence } from "../../../lib/core/fence.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import type { ReconcileResult } from "../../../lib/engine/workers.ts";
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
  /** Called before hosts are published. */
  onPublish: () => void = () => undefined;
  /** Reasons of Events. */
  readonly events: string[] = [];
  /** Names of machines that have addresses, besides those that are wanted. */
  holders: readonly string[] = [];
  /** What every call for addresses throws. */
  addressFailure: Error | undefined;
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
    this.#reconciler = this.#create();
    this.show();
  }

  /** Begins again without memory, as a restart does. */
  restart(): void {
    this.#store = new Store<Vino>({ resource: VINOES, log: silentLogger });
    this.objects.restart();
    this.#reconciler = this.#create();
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
    const isOther = change.spec !== undefined || change.metadata?.deletionTimestamp !== undefined;
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

  /** Reconciles once. */
  async reconcile(signal: AbortSignal = new AbortController().signal): Promise<ReconcileResult> {
    await this.clock.advance(1);
    return await this.#reconciler.reconcile(`${VINO_OWNER.namespace}/${VINO_OWNER.name}`, signal);
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

  #create(): VinoReconciler {
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
    return new VinoReconciler({
      client,
      clock,
      machines: cloud,
      fence: new Fence(ALONE),
      addresses: this.#toAddresses(),
      hosts: this.#toHosts(),
      objects,
      machineEvents,
      vinoes: this.#store,
      writer,
      machinesMax: 8,
      findLimit: () => ({ fleetShare: this.fleetShare, fleetWindowMs: 600_000 }),
      isNamespaceEnding: async () => false,
      hasBmc: false,
      readSeed: async () => undefined,
    });
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
          machines: new Map(requests.map(({ name }) => [name, []])),
          problems: new Map(),
          restored: this.restored,
          notices: [],
        };
      },
      listHolders: async () => {
        if (this.addressFailure) throw this.addressFailure;
        return new Set(this.holders);
      },
      release: async (_vino, machines) => void this.released.push(...machines),
    };
  }

  #toHosts(): BareMetalHosts {
    return {
      list: () => [...this.hosts].map((name) => toFacts(name)),
      find: (_namespace, name) => (this.hosts.has(name) ? toFacts(name) : undefined),
      forget: () => undefined,
      publish: async ({ hosts, unwanted }) => {
        this.onPublish();
        for (const { name } of hosts) this.hosts.add(name);
        for (const name of unwanted) this.hosts.delete(name);
        return {
          hosts: hosts.map(({ name }) => ({ name, state: "Published" as const, notices: [] })),
          unwanted: unwanted.map((name) => ({ name, state: "Gone" as const, notices: [] })),
          againMs: Infinity,
        };
      },
    };
  }
}

/** A host that nothing uses. */
function toFacts(name: string): ReturnType<BareMetalHosts["list"]>[number] {
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
