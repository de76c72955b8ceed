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
import { Timeline } from "../timeline.ts";
import { Trace } from "../trace.ts";
import { ApiServer, type LeasePath } from "./api_server.ts";
import type { ControllerProcess, ControllerReplica } from "./controller_replica.ts";

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

  /** Ends what the world itself does. */
  leave(): void {
    this.#hasLeft = true;
    for (const { process, stop } of this.processes) {
      process.kill();
      stop.abort(new Error("the simulation is over"));
    }
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
