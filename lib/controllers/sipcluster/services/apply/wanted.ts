/**
 * The objects of a plan as they are sent: in order, labelled, owned, and with the names of those that are not watched.
 * @module
 */
import type { KubeObject, Resource } from "../../../../kube/kinds/resource.ts";
import { SIP_CLUSTERS, type SipCluster } from "../../resource/sip_cluster.ts";
import { SERVICE_ENTRY, SIP_CLUSTER_LABEL, UNWATCHED_OBJECTS } from "../../words.ts";
import { toClusterLabel } from "../names.ts";
import { hashContent } from "../../../../core/text/label.ts";
import { SECRETS } from "../../../../kube/kinds/secret.ts";
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  OWNED_SERVICES,
  POD_DISRUPTION_BUDGETS,
  ROLE_BINDINGS,
  ROLES,
  SERVICE_ACCOUNTS,
} from "../owned_kinds.ts";
import type { OwnedObject, ServicePlan } from "../types.ts";

/** Names an object of a cluster: `Secret/jumphost-a`. */
export type ObjectId = string;

/** An object as it is sent. */
export interface WantedObject extends OwnedObject {
  readonly id: ObjectId;
  /** Of its body. */
  readonly hash: string;
}

/** What an object needs comes before it; Services come last, so that one without a port stops nothing else. */
const KINDS: readonly Resource<KubeObject>[] = [
  SERVICE_ACCOUNTS,
  ROLES,
  ROLE_BINDINGS,
  SECRETS,
  CONFIG_MAPS,
  POD_DISRUPTION_BUDGETS,
  DEPLOYMENTS,
  OWNED_SERVICES,
];

const WATCHED: ReadonlySet<string> = new Set(
  [CONFIG_MAPS, DEPLOYMENTS, OWNED_SERVICES].map(({ kind }) => kind),
);

/** Names an object by its kind and name. */
export function toId({ kind, metadata }: KubeObject): ObjectId {
  return `${kind}/${metadata.name}`;
}

/** The objects of a plan as they are sent, in the order in which they are sent. */
export function listWanted(cluster: SipCluster, plan: ServicePlan): readonly WantedObject[] {
  const objects = plan.objects.toSorted(
    ({ body: one }, { body: other }) => toRank(one) - toRank(other),
  );
  // Without it, nothing would lead to the others after a restart.
  const first = objects.find(({ resource }) => WATCHED.has(resource.kind));
  const unwatched = objects
    .filter(({ resource }) => !WATCHED.has(resource.kind))
    .map(({ body }) => toId(body));
  return objects.map((object) => {
    const names = object === first ? { [UNWATCHED_OBJECTS]: formatIds(unwatched) } : {};
    const body = toBody(cluster, plan, object.body, names);
    return {
      resource: object.resource,
      body,
      id: toId(body),
      hash: hashContent(JSON.stringify(body)),
    };
  });
}

/** The IDs of objects that are not watched and stand or fall with this one. */
export function parseIds({ metadata }: KubeObject): readonly ObjectId[] {
  const text = metadata.annotations?.[UNWATCHED_OBJECTS] ?? "";
  return text.split(",").filter((id) => id !== "");
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

function formatIds(ids: readonly ObjectId[]): string {
  return ids.toSorted().join(",");
}

function toRank({ kind }: KubeObject): number {
  return KINDS.findIndex((one) => one.kind === kind);
}

function toBody(
  cluster: SipCluster,
  { service }: ServicePlan,
  body: KubeObject,
  names: Readonly<Record<string, string>>,
): KubeObject {
  const { apiVersion, kind } = SIP_CLUSTERS;
  const { name, uid = "" } = cluster.metadata;
  const { metadata } = body;
  return {
    ...body,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [SIP_CLUSTER_LABEL]: toClusterLabel(name) },
      annotations: { ...metadata.annotations, [SERVICE_ENTRY]: service, ...names },
      ownerReferences: [
        { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
  };
}
