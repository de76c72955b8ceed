/**
 * Writes the labels by which a cluster has a host. Each write is for the host as it was read, so that two programs
 * never take the same host.
 * @module
 */
import { assert } from "../../../core/errors.ts";
import { type KubeClient, readIfPresent } from "../../../kube/api/client.ts";
import { isKubeError, KubeError } from "../../../kube/api/errors.ts";
import { type Key, toKey } from "../../../kube/cache/store.ts";
import { findDamage, trimObject } from "../../../kube/kinds/resource.ts";
import type { Assignment } from "../schedule/types.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE, NODE_TYPE, STANDBY } from "../words.ts";
import {
  BARE_METAL_HOSTS,
  type BareMetalHost,
  PAUSED,
} from "../../../kube/kinds/bare_metal_host.ts";
import {
  findLabelled,
  hasConsumer,
  hasSameLabels,
  holdsDeletion,
  isLabelled,
  toHostFacts,
} from "./facts.ts";

/**
 * How a write ended.
 *
 * - `done`: the host is as wanted, by this write or before it
 * - `lost`: another program was quicker; `why` says what it did. Decide again
 * - `kept`: the host must not be given back or changed now; `why` says what prevents it
 * - `gone`: the host does not exist any more
 */
export type ClaimResult =
  | { readonly kind: "done"; readonly host: BareMetalHost }
  | { readonly kind: "lost"; readonly why: string }
  | { readonly kind: "kept"; readonly why: string }
  | { readonly kind: "gone" };

/**
 * Which hosts keep their labels.
 *
 * - `inUse`: with a consumer, or with an image on it
 * - `occupied`: with a consumer, or with an image that metal3 put on it
 * - `paused`: only paused hosts. All others keep paused hosts, too
 * - `none`: no host
 */
export type Sparing = "inUse" | "occupied" | "paused" | "none";

/** What {@linkcode HostClaims} need. */
interface HostClaimsOptions {
  readonly client: Pick<KubeClient, "read" | "patch">;
}

/** Labels to write; `null` removes one. */
type ClaimLabels = Readonly<Record<string, string | null>>;
/** What the state of a host calls for. */
type Verdict = ClaimResult | { readonly kind: "write"; readonly labels: ClaimLabels };

const NO_CLAIM: ClaimLabels = {
  [CLUSTER_NAMESPACE]: null,
  [CLUSTER_NAME]: null,
  [NODE_TYPE]: null,
  [STANDBY]: null,
};

/** The claims of one cluster. Every method throws {@linkcode KubeError} if Kubernetes refuses for another reason. */
export class HostClaims {
  readonly #options: HostClaimsOptions;
  readonly #cluster: Key;

  /** @param cluster `namespace/name` */
  constructor(cluster: Key, options: HostClaimsOptions) {
    this.#cluster = cluster;
    this.#options = options;
  }

  /**
   * Takes a host that no cluster has.
   *
   * @param host The host that the decision is for
   */
  take(
    host: BareMetalHost,
    assignment: Pick<Assignment, "role" | "standby">,
    signal: AbortSignal,
  ): Promise<ClaimResult> {
    const labels = this.#toLabels(assignment);
    const check = (seen: BareMetalHost): Verdict => {
      if (hasLabels(seen, labels)) return { kind: "done", host: seen };
      const { labels: now = {} } = seen.metadata;
      if (isLabelled(now)) {
        return { kind: "lost", why: `labelled for ${findLabelled(now) ?? "another"}` };
      }
      const { trouble } = toHostFacts(seen);
      if (trouble !== undefined) return { kind: "lost", why: trouble };
      const isSame = hasSameLabels(now, host.metadata.labels ?? {});
      return isSame ? { kind: "write", labels } : { kind: "lost", why: "its labels changed" };
    };
    return this.#write(host, check, signal);
  }

