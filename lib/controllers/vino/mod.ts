/**
 * The controller of Vinos: makes virtual machines, and publishes each as a BareMetalHost.
 * @module
 */
import type { Machines, MachinesView } from "../../cloud/capabilities/machines.ts";
import { DELETION } from "../../cloud/settings/sections.ts";
import type { PoolUsage } from "../../cloud/pools/usage.ts";
import { fromSecondary, type KeySource, ObjectLoop } from "../../engine/object_loop.ts";
import { WorkQueue } from "../../engine/work_queue.ts";
import { Workers } from "../../engine/workers.ts";
import { type Key, type StoreReader, toKey } from "../../kube/cache/store.ts";
import { isNamespaceEnding } from "../../kube/kinds/namespace.ts";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../kube/kinds/bare_metal_host.ts";
import { requireCloud } from "../node_context.ts";
import {
  type ControllerContext,
  type ManagementListener,
  readFlag,
  readTextFlag,
  type RunningController,
} from "../definition.ts";
import { findCondition } from "../kinds/conditions.ts";
import { IpPools, listPoolUsage } from "./addresses/ip_pools.ts";
import { VinoAddresses } from "./addresses/vino_addresses.ts";
import type { AddressAllocator } from "./addresses/types.ts";
import { describeVino, judgeState, type VinoReport } from "./describe.ts";
import { MACHINES_FLAG, POOLS_NAMESPACE_FLAG } from "./flags.ts";
import { toHostName } from "./hosts/names.ts";
import { type BareMetalHosts, HostPublisher } from "./hosts/publish/host_publisher.ts";
import { PUBLISH_AGAIN } from "./hosts/words.ts";
import { fromInventory, readLastView, untilInventory } from "./inventory.ts";
import { MachineEvents } from "./machines/events.ts";
import { MachineReconciler } from "./machines/machine_reconciler.ts";
import { readSeed } from "./guest/cloud_init.ts";
import { VinoMachines } from "./machines/vino_machines.ts";
import { WorkList } from "./machines/work_list.ts";
import { createVinoMetrics } from "./metrics.ts";
import { type ReconcilerOptions, VinoReconciler } from "./reconcile.ts";
import { readRedfishSettings } from "./redfish/flags.ts";
import { createRedfish, type Redfish } from "./redfish/redfish.ts";
import { IP_POOLS, type IpPool } from "./resource/ip_pool.ts";
import { type Vino, VINOES } from "./resource/vino.ts";
import { VINO_MACHINES, type VinoMachine } from "./resource/vino_machine.ts";
import { CONDITION_WORDS } from "./resource/words.ts";
import { UnservedVinos } from "./unserved.ts";
import { VinoWriter } from "./vino_writer.ts";
import { CONFIRMED_REMOVAL, GONE_POOLS, NAME } from "./words.ts";

export { createVinoMetrics as registerMetrics } from "./metrics.ts";

/** Creates the controller for the registry. */
export function create(context: ControllerContext): UnservedVinos | VinoController {
  const { client, clock, caches, events, flags } = context;
  const { machines } = requireCloud(context).provider;
  if (machines === undefined) return new UnservedVinos(context);
  const vinoes = caches.reader(VINOES);
  const store = caches.reader(IP_POOLS);
  const namespace = readTextFlag(flags, POOLS_NAMESPACE_FLAG);
  const pools = new IpPools({ client, clock, namespace, store });
  const objects = new VinoMachines({
    client,
    clock,
    events,
    vinoes,
    objects: caches.reader(VINO_MACHINES),
  });
  const settings = readRedfishSettings(flags);
  const { power } = machines;
  const redfish = settings && createRedfish({ ...context, settings, vinoes, objects, power });
  const hosts = new HostPublisher({
    client,
    clock,
    hosts: caches.reader(BARE_METAL_HOSTS),
    vinoes,
    bmcs: redfish?.bmcs,
  });
  return new VinoController(context, machines, {
    addresses: new VinoAddresses(pools, vinoes),
    hosts,
    objects,
    sources: [hosts.source, objects, fromSecondary(store, () => listShort(vinoes.values()))],
    redfish,
  });
}

/** What a {@linkcode VinoController} works with besides the cloud. */
interface VinoControllerOptions {
  readonly addresses: AddressAllocator;
  readonly hosts: BareMetalHosts;
  readonly objects: VinoMachines;
  /** Changes of what they know, by Vinos. */
  readonly sources: readonly KeySource[];
  /** Absent: machines have no management controllers. */
  readonly redfish: Redfish | undefined;
}

/** How many Vinos are worked on at once; long work needs no worker. */
const WORKERS = 2;
/** How many machines are published at once; steps need no worker. */
const MACHINE_WORKERS = 8;
/** How long a Vino may keep a worker; after that its work goes on without one. */
const SLICE_MS = 10_000;
/** First delay after a failure of the cloud. */
const BACKOFF_MS = 5_000;

/** The controller of Vinos. */
class VinoController implements RunningController {
  readonly objects: StoreReader<Vino>;
  readonly managementListener?: ManagementListener;
  readonly #redfish: Redfish | undefined;
  readonly #hosts: StoreReader<BareMetalHost>;
  readonly #pools: StoreReader<IpPool>;
  readonly #machines: Machines;
  readonly #objects: VinoMachines;
  readonly #loop: ObjectLoop<Vino>;
  /** Of machines that are handed over. */
  readonly #machineWorkers: Workers;
  readonly #orphans: ObjectLoop<VinoMachine>;

