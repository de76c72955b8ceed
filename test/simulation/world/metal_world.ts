/**
 * What worlds with chosen controllers, BareMetalHosts, metal3 and Cluster API have in common.
 * @module
 */
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import type { ApiObject, ObjectAccess } from "../../../lib/simulator/kubernetes/mod.ts";
import { operateHosts } from "../../../lib/simulator/metal3/bare_metal_operator.ts";
import type { ClusterApi } from "../../../lib/simulator/metal3/cluster_api.ts";
import { drawFrom, type Random, type Seed } from "../../support/random.ts";
import { crash, CrashPoints } from "../crash_points.ts";
import { rest, Timeline } from "../timeline.ts";
import { Trace } from "../trace.ts";
import { ApiServer, type LeasePath } from "./api_server.ts";
import { runApp } from "../../../lib/app/app.ts";
import type { AppOptions } from "../../../lib/app/options.ts";
import type { MachineManagement } from "../../../lib/cloud/capabilities/machine_management.ts";
import type { Provider } from "../../../lib/cloud/provider.ts";
import type { ProviderDeps } from "../../../lib/cloud/provider_definition.ts";
import type { ControllerModule, LoadedController } from "../../../lib/controllers/definition.ts";
import type { Process } from "./process.ts";
import { Program, type ProgramOptions, type Running } from "./program.ts";

/** Longer than a process needs to stop. */
const STOP_MS = 30_000;

/** The world of one seed. */
export abstract class MetalWorld {
  readonly random: Random;
  readonly timeline: Timeline = new Timeline();
  readonly trace: Trace = new Trace(this.timeline);
  readonly server: ApiServer;
  abstract readonly replicas: readonly ControllerReplica[];
  abstract readonly clusterApi: ClusterApi;
  /** Requests at which a process dies. */
  readonly crashPoints: CrashPoints = new CrashPoints((name, how) =>
    crash(this, name, how, () => this.onCrash()),
  );
  /** Told when a process died at a crash point, before the next one starts. */
  onCrash: () => void = () => undefined;
  /** How many machines Cluster API ever had. */
  machines = 0;
  #hasLeft = false;

  constructor(seed: Seed, lease: LeasePath) {
    this.random = drawFrom(seed);
    this.server = new ApiServer(this.timeline, lease);
    this.server.gate = this.crashPoints.toGate();
  }

  get objects(): ObjectAccess {
    return this.server.objects;
  }

  /** All processes that ever were. */
  get processes(): readonly ControllerProcess[] {
    return this.replicas.flatMap(({ incarnations }) => incarnations);
  }

  /** All hosts. */
  get hosts(): readonly ApiObject[] {
    return this.objects.list(BARE_METAL_HOSTS.plural);
  }

  /** What metal3 and Cluster API do, each once. Returns the states of hosts that have another one now. */
  stepMetal(): ReturnType<typeof operateHosts>["moved"] {
    for (const line of this.clusterApi.step()) this.trace.note("CAPM3", line);
    const { moved } = operateHosts(this.objects);
    for (const [key, state] of moved) this.trace.note("BMO", `${key} is ${state}`);
    return moved;
  }

  /** Ends what the world itself does, and the processes. */
  async leave(): Promise<void> {
    this.#hasLeft = true;
    for (const { process, stop, kube, election, cloud } of this.processes) {
      for (const link of [kube, election, cloud]) link.isRefused = true;
      stop.abort(new Error("the simulation is over"));
      process.bury();
    }
    await this.timeline.advance(STOP_MS);
    for (const { process } of this.processes) process.kill();
    await rest();
  }

  /** Lets something happen again and again. */
  protected repeat(ms: number, act: () => void): void {
    this.timeline.schedule(ms, () => {
      if (this.#hasLeft) return;
      act();
      this.repeat(ms, act);
    });
  }
}

/** What a replica is part of. */
interface ControllerReplicaOptions extends ProgramOptions {
  readonly controllers: readonly LoadedController[];
  readonly flags: AppOptions["flags"];
  /** Makes the cloud of a process. Absent: no controller needs one. */
  readonly createProvider?: (process: Process, deps: ProviderDeps) => Provider;
}

/** A process and what belongs to it. */
export interface ControllerProcess extends Running {
  /** What clients of its listener for management controllers would reach. Absent: it has none. */
  management?: MachineManagement;
}

/** A replica. */
export class ControllerReplica extends Program<ControllerProcess, ControllerReplicaOptions> {
  protected create(running: Running): ControllerProcess {
    return running;
  }

  protected async run(one: ControllerProcess): Promise<void> {
    const { controllers, flags, createProvider } = this.options;
    const { signal } = one.stop;
    const base = this.toBase(one);
    const provider = createProvider?.(one.process, { ...base, signal });
    const options = {
      ...base,
      ...(provider && { provider }),
      controllers: controllers.map((loaded) => withoutListener(loaded, one)),
      concurrentNodeSyncs: 1,
      flags,
    };
    await runApp(options, signal);
  }
}

/** The controller without its listener, which would open a socket of the machine; what is behind it is kept. */
function withoutListener(
  { definition, module }: LoadedController,
  one: ControllerProcess,
): LoadedController {
  const create: ControllerModule["create"] = (context) => {
    const controller = module.create(context);
    const { managementListener: listener } = controller;
    if (listener === undefined) return controller;
    one.management = listener.management;
    Reflect.deleteProperty(controller, "managementListener");
    return controller;
  };
  return { definition, module: { create } };
}