  /** Gives a host of the cluster back: removes all labels of the claim. Reads the host first. */
  async giveBack(host: BareMetalHost, spares: Sparing, signal: AbortSignal): Promise<ClaimResult> {
    const check = (seen: BareMetalHost): Verdict => {
      const { labels } = seen.metadata;
      const isOthers = (findLabelled(labels) ?? this.#cluster) !== this.#cluster;
      if (isOthers || hasLabels(seen, NO_CLAIM)) return { kind: "done", host: seen };
      const why = findKeeper(seen, spares);
      return why === undefined ? { kind: "write", labels: NO_CLAIM } : { kind: "kept", why };
    };
    const fresh = await this.#read(host, signal);
    return fresh === undefined ? { kind: "gone" } : this.#write(fresh, check, signal);
  }

  /**
   * Writes the labels of a host that the cluster records, unless it is paused.
   *
   * @param isMoved Whether it gets another role, which a host in use does not
   */
  assign(
    host: BareMetalHost,
    {
      isMoved,
      ...assignment
    }: Pick<Assignment, "role" | "standby"> & { readonly isMoved: boolean },
    signal: AbortSignal,
  ): Promise<ClaimResult> {
    const labels = this.#toLabels(assignment);
    const check = (seen: BareMetalHost): Verdict => {
      if (hasLabels(seen, labels)) return { kind: "done", host: seen };
      if (isPaused(seen)) return { kind: "kept", why: "paused" };
      // What runs on it was installed for the other role.
      const isHeld = isMoved && toHostFacts(seen).isInUse;
      return isHeld ? { kind: "kept", why: "in use" } : { kind: "write", labels };
    };
    return this.#write(host, check, signal);
  }

  #toLabels({ role, standby }: Pick<Assignment, "role" | "standby">): ClaimLabels {
    const [namespace = "", name = ""] = this.#cluster.split("/");
    return {
      [CLUSTER_NAMESPACE]: namespace,
      [CLUSTER_NAME]: name,
      [NODE_TYPE]: role,
      // Also removes what is left of another cluster.
      [STANDBY]: standby ? "true" : null,
    };
  }

  /** Writes what `check` asks for; after a conflict once more, for the host as it is then. */
  async #write(
    host: BareMetalHost,
    check: (seen: BareMetalHost) => Verdict,
    signal: AbortSignal,
  ): Promise<ClaimResult> {
    let seen = host;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const verdict = check(seen);
      if (verdict.kind !== "write") return verdict;
      try {
        return { kind: "done", host: await this.#patch(seen, verdict.labels, signal) };
      } catch (error) {
        if (isKubeError(error, "notFound")) return { kind: "gone" };
        if (!isKubeError(error, "conflict")) throw error;
      }
      const fresh = await this.#read(seen, signal);
      if (fresh === undefined) return { kind: "gone" };
      seen = fresh;
    }
    const verdict = check(seen);
    return verdict.kind === "write" ? { kind: "lost", why: "changed by another program" } : verdict;
  }

  async #patch(
    host: BareMetalHost,
    labels: ClaimLabels,
    signal: AbortSignal,
  ): Promise<BareMetalHost> {
    const { namespace = "", name, resourceVersion } = host.metadata;
    assert(resourceVersion !== undefined, "Cannot label a host: its version is not known");
    const body = { metadata: { resourceVersion, labels } };
    const patch = { type: "merge", body } as const;
    const path = { namespace, name };
    return toUsable(await this.#options.client.patch(BARE_METAL_HOSTS, path, patch, signal));
  }

  /** @returns `undefined` if the host is gone, or another one has its name */
  async #read(before: BareMetalHost, signal: AbortSignal): Promise<BareMetalHost | undefined> {
    const { namespace = "", name, uid } = before.metadata;
    const { client } = this.#options;
    const host = await readIfPresent(client, BARE_METAL_HOSTS, { namespace, name }, signal);
    return host && host.metadata.uid === uid ? toUsable(host) : undefined;
  }
}

function toUsable(answer: BareMetalHost): BareMetalHost {
  const hasVersion = answer.metadata.resourceVersion !== undefined;
  const damage = hasVersion ? findDamage(BARE_METAL_HOSTS, answer) : "it has no version";
  if (damage === undefined) return trimObject(BARE_METAL_HOSTS, answer);
  throw new KubeError("unavailable", `Cannot use BareMetalHost "${toKey(answer)}": ${damage}`);
}

/** The first write, and one more after a conflict. */
const TRIES_MAX = 2;

/** Whether a host has these labels; `null` is the absence of one. */
function hasLabels({ metadata }: BareMetalHost, labels: ClaimLabels): boolean {
  const { labels: now = {} } = metadata;
  return Object.entries(labels).every(([key, value]) => (now[key] ?? null) === value);
}

/** Why a host keeps its labels; `undefined` if it does not. */
export function findKeeper(host: BareMetalHost, spares: Sparing): string | undefined {
  if (spares === "none") return undefined;
  if (isPaused(host)) return "paused";
  if (spares === "paused") return undefined;
  if (hasConsumer(host)) return "used by a consumer";
  const isKept = spares === "inUse" ? toHostFacts(host).isInUse : holdsDeletion(host);
  return isKept ? "provisioned" : undefined;
}

function isPaused({ metadata }: BareMetalHost): boolean {
  return PAUSED in (metadata.annotations ?? {});
}
