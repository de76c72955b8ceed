/**
 * The objects of a plan as they are sent: in order, labelled and owned.
 * @module
 */
import type { KubeObject, Resource } from "../../../../kube/kinds/resource.ts";
import { SIP_CLUSTERS, type SipCluster } from "../../resource/sip_cluster.ts";
import { SERVICE_ENTRY, SIP_CLUSTER_LABEL } from "../../words.ts";
import { toAccountName, toClusterLabel } from "../names.ts";
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
