/**
 * Reads what OIDC providers need to know of the Secrets that users name: whether they are there, a hash of what Dex
 * reads, and certificates. Nothing else of them is kept, and no key.
 * @module
 */
import { createHash, createPrivateKey, X509Certificate } from "node:crypto";
import type { Clock } from "../../../../core/clock.ts";
import { type KubeClient, readIfPresent } from "../../../../kube/api/client.ts";
import { type Key, toKey } from "../../../../kube/cache/store.ts";
import type { KubeObject, Resource } from "../../../../kube/kinds/resource.ts";
import type { Auth, SipCluster } from "../../resource/sip_cluster.ts";
import { findSecretText, type Secret, SECRETS } from "../../../../kube/kinds/secret.ts";
import { CONFIG_KEY, DEX_GROUP, DEX_VERSION, TLS_KEYS } from "./words.ts";
import { findServing } from "../../../../kube/cache/caches.ts";

/** A Secret that an entry names. */
interface SecretFacts {
  /**
   * Differs if what Dex reads differs. The UID is in it: without the right to read the Secret, no one can try what the
   * content may be.
   */
  readonly version: string;
  /** Names of its keys. */
  readonly keys: readonly string[];
  /** The certificate in `tls.crt`. Absent: there is none that can be read. */
  readonly certificate?: X509Certificate;
  /** Whether `tls.key` is the key of that certificate. */
  readonly isPair: boolean;
  /** The certificates of its CA, as PEM: of `ca.crt`, and only of a Secret with a CA also of `tls.crt`. */
  readonly ca?: string;
  /** Which of those is none: an API server does not start with it. Absent: all can be read. */
  readonly damagedCa?: string;
}

/** What stands beside the SIPCluster. */
export interface AuthFacts {
  /** By name. A Secret that does not exist is absent. */
  readonly secrets: ReadonlyMap<string, SecretFacts>;
  /** Whether the API server has the kinds in which Dex keeps its state. */
  readonly hasDexKinds: boolean;
  /** When this was read, in milliseconds since 1970: certificates end. */
  readonly nowMs: number;
  /** When to read again, in milliseconds; `Infinity` without a provider. */
  readonly againMs: number;
}

/** How long an answer counts, and how long if something is missing. */
const CHECK_INTERVAL_MS = 600_000;
const MISSING_INTERVAL_MS = 60_000;
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** Of a cluster without a provider. */
export const NO_AUTH: AuthFacts = {
  secrets: new Map(),
  hasDexKinds: true,
  nowMs: 0,
  againMs: Infinity,
};

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
      return NO_AUTH;
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
    const againMs = isWhole ? CHECK_INTERVAL_MS : MISSING_INTERVAL_MS;
    return { secrets, hasDexKinds, nowMs: this.#clock.now(), againMs };
  }
}

function listNames({ configSecret, tlsSecret, caSecret }: Auth): string[] {
  return [configSecret, tlsSecret, caSecret].filter((name) => name !== undefined);
}

function toFacts(secret: Secret, isAuthority: boolean): SecretFacts {
  const { metadata, data = {} } = secret;
  const [crt, key] = TLS_KEYS.map((name) => findSecretText(secret, name));
  const certificate = parseCertificate(crt);
  // A key pair of a CA has its certificate in tls.crt, where others have the one of a server.
  const blocks = (findSecretText(secret, "ca.crt") ?? (isAuthority ? crt : undefined))?.match(
    CERTIFICATES,
  );
  const certificates = blocks?.map(parseCertificate) ?? [];
  const damaged = certificates.indexOf(undefined);
  const read = [CONFIG_KEY, ...TLS_KEYS].map((name) => data[name] ?? "");
  return {
    version: createHash("sha256")
      .update(JSON.stringify([metadata.uid, ...read]))
      .digest("hex"),
    keys: Object.keys(data).toSorted(),
    ...(certificate && { certificate }),
    isPair: certificate !== undefined && isKeyOf(certificate, key),
    ...(certificates.length > 0 && { ca: certificates.map((one) => one?.toString()).join("") }),
    ...(damaged >= 0 && { damagedCa: `certificate ${damaged + 1} of ${certificates.length}` }),
  };
}

/** The first certificate of a text. @returns `undefined` if it has none that can be read */
function parseCertificate(pem = ""): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function isKeyOf(certificate: X509Certificate, pem = ""): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(pem));
  } catch {
    // Nothing of the error is shown: it is about a key.
    return false;
  }
}
