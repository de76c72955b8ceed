/**
 * Reads what OIDC providers need to know of the Secrets that users name: whether they are there, in which version, and
 * the certificate of a CA. Nothing else of them is kept.
 * @module
 */
import type { Clock } from "../../../../core/clock.ts";
import { type KubeClient, readIfPresent } from "../../../../kube/api/client.ts";
import { type Key, toKey } from "../../../../kube/cache/store.ts";
import type { KubeObject, Resource } from "../../../../kube/kinds/resource.ts";
import type { Auth, SipCluster } from "../../resource/sip_cluster.ts";
import { findSecretText, type Secret, SECRETS } from "../../../../kube/kinds/secret.ts";
import { DEX_GROUP, DEX_VERSION } from "./words.ts";
import { findServing } from "../../../../kube/cache/caches.ts";

/** A Secret that an entry names. */
interface SecretFacts {
  /** Differs if the Secret differs. */
  readonly version: string;
  /** Names of its keys. */
  readonly keys: readonly string[];
  /** The certificates of its CA, as PEM: of `ca.crt`, and only of a Secret with a CA also of `tls.crt`. */
  readonly ca?: string;
}

/** What stands beside the SIPCluster. */
export interface AuthFacts {
  /** By name. A Secret that does not exist is absent. */
  readonly secrets: ReadonlyMap<string, SecretFacts>;
  /** Whether the API server has the kinds in which Dex keeps its state. */
  readonly hasDexKinds: boolean;
  /** When to read again, in milliseconds; `Infinity` without a provider. */
  readonly againMs: number;
}

/** How long an answer counts, and how long if something is missing. */
const CHECK_INTERVAL_MS = 600_000;
const MISSING_INTERVAL_MS = 60_000;
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** One of the kinds stands for all: one manifest brings them. */
const SOME_DEX_KIND: Resource<KubeObject> = {
  apiVersion: `${DEX_GROUP}/${DEX_VERSION}`,
  kind: "SigningKey",
  plural: "signingkeies",
  namespaced: true,
};

/** Reads Secrets by name, and again from time to time. */
export class AuthSecrets {
  readonly #client: KubeClient;
  readonly #clock: Clock;
  readonly #known = new Map<
    Key,
    { readonly facts: AuthFacts; readonly names: string; readonly untilMs: number }
  >();

  constructor(client: KubeClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Reads what the OIDC providers of a cluster need. Asks nothing if there are none, or the answer is known.
   *
   * @throws {KubeError} if the API server does not answer or refuses
   */
  async read(
    cluster: SipCluster,
    entries: readonly Auth[],
    signal: AbortSignal,
  ): Promise<AuthFacts> {
    const key = toKey(cluster);
    // An entry of the old form has nothing to run.
    const whole = entries.filter(({ configSecret, tlsSecret }) => configSecret && tlsSecret);
    if (whole.length === 0) {
      this.#known.delete(key);
      return { secrets: new Map(), hasDexKinds: true, againMs: Infinity };
    }
    const names = JSON.stringify(whole.map(listNames));
    const nowMs = this.#clock.monotonic();
    const known = this.#known.get(key);
    if (known?.names === names && nowMs < known.untilMs)
      return { ...known.facts, againMs: known.untilMs - nowMs };
    const facts = await this.#ask(cluster, whole, signal);
    this.#known.set(key, { facts, names, untilMs: nowMs + facts.againMs });
    return facts;
  }

  /** Forgets a cluster that is gone. */
  forget(cluster: Key): void {
    this.#known.delete(cluster);
  }

  async #ask(
    cluster: SipCluster,
    entries: readonly Auth[],
    signal: AbortSignal,
  ): Promise<AuthFacts> {
    const { namespace = "" } = cluster.metadata;
    const names = new Set(entries.flatMap(listNames));
    const authorities = new Set(entries.map(({ caSecret }) => caSecret));
    const secrets = new Map<string, SecretFacts>();
    for (const name of names) {
      const secret = await readIfPresent(this.#client, SECRETS, { namespace, name }, signal);
      if (secret) secrets.set(name, toFacts(secret, authorities.has(name)));
    }
    const hasDexKinds = (await findServing(this.#client, SOME_DEX_KIND, signal)) === "served";
    const isWhole = hasDexKinds && secrets.size === names.size;
    return { secrets, hasDexKinds, againMs: isWhole ? CHECK_INTERVAL_MS : MISSING_INTERVAL_MS };
  }
}

function listNames({ configSecret, tlsSecret, caSecret }: Auth): string[] {
  return [configSecret, tlsSecret, caSecret].filter((name) => name !== undefined);
}

function toFacts(secret: Secret, isAuthority: boolean): SecretFacts {
  const { metadata, data = {} } = secret;
  // A key pair of a CA has its certificate in tls.crt, where others have the one of a server.
  const [first, second] = ["ca.crt", "tls.crt"].map((key) => findSecretText(secret, key));
  const ca = (first ?? (isAuthority ? second : undefined))
    ?.match(CERTIFICATES)
    ?.map((one) => `${one}\n`)
    .join("");
  return {
    version: `${metadata.uid}/${metadata.resourceVersion}`,
    keys: Object.keys(data).toSorted(),
    ...(ca !== undefined && { ca }),
  };
}
