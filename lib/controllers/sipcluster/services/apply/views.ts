/**
 * What the caches show of the objects that clusters own.
 * @module
 */
import { fromSecondary, type KeySource, toOwnerKeys } from "../../../../engine/object_loop.ts";
import type { Caches } from "../../../../kube/cache/caches.ts";
import type { Key, StoreReader } from "../../../../kube/cache/store.ts";
import type { KubeObject, Resource } from "../../../../kube/kinds/resource.ts";
import { SIP_CLUSTERS, type SipCluster } from "../../resource/sip_cluster.ts";
import { SERVICE_ENTRY, SIP_CLUSTER_LABEL } from "../../words.ts";
import {
  CONFIG_MAPS,
  type ConfigMap,
  type Deployment,
  DEPLOYMENTS,
  OWNED_SERVICES,
  type OwnedService,
} from "../owned_kinds.ts";
import { SECRETS } from "../../../../kube/kinds/secret.ts";
import { isOwnedBy } from "./ownership.ts";
import type { ObjectId } from "./wanted.ts";

/** An object that a view shows. */
export interface Shown {
  readonly resource: Resource<KubeObject>;
  readonly name: string;
  readonly live: KubeObject;
}

/** The keys of the clusters that own an object. */
const toClusterKeys: (owned: KubeObject) => Key[] = toOwnerKeys(SIP_CLUSTERS);

/** The views of Deployments, Services and ConfigMaps with the label of a cluster. Other kinds are not watched. */
export class OwnedViews {
  readonly deployments: StoreReader<Deployment>;
  readonly services: StoreReader<OwnedService>;
  readonly configMaps: StoreReader<ConfigMap>;
  /** Changes of these objects, by the clusters that own them. */
  readonly sources: readonly KeySource[];
  readonly #views: ReadonlyMap<string, StoreReader<KubeObject>>;

  constructor(caches: Pick<Caches, "reader">) {
    const selection = { labelSelector: SIP_CLUSTER_LABEL };
    this.deployments = caches.reader(DEPLOYMENTS, selection);
    this.services = caches.reader(OWNED_SERVICES, selection);
    this.configMaps = caches.reader(CONFIG_MAPS, selection);
    this.#views = new Map<string, StoreReader<KubeObject>>([
      [OWNED_SERVICES.kind, this.services],
      [DEPLOYMENTS.kind, this.deployments],
      [CONFIG_MAPS.kind, this.configMaps],
    ]);
    this.sources = [...this.#views.values()].map((view) => fromSecondary(view, toClusterKeys));
  }

  /** The view of a kind; `undefined` if it is not watched. */
  find(kind: string): StoreReader<KubeObject> | undefined {
    return this.#views.get(kind);
  }

  /** All objects that a cluster owns: Services first, then Deployments. */
  list(cluster: SipCluster): readonly Shown[] {
    const kinds = [OWNED_SERVICES, DEPLOYMENTS, CONFIG_MAPS] as const;
    return kinds.flatMap((resource) =>
      [...(this.find(resource.kind)?.values() ?? [])]
        .filter((live) => isOwnedBy(live, cluster))
        .map((live) => ({ resource, name: live.metadata.name, live })),
    );
  }

  /**
   * The node ports of the Services for an entry of a cluster's services, in their order.
   *
   * @param ports The ports of the entry: others may have added more. Empty: all count
   */
  listNodePorts(
    cluster: SipCluster,
    service: string,
    ports: ReadonlySet<number>,
  ): readonly number[] {
    return [...this.services.values()]
      .filter((live) => live.metadata.annotations?.[SERVICE_ENTRY] === service)
      .filter((live) => isOwnedBy(live, cluster))
      .flatMap(({ spec }) => spec?.ports ?? [])
      .filter(({ port }) => ports.size === 0 || ports.has(port))
      .flatMap(({ nodePort }) => nodePort ?? []);
  }

  /** The Secrets that Pods of a cluster read. Those that the cluster owns were made for them. */
  listMountedSecrets(cluster: SipCluster): readonly ObjectId[] {
    return [...this.deployments.values()]
      .filter((live) => isOwnedBy(live, cluster))
      .flatMap(({ spec }) => spec?.template.spec?.volumes ?? [])
      .flatMap(({ secret }) =>
        secret?.secretName ? [`${SECRETS.kind}/${secret.secretName}`] : [],
      );
  }

  /** The name of another Service of a cluster in this namespace that has a node port. Tenants see no other names. */
  findPortHolder(
    nodePort: number,
    { namespace, name }: KubeObject["metadata"],
  ): string | undefined {
    for (const { metadata, spec } of this.services.values()) {
      if (metadata.namespace !== namespace || metadata.name === name) continue;
      if (spec?.ports?.some((port) => port.nodePort === nodePort)) return metadata.name;
    }
    return undefined;
  }
}
