/**
 * The host key of a jump host: made once, and kept in a Secret, so that clients see the same key after every restart.
 * @module
 */
import { type KubeClient, readIfPresent } from "../../../../kube/api/client.ts";
import { isKubeError } from "../../../../kube/api/errors.ts";
import { describeCause } from "../../../kinds/problems.ts";
import { SIP_CLUSTERS, type SipCluster } from "../../resource/sip_cluster.ts";
import { SIP_CLUSTER_LABEL } from "../../words.ts";
import { toClusterLabel } from "../names.ts";
import {
  findSecretText,
  type Secret,
  SECRETS,
  toSecretData,
} from "../../../../kube/kinds/secret.ts";
import { type JumpHostNames, toJumpHostLabels, toJumpHostNames } from "./names.ts";
import { createOpensshKey, findPublicKey } from "./openssh_key.ts";

/** The file of the key in the Secret. */
export const HOST_KEY = "ssh_host_ed25519_key";

/** The public part of a host key as in known_hosts, `ssh-ed25519 AAAA…`, or why the Secret has none. */
export type HostKey = { readonly publicKey: string } | { readonly problem: string };

/**
 * Reads the host keys of all jump hosts of a cluster, one Secret each, and makes those that are missing. An existing
 * Secret is never replaced, so users can bring a key of their own.
 *
 * @returns By the name of the Secret
 * @throws {KubeError} if the API server does not answer. A missing right or a quota is a problem of that jump host
 */
export async function ensureHostKeys(
  client: Pick<KubeClient, "read" | "create">,
  cluster: SipCluster,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, HostKey>> {
  const keys = new Map<string, HostKey>();
  for (const index of cluster.spec?.services.jumpHost?.keys() ?? []) {
    const names = toJumpHostNames(cluster, index);
    keys.set(names.hostKeys, await ensureHostKey(client, cluster, names, signal));
  }
  return keys;
}

async function ensureHostKey(
  client: Pick<KubeClient, "read" | "create">,
  cluster: SipCluster,
  names: JumpHostNames,
  signal: AbortSignal,
): Promise<HostKey> {
  const { namespace = "" } = cluster.metadata;
  const path = { namespace, name: names.hostKeys };
  try {
    const secret =
      (await readIfPresent(client, SECRETS, path, signal)) ??
      (await createSecret(client, cluster, names, signal));
    return toHostKey(names.hostKeys, secret);
  } catch (error) {
    if (!isKubeError(error, "forbidden")) throw error;
    return { problem: `Secret ${names.hostKeys} cannot be read or made: ${describeCause(error)}` };
  }
}

async function createSecret(
  client: Pick<KubeClient, "read" | "create">,
  cluster: SipCluster,
  { name: jumpHost, hostKeys: name }: JumpHostNames,
  signal: AbortSignal,
): Promise<Secret> {
  const { name: owner, namespace = "", uid } = cluster.metadata;
  const { apiVersion, kind } = SIP_CLUSTERS;
  const body = {
    apiVersion: SECRETS.apiVersion,
    kind: SECRETS.kind,
    metadata: {
      name,
      namespace,
      labels: { ...toJumpHostLabels(jumpHost), [SIP_CLUSTER_LABEL]: toClusterLabel(owner) },
      ownerReferences: [
        { apiVersion, kind, name: owner, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    type: "Opaque",
    // Another key would look like an attack to every client.
    immutable: true,
    data: toSecretData({ [HOST_KEY]: createOpensshKey(name) }),
  };
  try {
    return await client.create(SECRETS, { namespace }, body, signal);
  } catch (error) {
    if (!isKubeError(error, "alreadyExists")) throw error;
    return await client.read(SECRETS, { namespace, name }, signal);
  }
}

function toHostKey(name: string, secret: Secret): HostKey {
  const publicKey = findPublicKey(findSecretText(secret, HOST_KEY) ?? "");
  if (publicKey !== undefined) return { publicKey };
  return {
    problem:
      `Secret ${name} has no Ed25519 key without a passphrase under ${HOST_KEY}. ` +
      "Landfall never replaces it: delete the Secret to get a new key",
  };
}
