/**
 * The host key of a jump host: made once, and kept in a Secret, so that clients see the same key after every restart.
 *
 * Private keys have the format of OpenSSH (PROTOCOL.key), without a passphrase.
 * @module
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { describeCause } from "../../../kinds/problems.ts";
import { SIP_CLUSTERS, type SipCluster } from "../../resource/sip_cluster.ts";
import { type JumpHostNames, toJumpHostLabels, toJumpHostNames } from "./names.ts";
import { SshReader, toSshString, toUint32 } from "./ssh_wire.ts";
import { toClusterLabel } from "../names.ts";
import { SIP_CLUSTER_LABEL } from "../../words.ts";
import { type KubeClient, readIfPresent } from "../../../../kube/api/client.ts";
import { isKubeError } from "../../../../kube/api/errors.ts";
import {
  SECRETS,
  type Secret,
  findSecretText,
  toSecretData,
} from "../../../../kube/kinds/secret.ts";

const MAGIC = "openssh-key-v1\0";
const TYPE = "ssh-ed25519";
const NONE = "none";
/** The private part is filled up to a multiple of this. */
const BLOCK_BYTES = 8;
const LINE_LENGTH = 70;
const BEGIN = "-----BEGIN OPENSSH PRIVATE KEY-----";
const END = "-----END OPENSSH PRIVATE KEY-----";
/** Where the seed begins in PKCS #8 of an Ed25519 key, and the key in SPKI: both have a fixed length. */
const SEED_AT = 16;
const KEY_AT = 12;

/** Makes a new Ed25519 key. @param comment Written into the key; no secret */
export function createOpensshKey(comment: string): string {
  const pair = generateKeyPairSync("ed25519");
  const seed = pair.privateKey.export({ type: "pkcs8", format: "der" }).subarray(SEED_AT);
  const key = pair.publicKey.export({ type: "spki", format: "der" }).subarray(KEY_AT);
  // Equal numbers tell a program that it decrypted the key.
  const check = randomBytes(4);
  const secret = Buffer.concat([
    check,
    check,
    toSshString(TYPE),
    toSshString(key),
    toSshString(Buffer.concat([seed, key])),
    toSshString(comment),
  ]);
  const missing = (BLOCK_BYTES - (secret.length % BLOCK_BYTES)) % BLOCK_BYTES;
  const fill = Uint8Array.from({ length: missing }, (_, at) => at + 1);
  const whole = Buffer.concat([
    Buffer.from(MAGIC, "latin1"),
    toSshString(NONE),
    toSshString(NONE),
    toSshString(""),
    toUint32(1),
    toSshString(Buffer.concat([toSshString(TYPE), toSshString(key)])),
    toSshString(Buffer.concat([secret, fill])),
  ]);
  const lines = whole.toString("base64").match(new RegExp(`.{1,${LINE_LENGTH}}`, "g")) ?? [];
  return `${[BEGIN, ...lines, END].join("\n")}\n`;
}

/**
 * Reads the public part of a private key.
 *
 * @returns `ssh-ed25519 AAAA…`; `undefined` if this is not an Ed25519 key without a passphrase
 */
export function findPublicKey(text: string): string | undefined {
  const [first, ...lines] = text.trim().split(/\r?\n/);
  if (first !== BEGIN || lines.pop() !== END) return undefined;
  const reader = new SshReader(Buffer.from(lines.join(""), "base64"));
  if (reader.readBytes(MAGIC.length)?.toString("latin1") !== MAGIC) return undefined;
  const [cipher, derivation] = [reader.readString(), reader.readString()];
  if (cipher?.toString() !== NONE || derivation?.toString() !== NONE) return undefined;
  reader.readString();
  if (reader.readUint32() !== 1) return undefined;
  const key = reader.readString();
  if (key === undefined) return undefined;
  const inner = new SshReader(key);
  const isEd25519 = inner.readString()?.toString() === TYPE && inner.readString()?.length === 32;
  return isEd25519 && inner.isAtEnd ? `${TYPE} ${key.toString("base64")}` : undefined;
}

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
