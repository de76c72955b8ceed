/**
 * Reads the network data of hosts: only the Secrets that hosts name, one by one.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../core/clock.ts";
import { forEachAtOnce } from "../../../core/concurrency.ts";
import { remember } from "../../../core/maps.ts";
import type { KubeClient } from "../../../kube/api/client.ts";
import { isKubeError, isRefusal } from "../../../kube/api/errors.ts";
import { type Key, toKey } from "../../../kube/cache/store.ts";
import { describeCause } from "../../kinds/problems.ts";
import { isFields } from "../../../core/text/values.ts";
import { SECRETS } from "../../../kube/kinds/secret.ts";
import type { BareMetalHost } from "../../../kube/kinds/bare_metal_host.ts";
import {
  type AddressResult,
  type NetworkData,
  type NetworkDataProblem,
  parseNetworkData,
  TEXT_LENGTH_MAX,
  toAddresses,
} from "./network_data.ts";

/** What an {@linkcode AddressReader} needs. */
interface AddressReaderOptions {
  readonly client: Pick<KubeClient, "read">;
  readonly clock: Clock;
  /** How often the network data of a host is read again, even without a change of the host, in milliseconds. */
  readonly periodMs: number;
  /** Source of randomness in [0, 1). @default {Math.random} */
  readonly random?: () => number;
}

/** What a host says about its networks, or why that is not known. */
export type HostNetworks = NetworkData | NetworkDataProblem;

/** Where a Secret is. */
interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

interface Remembered {
  readonly source: ObjectName;
  readonly uid: string | undefined;
  /** Changes with `spec`, which names the Secret. */
  readonly generation: number | undefined;
  readonly networks: HostNetworks;
  /** What a Secret of the host said last. Absent: none could be read since the start of the process. */
  readonly last?: NetworkData;
  /** In monotonic milliseconds. */
  readonly untilMs: number;
}

/** Hosts to remember: as many as a large site has. */
const HOSTS_MAX = 10_000;
/** Secrets that are read at once. */
const READS_MAX = 8;
const INTERNAL_ERROR = 500;
/** Share of a pause by which it may be longer. */
const JITTER = 0.25;
/** What a preprovisioning image may take, and a load balancer cannot: it has no IDs of networks. */
const NMSTATE = "network data in the form of nmstate, not of OpenStack";

/**
 * The networks of hosts, as their Secrets say.
 *
 * A Secret is read again if `spec` of its host changes, and after half a period. A cluster that is reconciled once in a
 * period therefore sees every change within it, and all its hosts are read at once. 100 clusters with 10 hosts and a
 * period of 10 min make 1.7 requests per second. What a cluster misses, `MissedHosts` read much sooner.
 */
export class AddressReader {
  readonly #options: AddressReaderOptions;
  readonly #hosts = new Map<Key, Remembered>();

  constructor(options: AddressReaderOptions) {
    this.#options = options;
  }

