/**
 * The Secrets of the BareMetalHost of a machine: its network data, and what its management controller accepts. Pure.
 *
 * A Secret is there before its host, and belongs to the Vino until then. Afterwards it belongs to the host: Kubernetes
 * deletes it with the host, and `clusterctl move` takes it along.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { MachineOwner } from "../../../cloud/capabilities/machines.ts";
import { hashContent, shortenName } from "../../../core/text/label.ts";
import { BARE_METAL_HOSTS, VINO_UID } from "../../../kube/kinds/bare_metal_host.ts";
import type { ObjectMeta, Resource, KubeObject } from "../../../kube/kinds/resource.ts";
import { type Secret, SECRETS, toSecretData } from "../../../kube/kinds/secret.ts";
import { isAsWanted } from "../../kinds/compare.ts";
import { VINOES } from "../resource/vino.ts";
import { toCredentialsName, toNetworkDataName } from "./names.ts";
import type { WantedHost } from "./types.ts";
import { VINO_NAME } from "./words.ts";

type OwnerReference = NonNullable<ObjectMeta["ownerReferences"]>[number];

/** A Secret as it must be. */
export interface WantedSecret {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: OwnerReference;
  /** In base64. */
  readonly data: Readonly<Record<string, string>>;
  /** Of all of it. */
  readonly hash: string;
}

/** The key of network data for metal3, and the one for what a management controller accepts. */
const KEYS = { networkData: "networkData", username: "username", password: "password" } as const;

/** What the Secrets of a host are made from. */
interface SecretInput {
  readonly owner: MachineOwner;
  readonly host: Pick<WantedHost, "name" | "bmc">;
  /** Of the BareMetalHost. Absent: it does not exist yet. */
  readonly hostUid: string | undefined;
  /** In the form of OpenStack. */
  readonly networkData: string;
}

/** The Secrets of a host, as they must be. */
export function toSecrets({ owner, host, hostUid, networkData }: SecretInput): WantedSecret[] {
  const { namespace, name, uid } = owner;
  const reference =
    hostUid === undefined
      ? toReference(VINOES, name, uid)
      : toReference(BARE_METAL_HOSTS, host.name, hostUid);
  const labels = { [VINO_UID]: uid, [VINO_NAME]: shortenName(name) };
  const toSecret = (secret: string, texts: Readonly<Record<string, string>>): WantedSecret => {
    const wanted = { name: secret, namespace, labels, owner: reference, data: toSecretData(texts) };
    return { ...wanted, hash: hashContent(JSON.stringify(wanted)) };
  };
  const { bmc } = host;
  return [
    toSecret(toNetworkDataName(host.name), { [KEYS.networkData]: networkData }),
    ...(bmc
      ? [
          toSecret(toCredentialsName(host.name), {
            [KEYS.username]: bmc.username,
            [KEYS.password]: bmc.password,
          }),
        ]
      : []),
  ];
}

/** What to do for a Secret. `taken`: something else has its name. */
type SecretVerdict =
  | { readonly kind: "asWanted" | "create" | "deleting" }
  | { readonly kind: "taken"; readonly why: string }
  | { readonly kind: "patch"; readonly body: object };

/** Judges a Secret. @param live As it was read; absent if it does not exist */
export function judgeSecret(live: Secret | undefined, wanted: WantedSecret): SecretVerdict {
  if (live === undefined) return { kind: "create" };
  const { labels, data, owner, name } = wanted;
  const { labels: now = {}, ownerReferences = [], deletionTimestamp } = live.metadata;
  if (now[VINO_UID] !== labels[VINO_UID]) {
    const why = now[VINO_UID] === undefined ? "exists, and" : "belongs to another Vino, and";
    return { kind: "taken", why: `Secret ${name} ${why} was not made for this Vino` };
  }
  if (deletionTimestamp !== undefined) return { kind: "deleting" };
  const owners = [...ownerReferences.filter((one) => !isOurs(one, wanted)), owner];
  const metadata = { name, labels };
  const body: KubeObject & Secret = { metadata, data };
  const isOwned = isSameOwners(ownerReferences, owners);
  if (isOwned && isAsWanted(live, body)) return { kind: "asWanted" };
  const { resourceVersion } = live.metadata;
  return {
    kind: "patch",
    body: { metadata: { resourceVersion, labels, ownerReferences: owners }, data },
  };
}

/** The Secret as it is created. */
export function toSecretBody({ name, namespace, labels, owner, data }: WantedSecret): object {
  const { apiVersion, kind } = SECRETS;
  const metadata = { name, namespace, labels, ownerReferences: [owner] };
  return { apiVersion, kind, metadata, type: "Opaque", data };
}

function toReference(
  { apiVersion, kind }: Resource<KubeObject>,
  name: string,
  uid: string,
): OwnerReference {
  return { apiVersion, kind, name, uid };
}

/** Whether Landfall set this owner: the Vino before there was a host, or a host of the same name. */
function isOurs({ kind, uid }: OwnerReference, { labels }: WantedSecret): boolean {
  return kind === BARE_METAL_HOSTS.kind || uid === labels[VINO_UID];
}

/** metal3 writes some fields of references to the host otherwise. */
function isSameOwners(one: readonly OwnerReference[], other: readonly OwnerReference[]): boolean {
  const toUids = (list: readonly OwnerReference[]): string[] =>
    list.map(({ uid }) => uid).toSorted();
  return isDeepStrictEqual(toUids(one), toUids(other));
}
