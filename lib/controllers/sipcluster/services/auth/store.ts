/**
 * Whose the store of Dex is.
 *
 * Dex keeps its state once in each namespace, without the name of its issuer. From this store it takes requests of
 * logins, codes, device codes and refresh tokens of any Dex, and compares only some of them with the ID of a client. A
 * login at one provider would count at every other one in the namespace. So only one may run there, and it must not
 * start with what another one left.
 * @module
 */
import type { KubeClient } from "../../../../kube/api/client.ts";
import { isKubeError, KubeError } from "../../../../kube/api/errors.ts";
import { findServing } from "../../../../kube/cache/caches.ts";
import type { StoreReader } from "../../../../kube/cache/store.ts";
import type { KubeObject, ObjectMeta } from "../../../../kube/kinds/resource.ts";
import { describeCause } from "../../../kinds/problems.ts";
import { SIP_CLUSTERS, type SipCluster } from "../../resource/sip_cluster.ts";
import { toObjectName } from "../names.ts";
import { toWhole } from "./entry.ts";
import { DEX, DEX_GROUP, DEX_KINDS, DEX_VERSION } from "./words.ts";

/** An OIDC provider. */
interface Provider {
  /** Name of its SIPCluster. */
  readonly cluster: string;
  /** Name of its Deployment. */
  readonly name: string;
}

/** The store of a namespace. */
export interface DexStore {
  /** Whose it is. */
  readonly owner: Provider;
  /** Why the owner must not start. */
  readonly obstacle?: string;
}

/** Where {@linkcode readStore} looks. */
interface StoreSources {
  readonly client: KubeClient;
  /** Deployments and Services of SIPClusters: what Pods of tenants cannot write. */
  readonly made: readonly StoreReader<KubeObject>[];
  readonly clusters: StoreReader<SipCluster>;
}

/** A signing key is no login, and a token that it signed names the issuer. */
const WITHOUT_LOGINS: ReadonlySet<string> = new Set(["signingkeies"]);

/**
 * Finds out whose the store is in the namespace of a cluster: that of the provider which was made first, or else of the
 * provider in the oldest SIPCluster.
 *
 * @returns `undefined` if no provider runs or can run there
 * @throws {KubeError} if the API server does not answer
 */
export async function readStore(
  { client, made, clusters }: StoreSources,
  cluster: SipCluster,
  signal: AbortSignal,
): Promise<DexStore | undefined> {
  const { name, namespace = "" } = cluster.metadata;
  const isHere = ({ metadata }: KubeObject): boolean => metadata.namespace === namespace;
  const runs = findOldest(
    made.flatMap((view) => [...view.values()].filter(isHere).filter(isOfDex)),
  );
  if (runs !== undefined) {
    const owner = runs.metadata.ownerReferences?.find(({ controller }) => controller);
    return { owner: { cluster: owner?.name ?? "", name: runs.metadata.name } };
  }
  const others = [...clusters.values()].filter((one) => one.metadata.name !== name);
  const first = findOldest(
    [cluster, ...others].filter(isHere).filter((one) => findWholeEntry(one) >= 0),
  );
  if (first === undefined) return undefined;
  const { metadata } = first;
  const owner = {
    cluster: metadata.name,
    name: toObjectName(DEX, metadata.name, findWholeEntry(first)),
  };
  const obstacle = metadata.name === name && (await findLeftovers(client, namespace, signal));
  return { owner, ...(obstacle && { obstacle }) };
}

/** Why a provider must not run beside the owner of the store; `undefined` if it is the owner. */
export function findRival(
  store: DexStore | undefined,
  { cluster, name }: Provider,
): string | undefined {
  const { owner } = store ?? {};
  if (owner === undefined || (owner.cluster === cluster && owner.name === name)) return undefined;
  return (
    `Dex has one store in each namespace, and here it belongs to ${owner.name} of SIPCluster ${owner.cluster}. ` +
    "Logins there would count here, too. Move this entry to a SIPCluster in another namespace, or remove it"
  );
}

/** Says what another Dex left; `undefined` if the store has no logins. */
async function findLeftovers(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found: string[] = [];
  for (const [plural, kind] of Object.entries(DEX_KINDS)) {
    if (WITHOUT_LOGINS.has(plural)) continue;
    const apiVersion = `${DEX_GROUP}/${DEX_VERSION}`;
    const resource = { apiVersion, kind, plural, namespaced: true };
    try {
      const { items } = await client.list(resource, { namespace, limit: 1 }, signal);
      if (items.length > 0) found.push(`${plural}.${DEX_GROUP}`);
    } catch (error) {
      if (isKubeError(error, "forbidden"))
        return `Landfall must know whether another Dex left logins: ${describeCause(error)}`;
      // An older Dex has fewer kinds. A 404 alone does not prove that.
      const isMissing = error instanceof KubeError && error.code === 404;
      if (!isMissing || (await findServing(client, resource, signal)) === "served") throw error;
    }
  }
  if (found.length === 0) return undefined;
  return (
    "another Dex left its state in this namespace, and its logins would count here. If no other program needs it, " +
    `run kubectl -n ${namespace} delete ${found.join(",")} --all`
  );
}

/** Position of the first entry that can run; -1 if there is none. */
function findWholeEntry({ spec }: SipCluster): number {
  return spec?.services.auth?.findIndex((entry) => !("missing" in toWhole(entry))) ?? -1;
}

function isOfDex({ metadata: { labels, ownerReferences } }: KubeObject): boolean {
  const isOfCluster = ownerReferences?.some(
    ({ controller, kind }) => controller && kind === SIP_CLUSTERS.kind,
  );
  return labels?.["app.kubernetes.io/component"] === DEX && isOfCluster === true;
}

/** Of several that are as old, that with the first name. */
function findOldest<T extends KubeObject>(objects: readonly T[]): T | undefined {
  const toOrder = ({ creationTimestamp = "", name }: ObjectMeta): string =>
    `${creationTimestamp} ${name}`;
  return objects.toSorted(({ metadata: one }, { metadata: other }) =>
    toOrder(one) < toOrder(other) ? -1 : 1,
  )[0];
}