  constructor(context: ControllerContext, machines: Machines, options: VinoControllerOptions) {
    const { client, clock, caches, events, log, fence } = context;
    const { source } = requireCloud(context);
    const metrics = createVinoMetrics(context.metrics);
    this.objects = caches.reader(VINOES);
    this.#hosts = caches.reader(BARE_METAL_HOSTS);
    this.#pools = caches.reader(IP_POOLS);
    this.#machines = machines;
    const writer = new VinoWriter({ client, clock, events });
    const { addresses, hosts, objects, redfish } = options;
    this.#objects = objects;
    const machineEvents = new MachineEvents({
      events,
      log,
      metrics,
      objects,
      warn: (vino, word, message) => writer.warn(vino, word, message),
    });
    this.#redfish = redfish;
    if (redfish) this.managementListener = redfish.listener;
    const work = new WorkList(machines);
    const shared = {
      client,
      clock,
      machines,
      fence,
      addresses,
      hosts,
      objects,
      machineEvents,
      work,
      vinoes: this.objects,
      writer,
      machinesMax: readFlag(context.flags, MACHINES_FLAG),
      findLimit: () => context.findSettings(DELETION),
      isNamespaceEnding: (name, signal) => isNamespaceEnding(client, name, signal),
      hasBmc: redfish !== undefined,
      readSeed: ({ metadata }, task, signal) => {
        const host = toHostName({ vino: metadata.name, ...task.identity });
        const { namespace = "" } = metadata;
        const names = { namespace, machine: task.name, host };
        return readSeed(client, { ...names, start: task.start }, signal);
      },
    } satisfies ReconcilerOptions;
    const reconciler = new VinoReconciler(shared);
    this.#loop = new ObjectLoop({
      context,
      name: NAME,
      queueName: NAME,
      noun: "vino",
      objects: this.objects,
      workers: WORKERS,
      inputs: ({ metadata }) => [
        metadata.generation,
        metadata.finalizers,
        metadata.deletionTimestamp,
        metadata.annotations?.[CONFIRMED_REMOVAL],
        metadata.annotations?.[GONE_POOLS],
        metadata.annotations?.[PUBLISH_AGAIN],
      ],
      reconcile: (vino, signal) => reconciler.reconcile(toKey(vino), signal),
      sliceMs: SLICE_MS,
      forget: (key) => reconciler.forget(key),
      sources: [fromInventory(source, this.objects), work.ended, ...options.sources],
      prepare: (signal) => untilInventory(source, signal),
      backoffMs: BACKOFF_MS,
    });
    this.#machineWorkers = createMachineWorkers(context, work, new MachineReconciler(shared));
    this.#orphans = new ObjectLoop({
      context,
      name: NAME,
      queueName: "vino-orphan",
      noun: "vinomachine",
      objects: objects.reader,
      workers: 1,
      inputs: ({ metadata }) => [metadata.deletionTimestamp],
      reconcile: async (object, signal) => {
        await objects.releaseOrphan(object, signal);
        return {};
      },
      forget: () => undefined,
      sources: [fromSecondary(this.objects, () => listLeaving(objects.reader.values()))],
    });
    metrics.readFrom({
      listStates: () =>
        Array.from(this.objects.values(), (vino) =>
          judgeState(vino, this.#loop.outcomes.get(toKey(vino))),
        ),
      listMachineStates: () =>
        Array.from(objects.reader.values(), ({ status }) => status?.state ?? "Absent"),
    });
    machines.follow();
  }

  /** Runs until the signal aborts and all work has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const loops = [this.#loop, this.#machineWorkers, this.#orphans].map((loop) => loop.run(signal));
    await Promise.all([this.#redfish?.run(signal), ...loops]);
  }

  /** Describes a Vino for the debug pages. */
  describe(vino: Vino): VinoReport {
    const key = toKey(vino);
    return describeVino(vino, {
      machines: this.#objects.list(vino),
      outcome: this.#loop.outcomes.get(key),
      findHost: (name) => {
        const { namespace = "" } = vino.metadata;
        return this.#hosts.get(toKey({ metadata: { namespace, name } }));
      },
    });
  }

  /** Looks at the last inventory, for the debug pages. */
  observeMachines(signal: AbortSignal): Promise<MachinesView | undefined> {
    return readLastView(this.#machines, signal);
  }

  /** Counts the addresses of all IPPools, for the debug pages. */
  listPools(): readonly PoolUsage[] {
    return listPoolUsage(this.#pools.values());
  }
}

/** What works on machines that are handed over. */
function createMachineWorkers(
  { clock, log, loopMetrics: metrics }: ControllerContext,
  work: WorkList,
  reconciler: MachineReconciler,
): Workers {
  const queue = new WorkQueue({ name: "vino-machine", clock, metrics });
  work.started.subscribe((keys) => {
    for (const key of keys) queue.add(key);
  });
  return new Workers({
    name: NAME,
    noun: "machine",
    queue,
    workers: MACHINE_WORKERS,
    reconcile: (key, signal, detach) => reconciler.reconcile(key, signal, detach),
    sliceMs: SLICE_MS,
    exists: (key) => work.find(key) !== undefined,
    clock,
    log,
    metrics,
  });
}

/** Objects that something deletes: their Vino may be gone. */
function listLeaving(objects: Iterable<VinoMachine>): Key[] {
  return [...objects].filter(({ metadata }) => metadata.deletionTimestamp !== undefined).map(toKey);
}

/** The Vinos that wait for addresses: any change of a pool may help. */
function listShort(vinoes: Iterable<Vino>): Key[] {
  const { noAddress, addressesDiffer } = CONDITION_WORDS.MachinesReady;
  const reasons = new Set<string | undefined>([noAddress.reason, addressesDiffer.reason]);
  return [...vinoes]
    .filter((vino) => reasons.has(findCondition(vino.status, "MachinesReady")?.reason))
    .map(toKey);
}
