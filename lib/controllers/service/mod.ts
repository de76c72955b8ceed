/**
 * The controller of Services: makes the load balancers of the cloud, and removes them.
 * @module
 */
import type {
  FindHolder,
  LoadBalancerClaim,
  LoadBalancers,
} from "../../cloud/capabilities/load_balancers.ts";
import { AddressPools } from "../../cloud/pools/address_pools.ts";
import type { LoadBalancerSettings } from "../../cloud/pools/settings.ts";
import type { PoolUsage } from "../../cloud/pools/usage.ts";
import { abortable } from "../../core/clock.ts";
import { Converger } from "../../engine/converge.ts";
import { ObjectLoop } from "../../engine/object_loop.ts";
import type { ReconcileResult } from "../../engine/workers.ts";
import { type Key, type StoreReader, toKey } from "../../kube/cache/store.ts";
import { hasCloudLoadBalancer, type Service, SERVICES } from "../../kube/kinds/service.ts";
import { requireCloud } from "../node_context.ts";
import { type ControllerContext, readFlag, type RunningController } from "../definition.ts";
import { findClusterIds } from "./cluster_ids.ts";
import { Backends } from "./backends.ts";
import { describeService, type ServiceReport } from "./describe.ts";
import { readClasses, SYNC_PERIOD_FLAG, SYNCS_FLAG } from "./flags.ts";
import { NodePass, Observations, runFullPasses } from "./passes.ts";
import {
  isDrift,
  isForeignWrite,
  isWanted,
  listInputs,
  type ServedClasses,
  showsIngress,
} from "./spec.ts";
import { type KnownLeftover, Leftovers } from "./leftovers.ts";
import { ManagedServices, ServiceTasks } from "./managed.ts";
import { createServiceMetrics } from "./metrics.ts";
import { ServiceEvents } from "./events.ts";
import { OccupiedAddresses } from "./occupied_addresses.ts";
import { previewPlan, ServiceConvergence, type ServiceConvergenceOptions } from "./reconcile.ts";
import { ServiceWriter } from "./service_writer.ts";
import { needsUpdate } from "./node_set.ts";
import { NAME } from "./words.ts";

export { createServiceMetrics as registerMetrics } from "./metrics.ts";

/** Creates the controller for the registry. */
export function create(context: ControllerContext<LoadBalancerSettings>): ServiceController {
  const { clock, settings } = context;
  const cloud = requireCloud(context);
  const { loadBalancers } = cloud.provider;
  if (loadBalancers) return new ServiceController(context, loadBalancers);
  const classes = readClasses(context.flags);
  const isServed = (service: Service): boolean => isWanted(service, classes);
  const services = context.caches.reader(SERVICES);
  const occupied = new OccupiedAddresses({ cloud, services, isServed });
  const pools = new AddressPools({ settings, clock, findOccupied: () => occupied.current });
  return new ServiceController(context, pools, occupied);
}

/** How long a Service may keep a worker; after that its work goes on without one. */
const SLICE_MS = 10_000;
/** First delay after a failure, as in the Go controller. */
const BACKOFF_MS = 5_000;

/** The controller of Services. */
export class ServiceController implements RunningController<LoadBalancerSettings> {
  readonly objects: StoreReader<Service>;
  readonly #context: ControllerContext<LoadBalancerSettings>;
  /** Absent: the cloud has load balancers. */
  readonly #pools: AddressPools | undefined;
  readonly #occupied: OccupiedAddresses | undefined;
  #settings: LoadBalancerSettings;
  readonly #managed: ManagedServices;
  readonly #tasks: ServiceTasks;
  readonly #observations: Observations;
  readonly #leftovers: Leftovers;
  readonly #writer: ServiceWriter;
  readonly #converger: Converger;
  readonly #convergence: ServiceConvergenceOptions;
  readonly #backends: Backends;
  /** Resolved when everything is known that a plan needs. */
  readonly #prepared = Promise.withResolvers<void>();
  readonly #nodePass: NodePass;
  readonly #loop: ObjectLoop<Service>;

