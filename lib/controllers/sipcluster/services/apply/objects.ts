/**
 * The objects of a plan as they are sent: in order, labelled and owned; and what the caches show of the objects that
 * clusters own.
 * @module
 */
import { SIP_CLUSTERS, type SipCluster } from "../../resource/sip_cluster.ts";
import { toAccountName, toClusterLabel } from "../names.ts";
import {
  CONFIG_MAPS,
  type ConfigMap,
  DEPLOYMENTS,
  type Deployment,
  OWNED_SERVICES,
  type OwnedService,
  POD_DISRUPTION_BUDGETS,
  ROLES,
  ROLE_BINDINGS,
  SERVICE_ACCOUNTS,
} from "../owned_kinds.ts";
import type { OwnedObject, ServicePlan } from "../types.ts";
import { PART_OF_SIP, SERVICE_ENTRY, SIP_CLUSTER_LABEL } from "../../words.ts";
import { hashContent } from "../../../../core/text/label.ts";
import { type KeySource, fromSecondary, toOwnerKeys } from "../../../../engine/object_loop.ts";
import type { Caches } from "../../../../kube/cache/caches.ts";
import type { Key, StoreReader } from "../../../../kube/cache/store.ts";
import type { KubeObject, Resource } from "../../../../kube/kinds/resource.ts";
import { SECRETS } from "../../../../kube/kinds/secret.ts";

/** Names an object of a cluster: `Secret/jumphost-a`. */
export type ObjectId = string;

/** An object as it is sent. */
export interface WantedObject extends OwnedObject {
  readonly id: ObjectId;
  /** Of its body. */
  readonly hash: string;
}

/** Kinds of the account of a service's Pods. They are not watched. */
const OF_ACCOUNT: readonly Resource<KubeObject>[] = [SERVICE_ACCOUNTS, ROLES, ROLE_BINDINGS];

/**
 * ConfigMaps are watched and come first: one that cannot be made leaves no account behind to which nothing leads. Then
 * what an object needs comes before it. Services come last, so that one without a port stops nothing else.
 */
const KINDS: readonly Resource<KubeObject>[] = [
  CONFIG_MAPS,
  SECRETS,
  ...OF_ACCOUNT,
  POD_DISRUPTION_BUDGETS,
  DEPLOYMENTS,
  OWNED_SERVICES,
];

/** Names an object by its kind and name. */
export function toId({ kind, metadata }: KubeObject): ObjectId {
  return `${kind}/${metadata.name}`;
}

/** The objects of a plan as they are sent, in the order in which they are sent. */
export function listWanted(cluster: SipCluster, plan: ServicePlan): readonly WantedObject[] {
  const objects = plan.objects.toSorted(
    ({ body: one }, { body: other }) => toRank(one) - toRank(other),
  );
  return objects.map((object) => {
    const body = toBody(cluster, plan, object.body);
    return {
      resource: object.resource,
      body,
      id: toId(body),
      hash: hashContent(JSON.stringify(body)),
    };
  });
}

/**
 * The IDs of objects that are not watched and stand or fall with this one. Only its name tells them: Pods of tenants
 * write metadata of some ConfigMaps, and a name never changes.
 */
export function listBeside({ metadata: { name } }: KubeObject): readonly ObjectId[] {
  const account = toAccountName(name);
  const budget = `${POD_DISRUPTION_BUDGETS.kind}/${name}`;
  return [...OF_ACCOUNT.map(({ kind }) => `${kind}/${account}`), budget];
}

/** The kinds and names of objects by their IDs. What is no ID of a kind that is applied here is left out. */
export function findTargets(
  ids: Iterable<ObjectId>,
): readonly { readonly resource: Resource<KubeObject>; readonly name: string }[] {
  return [...ids].flatMap((id) => {
    const [kind, name = ""] = id.split("/");
    const resource = KINDS.find((one) => one.kind === kind);
    return resource === undefined || name === "" ? [] : [{ resource, name }];
  });
}

function toRank({ kind }: KubeObject): number {
  return KINDS.findIndex((one) => one.kind === kind);
}

function toBody(cluster: SipCluster, { service }: ServicePlan, body: KubeObject): KubeObject {
  const { apiVersion, kind } = SIP_CLUSTERS;
  const { name, uid = "" } = cluster.metadata;
  const { metadata } = body;
  return {
    ...body,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [SIP_CLUSTER_LABEL]: toClusterLabel(name) },
      annotations: { ...metadata.annotations, [SERVICE_ENTRY]: service },
      ownerReferences: [
        { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
  };
}

/** Whether Landfall may write an object, and whether the original operator made it; else why not. */
type Ownership =
  | { readonly isOurs: true; readonly isOriginal: boolean }
  | { readonly isOurs: false; readonly why: string };

/**
 * Judges an object. It is the cluster's if the cluster owns it. It becomes the cluster's if it has no owner and is part
 * of SIP: the original operator set no owners.
 */
export function judgeOwnership(live: KubeObject, cluster: SipCluster): Ownership {
  const owner = live.metadata.ownerReferences?.find(({ controller }) => controller);
  if (owner && owner.uid === cluster.metadata.uid) return { isOurs: true, isOriginal: false };
  if (owner) {
    const isEarlier = owner.kind === SIP_CLUSTERS.kind && owner.name === cluster.metadata.name;
    const why = isEarlier
      ? "belongs to an earlier SIPCluster of this name, and Kubernetes did not delete it yet"
      : `belongs to ${owner.kind} ${owner.name}`;
    return { isOurs: false, why };
  }
  const { [PART_OF_SIP.key]: part, [SIP_CLUSTER_LABEL]: name } = live.metadata.labels ?? {};
  const isOfOther = name !== undefined && name !== toClusterLabel(cluster.metadata.name);
  if (part === PART_OF_SIP.value && !isOfOther)
    return { isOurs: true, isOriginal: name === undefined };
  const why = isOfOther
    ? `has the label of another SIPCluster: ${name}`
    : "exists, and was not made for this SIPCluster: delete or rename it";
  return { isOurs: false, why };
}

/** Whether a cluster owns an object. */
export function isOwnedBy({ metadata }: KubeObject, cluster: SipCluster): boolean {
  const { uid } = cluster.metadata;
  return (
    uid !== undefined &&
    metadata.namespace === cluster.metadata.namespace &&
    metadata.ownerReferences?.some((owner) => owner.controller && owner.uid === uid) === true
  );
}

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