  /**
   * Reads what is not known of some hosts.
   *
   * @returns The networks by the key of the host
   * @throws {KubeError} if a Secret cannot be read, which says nothing about its content. A missing Secret is a problem
   * of the host
   */
  async readAll(
    hosts: Iterable<BareMetalHost>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Key, HostNetworks>> {
    return await this.#readEach(hosts, signal, (error) => {
      throw error;
    });
  }

  /**
   * Reads what is not known of hosts that a cluster might take. A Secret that the API server does not show is a problem
   * of its host: there are others.
   *
   * @throws {KubeError} if the API server does not serve at all
   */
  async readFree(
    hosts: Iterable<BareMetalHost>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Key, HostNetworks>> {
    return await this.#readEach(hosts, signal, toUnreadable);
  }

  /**
   * The addresses of a host, or why it cannot have them, as far as that is known without a request.
   *
   * @param networks IDs of the networks on which it needs an address
   */
  findKnown(host: BareMetalHost, networks: readonly string[]): AddressResult | undefined {
    const known = networks.length > 0 ? this.#find(host) : undefined;
    return known && toAddresses(known, networks);
  }

  /**
   * What a Secret of a host said the last time that one could be read: the host did not change because its Secret is
   * gone.
   *
   * @returns `undefined` if none could be read since the start of the process
   */
  findLast(host: BareMetalHost): NetworkData | undefined {
    const known = this.#hosts.get(toKey(host));
    return known?.uid === host.metadata.uid ? known?.last : undefined;
  }

  /**
   * Reads the Secret of a host again that was read before.
   *
   * @returns Whether it says something else now
   * @throws {KubeError} if it cannot be read
   */
  async readAgain(key: Key, signal: AbortSignal): Promise<boolean> {
    const known = this.#hosts.get(key);
    if (known === undefined) return false;
    const networks = await this.#fetch(known.source, signal);
    // A reconcile may have been quicker.
    if (this.#hosts.get(key) !== known || isDeepStrictEqual(networks, known.networks)) return false;
    this.#remember(key, known, networks);
    return true;
  }

  /** When to reconcile a cluster again, in milliseconds from now. Not all clusters are read at the same time. */
  toPauseMs(): number {
    const { periodMs, random = Math.random } = this.#options;
    return periodMs * (1 + JITTER * random());
  }

  /** What is known of a host and not too old. */
  #find(host: BareMetalHost): HostNetworks | undefined {
    const source = findSource(host);
    if ("problem" in source) return source;
    const known = this.#hosts.get(toKey(host));
    const isKnown =
      known !== undefined &&
      known.uid === host.metadata.uid &&
      known.generation === host.metadata.generation &&
      this.#options.clock.monotonic() < known.untilMs;
    return isKnown ? known.networks : undefined;
  }

  /** @param judge Says what an error means for its host, or throws it */
  async #readEach(
    hosts: Iterable<BareMetalHost>,
    signal: AbortSignal,
    judge: (error: unknown) => NetworkDataProblem,
  ): Promise<ReadonlyMap<Key, HostNetworks>> {
    const found = new Map<Key, HostNetworks>();
    await forEachAtOnce(hosts, { atOnce: READS_MAX, signal }, async (host, both) => {
      found.set(toKey(host), await this.#readOne(host, both, judge));
    });
    return found;
  }

  async #readOne(
    host: BareMetalHost,
    signal: AbortSignal,
    judge: (error: unknown) => NetworkDataProblem,
  ): Promise<HostNetworks> {
    const fresh = this.#find(host);
    if (fresh !== undefined) return fresh;
    const source = findSource(host);
    if ("problem" in source) return source;
    const networks = await this.#fetch(source, signal).catch(judge);
    const { uid, generation } = host.metadata;
    this.#remember(toKey(host), { source, uid, generation }, networks);
    return networks;
  }

  #remember(
    key: Key,
    { source, uid, generation }: Pick<Remembered, "source" | "uid" | "generation">,
    networks: HostNetworks,
  ): void {
    const { periodMs, clock } = this.#options;
    const before = this.#hosts.get(key);
    const known = before?.uid === uid ? before?.last : undefined;
    const last = "problem" in networks ? known : networks;
    const untilMs = clock.monotonic() + periodMs / 2;
    const now = { source, uid, generation, networks, untilMs, ...(last && { last }) };
    remember(this.#hosts, key, now, HOSTS_MAX);
  }

  async #fetch(source: ObjectName, signal: AbortSignal): Promise<HostNetworks> {
    try {
      const { data } = await this.#options.client.read(SECRETS, source, signal);
      const { networkData, value, nmstate } = isFields(data) ? data : {};
      const encoded = networkData ?? value;
      if (typeof encoded !== "string" || encoded === "") {
        const problem =
          nmstate === undefined ? "no text in the key networkData of its Secret" : NMSTATE;
        return { problem };
      }
      // Base64 takes four characters for three.
      if (encoded.length > TEXT_LENGTH_MAX * 2) return { problem: "network data is too long" };
      return parseNetworkData(Buffer.from(encoded, "base64").toString("utf8"));
    } catch (error) {
      if (isKubeError(error, "notFound")) return { problem: "no Secret with its network data" };
      throw error;
    }
  }
}

/** @throws the error, unless it is about one Secret: a right is missing, or its content cannot be decrypted */
function toUnreadable(error: unknown): NetworkDataProblem {
  const isOfOne = isKubeError(error, "unavailable") && error.code === INTERNAL_ERROR;
  if (!isOfOne && !isRefusal(error)) throw error;
  return { problem: "network data that the API server does not show", cause: describeCause(error) };
}

/** The name of the Secret that a host names for its network data; `undefined` if it names none that is read. */
export function findSecretName(host: BareMetalHost): string | undefined {
  const source = findSource(host);
  return "problem" in source ? undefined : source.name;
}

/** The Secret with the network data of a host. */
function findSource({ metadata, spec = {} }: BareMetalHost): ObjectName | NetworkDataProblem {
  const { namespace = "" } = metadata;
  const { networkData, preprovisioningNetworkDataName } = spec;
  // One of the host's own namespace may be written out. No other tenant's Secret is ever read.
  const place = networkData?.namespace || namespace;
  if (place !== namespace) return { problem: "network data in another namespace" };
  const name = networkData ? networkData.name : preprovisioningNetworkDataName;
  return name ? { namespace, name } : { problem: "no network data" };
}