  /** @param occupied What uses addresses besides Services. Absent: the cloud has load balancers */
  constructor(
    context: ControllerContext<LoadBalancerSettings>,
    loadBalancers: LoadBalancers,
    occupied?: OccupiedAddresses,
  ) {
    const { clock, fence, client, caches, flags } = context;
    const cloud = requireCloud(context);
    const metrics = createServiceMetrics(context.metrics);
    const classes = readClasses(flags);
    const inputs = (service: Service): readonly unknown[] => listInputs(service, classes);
    this.#context = context;
    this.#occupied = occupied;
    this.#pools = loadBalancers instanceof AddressPools ? loadBalancers : undefined;
    const services = caches.reader(SERVICES);
    this.objects = services;
    const managed = new ManagedServices(clock);
    const enqueue = (key: Key): void => this.#loop.enqueue(key);
    this.#managed = managed;
    const { leavesNothingBehind = false } = loadBalancers;
    this.#tasks = new ServiceTasks({ clock, services, managed, classes, leavesNothingBehind });
    const claims = (): Iterable<LoadBalancerClaim> => this.#tasks.listClaims();
    const instanceIds = (): ReadonlySet<string> => this.#backends.instanceIds;
    const findHolder: FindHolder = (isIt) => this.#tasks.findHolder(isIt);
    const periodMs = readFlag(flags, SYNC_PERIOD_FLAG);
    this.#settings = context.settings;
    const listSharingRules = (): LoadBalancerSettings["sharing"] => this.#settings.sharing;
    const question = { claims, instanceIds, findHolder, listSharingRules };
    const observations = new Observations({ clock, loadBalancers, question, periodMs });
    this.#observations = observations;
    const shown = { clock, log: context.log, loadBalancers, observations, claims };
    this.#leftovers = new Leftovers({ ...shown, services: this.objects });
    this.#writer = new ServiceWriter({ client, inputs });
    this.#backends = new Backends({ cloud, clock });
    this.#converger = new Converger({ clock, fence });
    this.#convergence = {
      clock,
      loadBalancers,
      services,
      managed,
      tasks: this.#tasks,
      observations,
      writer: this.#writer,
      serviceEvents: new ServiceEvents(context),
      metrics,
      backends: this.#backends,
      usesNodes: this.#pools === undefined,
      inputs,
      enqueue,
    };
    const listOutdated = (): Key[] => this.#listOutdated();
    this.#nodePass = new NodePass({ clock, metrics, listOutdated, enqueue });
    this.#loop = new ObjectLoop({
      context,
      name: NAME,
      queueName: NAME,
      noun: "service",
      objects: this.objects,
      workers: readFlag(flags, SYNCS_FLAG),
      inputs,
      isDrift: (before, after) => this.#isDrift(before, after),
      reconcile: (service, signal, detach) => this.#reconcile(toKey(service), signal, detach),
      sliceMs: SLICE_MS,
      forget: () => undefined,
      findGone: (key) => this.#managed.get(key)?.service,
      prepare: async (signal) => {
        await Promise.all([services.catchUp(signal), cloud.nodes.catchUp(signal)]);
        this.#warnOfClassless(classes);
        loadBalancers.setClusterIds(await findClusterIds({ ...context, services }, signal));
        this.#prepared.resolve();
      },
      forgetsSuccesses: true,
      backoffMs: BACKOFF_MS,
    });
    metrics.readFrom({
      listStates: () => managed.listStates(),
      readOldestPendingMs: () => managed.readOldestPendingMs(),
      countLeftovers: () => this.#leftovers.list().length,
      listPools: () => this.listPools(),
    });
  }

  /** Runs until the signal aborts and all work has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const request = (): void => this.#nodePass.request();
    const ends = [
      this.#tasks.follow(),
      this.#backends.follow(request),
      this.#occupied?.follow(request),
    ];
    try {
      await Promise.all([
        this.#nodePass.run(signal),
        this.#runFullPasses(signal),
        this.#loop.run(signal),
      ]);
    } finally {
      for (const end of ends) end?.();
    }
  }

  /** Uses other settings of addresses from now on, or another cloud. */
  reconfigure(
    settings: LoadBalancerSettings,
    { isOtherCloud = false }: { readonly isOtherCloud?: boolean } = {},
  ): void {
    this.#settings = settings;
    this.#pools?.reconfigure(settings);
    if (isOtherCloud) this.#observations.forget();
    for (const key of this.#tasks.listKeys()) this.#loop.enqueue(key);
  }

  /** Describes a Service for the debug pages; `undefined` if it has no load balancer of Landfall and gets none. */
  describe(service: Service): ServiceReport | undefined {
    const { clock } = this.#context;
    const key = toKey(service);
    const managed = this.#managed.get(key);
    if (managed === undefined) return undefined;
    return describeService(service, {
      managed,
      failed: this.#loop.outcomes.get(key),
      plan: previewPlan(service, this.#convergence),
      nodes: this.#pools ? undefined : this.#backends.find(service),
      isLeaving: this.#tasks.findNeed(service) === "release",
      now: { monotonicMs: clock.monotonic(), ms: clock.now() },
    });
  }

  /** Lists addresses in the cloud without a Service, for the debug pages. */
  listLeftovers(): readonly KnownLeftover[] {
    return this.#leftovers.list();
  }

  /** Lists how full address pools are; nothing before the first look, as on a standby. */
  listPools(): readonly PoolUsage[] {
    return this.#pools?.listUsage() ?? [];
  }

  async #runFullPasses(signal: AbortSignal): Promise<void> {
    const { clock, log, flags } = this.#context;
    await abortable(this.#prepared.promise, signal).catch(() => undefined);
    const periodMs = readFlag(flags, SYNC_PERIOD_FLAG);
    const look = async (stop: AbortSignal): Promise<void> => {
      await this.#observations.observe(stop, 0);
      this.#leftovers.log();
    };
    // A look at address pools costs the cloud nothing, and shows how full they are also without Services.
    const isNeeded = (): boolean =>
      this.#pools !== undefined || [...this.#tasks.listKeys()].length > 0;
    const enqueueAll = (): void => {
      for (const key of this.#tasks.listKeys()) this.#loop.enqueueUnlessWaiting(key);
    };
    await runFullPasses({ clock, log, periodMs, isNeeded, look, enqueueAll }, signal);
  }

  async #reconcile(key: Key, signal: AbortSignal, detach: () => void): Promise<ReconcileResult> {
    try {
      const work = new ServiceConvergence(key, this.#convergence);
      const result = await this.#converger.reconcile(work, signal, detach);
      const managed = this.#managed.get(key);
      if (managed !== undefined) managed.succeededAt = this.#context.clock.now();
      this.#nodePass.noteEnd(key, true);
      return result;
    } catch (error) {
      this.#nodePass.noteEnd(key, false);
      throw error;
    }
  }

  /** Says that Services keep a load balancer that Landfall may have made, before a flag for a class was set. */
  #warnOfClassless(classes: ServedClasses): void {
    if (classes.servesClassless) return;
    const left = [...this.objects.values()].filter(
      (one) => hasCloudLoadBalancer(one) && isWanted(one, { servesClassless: true }),
    );
    if (left.length === 0) return;
    const message =
      "Services without a class have a load balancer, and Landfall does not serve them. If Landfall made it, set " +
      "--serve-services-without-class=true";
    this.#context.log.warn(message, { services: left.length });
  }

  #listOutdated(): Key[] {
    const disturbed = new Set(this.#pools?.takeDisturbed().map(({ uid }) => uid));
    return [...this.#managed.entries()]
      .filter(([, { service, ensured, state }]) => {
        if (disturbed.has(service.metadata.uid ?? "")) return true;
        // Others take the Nodes as they are at their next attempt.
        if (ensured === undefined) return state === "waiting";
        return needsUpdate(ensured.nodes, this.#backends.find(service));
      })
      .map(([key]) => key);
  }

  /** Whether to write again what another program or a user changed. The finalizer must be back at once, every time. */
  #isDrift(before: Service, after: Service): boolean {
    if (!isDrift(before, after, (one) => this.#isSettled(one))) return false;
    const isForeign = isForeignWrite(before, after);
    const isNews = isForeign && this.#managed.noteForeign(after);
    if (this.#tasks.lacksFinalizer(after)) return true;
    if (isForeign) return isNews;
    const service = toKey(after);
    const verdict = this.#managed.noteDrift(service);
    if (verdict === "tooOften") {
      const message =
        "Another program writes the status of a Service; the next full pass does it again";
      this.#context.log.warn(message, { service });
    }
    return verdict === "restore";
  }

  /** Whether a Service shows what the last plan asked for. */
  #isSettled(service: Service): boolean {
    const { ingress } = this.#managed.get(toKey(service)) ?? {};
    const isShown = ingress === undefined || showsIngress(service, ingress, this.#writer);
    return isShown && !this.#tasks.lacksFinalizer(service);
  }
}
