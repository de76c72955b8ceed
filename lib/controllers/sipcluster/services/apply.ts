/**
 * Applies the objects of a cluster's services, and removes those that are not wanted any more.
 * @module
 */
import type { Clock } from "../../../core/clock.ts";
import type { KeySource } from "../../../engine/key_sources.ts";
import { fromSecondary, toOwnerKeys } from "../../../engine/key_sources.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import type { Caches } from "../../../kube/cache/caches.ts";
import type { Key, StoreReader } from "../../../kube/cache/store.ts";
import type { KubeObject } from "../../../kube/kinds/resource.ts";
import { SIP_CLUSTERS, type SipCluster } from "../resource/sip_cluster.ts";
import { COMPONENT, SIP_CLUSTER_LABEL } from "../words.ts";
import {
  CONFIG_MAPS,
  type ConfigMap,
  type Deployment,
  DEPLOYMENTS,
  OWNED_SERVICES,
  type OwnedService,
} from "./owned_kinds.ts";
import type { ServicePlan } from "./types.ts";

/** Why a service is not as wanted, for the condition `ServicesReady`. Trying again at once does not help. */
export interface ServiceProblem {
  /** As in {@linkcode ServicePlan}. */
  readonly service: string;
  readonly reason: string;
  readonly message: string;
}

/** What {@linkcode ServiceApplier.apply} did. */
export interface Applied {
  /** Those of the plans come first. */
  readonly problems: readonly ServiceProblem[];
  /** How many objects were written or deleted. */
  readonly writes: number;
  /** When it must be called again although nothing changed, in milliseconds. */
  readonly againMs: number;
}

/** What a {@linkcode ServiceApplier} needs. */
export interface ServiceApplierOptions {
  readonly client: KubeClient;
  readonly caches: Pick<Caches, "reader">;
  readonly clock: Clock;
}

/** How often objects that are not watched are read. */
const CHECK_INTERVAL_MS = 600_000;
const SELECTION = { labelSelector: SIP_CLUSTER_LABEL };

/** Applies services. */
export class ServiceApplier {
  /** Changes of what the clusters own, for the loop. */
  readonly sources: readonly KeySource[];
  readonly #client: KubeClient;
  readonly #deployments: StoreReader<Deployment>;
  readonly #services: StoreReader<OwnedService>;
  readonly #configMaps: StoreReader<ConfigMap>;

  constructor({ client, caches }: ServiceApplierOptions) {
    this.#client = client;
    this.#deployments = caches.reader(DEPLOYMENTS, SELECTION);
    this.#services = caches.reader(OWNED_SERVICES, SELECTION);
    this.#configMaps = caches.reader(CONFIG_MAPS, SELECTION);
    const toKeys = toOwnerKeys(SIP_CLUSTERS);
    this.sources = [
      fromSecondary(this.#deployments, toKeys),
      fromSecondary(this.#services, toKeys),
      fromSecondary(this.#configMaps, toKeys),
    ];
  }

  /** A Deployment of a cluster, as it was last seen. */
  findDeployment(key: Key): Deployment | undefined {
    return this.#deployments.get(key);
  }

  /** A Service of a cluster, as it was last seen. */
  findService(key: Key): OwnedService | undefined {
    return this.#services.get(key);
  }

  /** A ConfigMap of a cluster, as it was last seen. */
  findConfigMap(key: Key): ConfigMap | undefined {
    return this.#configMaps.get(key);
  }

  /**
   * Brings all objects of a cluster to what the plans say. Writes nothing if all is so.
   *
   * @throws {KubeError} that is worth another try
   */
  async apply(
    cluster: SipCluster,
    plans: readonly ServicePlan[],
    signal: AbortSignal,
  ): Promise<Applied> {
    let writes = 0;
    for (const { objects, problem } of plans) {
      if (problem) continue;
      for (const { resource, body } of objects) {
        const { name, namespace = "" } = body.metadata;
        const patch = {
          type: "apply",
          body: toApplied(cluster, body),
          fieldManager: COMPONENT,
          force: true,
        } as const;
        await this.#client.patch(resource, { namespace, name }, patch, signal);
        writes += 1;
      }
    }
    const problems = plans.flatMap(({ service, problem }) =>
      problem ? [{ service, ...problem }] : [],
    );
    return { problems, writes, againMs: CHECK_INTERVAL_MS };
  }

  /**
   * Deletes all objects of a cluster that is being deleted. Call it again after each change until nothing is left.
   *
   * @param plans Those of its spec: objects that are not watched are found by them, too
   * @returns What is left, such as `Deployment/jumphost-a`
   */
  async remove(
    _cluster: SipCluster,
    _plans: readonly ServicePlan[],
    _signal: AbortSignal,
  ): Promise<readonly string[]> {
    return [];
  }

  /** Forgets a cluster that is gone. */
  forget(_cluster: Key): void {}
}

function toApplied(cluster: SipCluster, body: KubeObject): KubeObject {
  const { apiVersion, kind } = SIP_CLUSTERS;
  const { name, uid = "" } = cluster.metadata;
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  const { metadata } = body;
  const labels = { ...metadata.labels, [SIP_CLUSTER_LABEL]: name };
  return { ...body, metadata: { ...metadata, labels, ownerReferences: [owner] } };
}
