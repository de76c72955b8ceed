/**
 * Keeps the Secrets of hosts as they must be. They are read one by one, when they are made and from time to time: a
 * watch would need the right to read all Secrets of the cluster.
 * @module
 */
import type { Clock } from "../../../../core/clock.ts";
import { type KubeClient, readIfPresent } from "../../../../kube/api/client.ts";
import { isKubeError, KubeError } from "../../../../kube/api/errors.ts";
import { type Secret, SECRETS, toSecretData } from "../../../../kube/kinds/secret.ts";
import { describeRefusal } from "../../../kinds/problems.ts";
import type { HostState } from "../../resource/vino_machine.ts";
import { isDeepStrictEqual } from "node:util";
import type { MachineOwner } from "../../../../cloud/capabilities/machines.ts";
import { hashContent, shortenName } from "../../../../core/text/label.ts";
import { BARE_METAL_HOSTS, VINO_UID } from "../../../../kube/kinds/bare_metal_host.ts";
import type { ObjectMeta, Resource, KubeObject } from "../../../../kube/kinds/resource.ts";
import { isAsWanted } from "../../../kinds/compare.ts";
import { VINOES } from "../../resource/vino.ts";
import { toCredentialsName, toNetworkDataName } from "../names.ts";
import type { WantedHost } from "../types.ts";
import { VINO_NAME } from "../words.ts";

/** Why a Secret is not as wanted. */
export interface SecretProblem {
  readonly state: HostState;
  /** A sentence without a full stop, without content of the Secret. */
  readonly message: string;
}

/**
 * How often a Secret is read: then what others changed or deleted comes back. To watch Secrets, a process must be able
 * to read all of the cluster, which is worse. 500 hosts with management controllers cost 3 small requests a second.
 */
export const CHECK_INTERVAL_MS = 300_000;
/** Secrets that are due soon are read together. */
const DUE_MS = CHECK_INTERVAL_MS * 0.8;

/** What is known of a Secret since it was last written or read. */
interface Known {
  readonly hash: string;
  /** Monotonic milliseconds. */
  readonly atMs: number;
}

/** Keeps Secrets. It knows nothing after a start: then they are read. */
export class SecretWriter {
  readonly #client: Pick<KubeClient, "read" | "create" | "patch">;
  readonly #clock: Clock;
  /** By the UID of the Vino and the name. */
  readonly #vinoes = new Map<string, Map<string, Known>>();

  constructor(client: Pick<KubeClient, "read" | "create" | "patch">, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Brings a Secret to what is wanted. Asks nothing if it was so a short time ago.
   *
   * @param isNew Whether it probably does not exist
   * @returns Why it is not as wanted; `undefined` if it is
   * @throws {KubeError} if another try may help
   */
  async ensure(
    vinoUid: string,
    wanted: WantedSecret,
    isNew: boolean,
    signal: AbortSignal,
  ): Promise<SecretProblem | undefined> {
    if (this.#ageMs(vinoUid, wanted) < DUE_MS) return undefined;
    try {
      const isMade = isNew && (await this.#create(wanted, signal));
      const problem = isMade ? undefined : await this.#settle(wanted, signal);
      if (problem === undefined) this.#note(vinoUid, wanted);
      return problem;
    } catch (error) {
      return toProblem(error, wanted);
    }
  }

  /** Forgets a Vino that is gone. */
  forget(vinoUid: string): void {
    this.#vinoes.delete(vinoUid);
  }

  /** @returns Whether it did not exist */
  async #create(wanted: WantedSecret, signal: AbortSignal): Promise<boolean> {
    const { namespace } = wanted;
    try {
      await this.#client.create(SECRETS, { namespace }, toSecretBody(wanted), signal);
      return true;
    } catch (error) {
      if (isKubeError(error, "alreadyExists")) return false;
      throw error;
    }
  }

  async #settle(wanted: WantedSecret, signal: AbortSignal): Promise<SecretProblem | undefined> {
    const { namespace, name } = wanted;
    const path = { namespace, name };
    const live: Secret | undefined = await readIfPresent(this.#client, SECRETS, path, signal);
    const verdict = judgeSecret(live, wanted);
    switch (verdict.kind) {
      case "asWanted":
        return undefined;
      case "create": {
        const isMade = await this.#create(wanted, signal);
        return isMade ? undefined : waits(`Secret ${name} was made by something else`);
      }
      case "deleting":
        return waits(`Secret ${name} is being deleted, and is made again then`);
      case "taken":
        return { state: "NameTaken", message: verdict.why };
      case "patch":
        return await this.#patch(wanted, verdict.body, signal);
    }
  }

  /** The garbage collector may take a Secret between the read and this. */
  async #patch(
    { namespace, name }: WantedSecret,
    body: object,
    signal: AbortSignal,
  ): Promise<SecretProblem | undefined> {
    try {
      await this.#client.patch(SECRETS, { namespace, name }, { type: "merge", body }, signal);
      return undefined;
    } catch (error) {
      if (!isKubeError(error, "notFound")) throw error;
      return waits(`Secret ${name} was deleted, and is made again`);
    }
  }

  #ageMs(vinoUid: string, { name, hash }: WantedSecret): number {
    const known = this.#vinoes.get(vinoUid)?.get(name);
    return known?.hash === hash ? this.#clock.monotonic() - known.atMs : Infinity;
  }

  #note(vinoUid: string, { name, hash }: WantedSecret): void {
    const secrets = this.#vinoes.get(vinoUid) ?? new Map<string, Known>();
    secrets.set(name, { hash, atMs: this.#clock.monotonic() });
    this.#vinoes.set(vinoUid, secrets);
  }
}

function waits(message: string): SecretProblem {
  return { state: "Publishing", message };
}

/** @throws all errors that another try may end */
function toProblem(error: unknown, { name }: WantedSecret): SecretProblem {
  if (isKubeError(error, "conflict"))
    return { state: "Publishing", message: `Secret ${name} was changed by something else` };
  const isFinal = ["forbidden", "invalid", "notFound"].some(
    (kind) => error instanceof KubeError && error.kind === kind,
  );
  if (!isFinal || !(error instanceof KubeError)) throw error;
  return {
    state: "Refused",
    message: `Secret ${name} is refused: ${describeRefusal(error, SECRETS.kind)}`,
  };
}

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
