/**
 * Applies the objects of a cluster's services, and removes those that are not wanted any more.
 *
 * Deployments, Services and ConfigMaps are watched: what others change or delete comes back at once. All other objects
 * are read one by one every ten minutes, and when one of the former was corrected: they change rarely. No service needs
 * a Secret here: a watch of Secrets would need the right to read all Secrets of the cluster.
 * @module
 */
import type { Clock } from "../../../core/clock.ts";
import type { KeySource } from "../../../engine/object_loop.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import type { Caches } from "../../../kube/cache/caches.ts";
import { type Key, type StoreReader, toKey } from "../../../kube/cache/store.ts";
import type { KubeObject } from "../../../kube/kinds/resource.ts";
import type { SipCluster } from "../resource/sip_cluster.ts";
import { SERVICE_ENTRY } from "../words.ts";
import { CHECK_INTERVAL_MS, ObjectApplier, type Target } from "./apply/object_applier.ts";
import { listPorts } from "./apply/ports.ts";
import {
  type ObjectId,
  OwnedViews,
  type Shown,
  type WantedObject,
  findTargets,
  listBeside,
  listWanted,
  toId,
} from "./apply/objects.ts";
import { type ConfigMap, type Deployment, OWNED_SERVICES } from "./owned_kinds.ts";
import type { ServicePlan } from "./types.ts";

/** Why a service is not as wanted, for the condition `ServicesReady`. */
interface ServiceProblem {
  /** As in {@linkcode ServicePlan}. */
  readonly service: string;
  readonly reason: string;
  /** One sentence, without a full stop. */
  readonly message: string;
}

/** What {@linkcode ServiceApplier.apply} did. */
export interface Applied {
  /** In the order of the plans, at most one for each. */
  readonly problems: readonly ServiceProblem[];
  /** How many objects were written or deleted. */
  readonly writes: number;
  /** When it must be called again although nothing changed, in milliseconds. */
  readonly againMs: number;
}

/** What a {@linkcode ServiceApplier} needs. */
interface ServiceApplierOptions {
  readonly client: KubeClient;
  readonly caches: Pick<Caches, "reader">;
  readonly clock: Clock;
}

/** Applies the services of all clusters. */
export class ServiceApplier {
  readonly #views: OwnedViews;
  readonly #objects: ObjectApplier;

  constructor({ client, caches, clock }: ServiceApplierOptions) {
    this.#views = new OwnedViews(caches);
    this.#objects = new ObjectApplier(client, clock, this.#views);
  }

  /** Changes of what clusters own, for the loop. */
  get sources(): readonly KeySource[] {
    return this.#views.sources;
  }

  /** The Deployments and Services of all clusters. */
  get made(): readonly StoreReader<KubeObject>[] {
    return [this.#views.deployments, this.#views.services];
  }

  /** A Deployment of a cluster. */
  findDeployment(key: Key): Deployment | undefined {
    return this.#views.deployments.get(key);
  }

  /** The node ports that Kubernetes gave the ports of a plan, as they were last seen. */
  listNodePorts(cluster: SipCluster, { service, objects }: ServicePlan): readonly number[] {
    const ports = new Set(objects.flatMap(({ body }) => listPorts(body)));
    return this.#views.listNodePorts(cluster, service, ports);
  }

  /** Whether any object of a plan is there, as far as they are watched. */
  isMade({ objects }: ServicePlan): boolean {
    return objects.some(({ resource, body }) => this.#views.find(resource.kind)?.get(toKey(body)));
  }

  /** A ConfigMap of a cluster, as it was last seen. */
  findConfigMap(key: Key): ConfigMap | undefined {
    return this.#views.configMaps.get(key);
  }

  /**
   * Brings all objects of a cluster to what the plans say, and deletes what no plan has. Writes nothing if all is so.
   * What belongs to a plan with a problem stays as it is. A plan ends at the first object that is refused; the others
   * go on.
   *
   * @throws {KubeError} if another try may help
   */
  async apply(
    cluster: SipCluster,
    plans: readonly ServicePlan[],
    signal: AbortSignal,
  ): Promise<Applied> {
    const problems: ServiceProblem[] = [];
    const work = plans.map((plan) => ({ plan, objects: listWanted(cluster, plan) }));
    // First: what goes may have a node port that something else gets.
    let writes = await this.#prune(cluster, work, signal);
    let againMs = CHECK_INTERVAL_MS;
    for (const { plan, objects } of work) {
      const { service, problem } = plan;
      if (problem) problems.push({ service, ...problem });
      else {
        for (const object of objects) {
          const outcome = await this.#objects.apply(cluster, object, signal);
          if (outcome.isWritten) writes += 1;
          // The person or program that changed this may have changed more. The watch brings the next look.
          if (outcome.isCorrection) this.#objects.readAgain(toKey(cluster));
          againMs = Math.min(againMs, outcome.againMs);
          if (!outcome.refusal) continue;
          problems.push({ service, ...outcome.refusal });
          break;
        }
      }
    }
    return { problems, writes, againMs };
  }

  /**
   * Deletes all objects of a cluster that is being deleted. Call it again until nothing is left.
   *
   * @param plans Those of its spec: objects that no view shows are found by them, too
   * @returns What it waits for, such as `Deployment/jumphost-a`, which exists until its Pods are gone
   */
  async remove(
    cluster: SipCluster,
    plans: readonly ServicePlan[],
    signal: AbortSignal,
  ): Promise<readonly ObjectId[]> {
    const shown = this.#views.list(cluster);
    const ids = new Set(shown.map(({ live }) => toId(live)));
    const planned = plans.flatMap(({ objects }) => objects.map(({ body }) => toId(body)));
    const others = new Set([
      ...shown.flatMap(({ live }) => listBeside(live)),
      ...this.#views.listMountedSecrets(cluster),
      ...planned.filter((id) => !ids.has(id)),
    ]);
    const isService = ({ resource }: Shown): boolean => resource.kind === OWNED_SERVICES.kind;
    const targets: readonly Target[] = [
      ...shown.filter(isService),
      ...findTargets(others),
      ...shown.filter((one) => !isService(one)),
    ];
    const left: ObjectId[] = [];
    for (const target of targets) {
      const isLeft = await this.#objects.remove(cluster, target, signal);
      if (isLeft) left.push(`${target.resource.kind}/${target.name}`);
    }
    return left;
  }

  /** Forgets a cluster that is gone. */
  forget(cluster: Key): void {
    this.#objects.forget(cluster);
  }

  /** Deletes what no plan has. @returns How many objects */
  async #prune(
    cluster: SipCluster,
    work: readonly { readonly plan: ServicePlan; readonly objects: readonly WantedObject[] }[],
    signal: AbortSignal,
  ): Promise<number> {
    const wanted = new Set(work.flatMap(({ objects }) => objects.map(({ id }) => id)));
    const stopped = new Set(
      work.flatMap(({ plan }) => (plan.problem && !plan.mustEnd ? [plan.service] : [])),
    );
    const stale = this.#views.list(cluster).filter(({ live }) => {
      const { annotations, deletionTimestamp } = live.metadata;
      const isStopped = stopped.has(annotations?.[SERVICE_ENTRY] ?? "");
      return !isStopped && deletionTimestamp === undefined && !wanted.has(toId(live));
    });
    const beside = new Set(stale.flatMap(({ live }) => listBeside(live)));
    // They go first: nothing else leads to them.
    const targets = [...findTargets(beside.difference(wanted)), ...stale];
    let deletions = 0;
    for (const one of targets) if (await this.#objects.remove(cluster, one, signal)) deletions += 1;
    return deletions;
  }
}
