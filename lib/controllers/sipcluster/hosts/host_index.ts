/**
 * Which cluster has which hosts, which are free, and which clusters to look at when a host changes.
 * @module
 */
import type { KeySource } from "../../../engine/object_loop.ts";
import type { Key, StoreReader } from "../../../kube/cache/store.ts";
import type { HostFacts } from "../schedule/types.ts";
import type { BareMetalHost } from "../../../kube/kinds/bare_metal_host.ts";
import {
  findOwner,
  hasConsumer,
  hasSameFacts,
  holdsDeletion,
  isTaken,
  toHostFacts,
} from "./facts.ts";

/** What is kept of a host. */
interface Entry {
  readonly facts: HostFacts;
  readonly owner: Key | undefined;
  readonly isFree: boolean;
  /**
   * What counts besides facts: its UID, the Secrets that its addresses come from, whether it has a consumer, and
   * whether a cluster that is being deleted waits for it.
   */
  readonly rest: string;
}

/**
 * The hosts by cluster, in step with the store, so that no reconcile looks at all of them.
 *
 * As a {@linkcode KeySource}: a change of a host names the cluster that had it and the one that has it now. A host that
 * can be taken now, or was changed while it can, names the clusters that wait for hosts. Changes that alter no fact,
 * such as a new hardware report, name none.
 */
export class HostIndex implements KeySource {
  readonly reader: StoreReader<BareMetalHost>;
  readonly #entries = new Map<Key, Entry>();
  readonly #byCluster = new Map<Key, Map<Key, HostFacts>>();
  readonly #free = new Map<Key, HostFacts>();
  readonly #ownerless = new Map<Key, HostFacts>();
  readonly #waiting = new Map<Key, (host: HostFacts) => boolean>();
  readonly #listeners = new Set<(keys: Iterable<Key>) => void>();

  /** Follows the hosts from now on, for as long as they are watched. */
  constructor(hosts: StoreReader<BareMetalHost>) {
    this.reader = hosts;
    hosts.subscribe((key) => this.#update(key));
  }

  subscribe(listener: (keys: Iterable<Key>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The hosts with the labels of a cluster, also those whose other labels are wrong. */
  listOf(cluster: Key): Iterable<HostFacts> {
    return this.#byCluster.get(cluster)?.values() ?? [];
  }

  /** The hosts that no cluster has, whether or not they can be taken. */
  listFree(): Iterable<HostFacts> {
    return this.#free.values();
  }

  /** The hosts that count as taken, but whose labels name no cluster completely. No cluster has them. */
  listOwnerless(): Iterable<HostFacts> {
    return this.#ownerless.values();
  }

  /** The hosts that other clusters have. */
  *listOfOthers(cluster: Key): Iterable<HostFacts> {
    for (const [owner, hosts] of this.#byCluster) if (owner !== cluster) yield* hosts.values();
  }

  /** The facts of a host. */
  findFacts(key: Key): HostFacts | undefined {
    return this.#entries.get(key)?.facts;
  }

  find(key: Key): BareMetalHost | undefined {
    return this.reader.get(key);
  }

  /**
   * Notes that a cluster needs more hosts than it has.
   *
   * @param wants Whether it could use a host. @default {it could use any}
   */
  wait(cluster: Key, wants: (host: HostFacts) => boolean = () => true): void {
    this.#waiting.set(cluster, wants);
  }

  /** Notes that a cluster has what it needs, or is gone. */
  stopWaiting(cluster: Key): void {
    this.#waiting.delete(cluster);
  }

  #update(key: Key): void {
    const host = this.find(key);
    const before = this.#entries.get(key);
    const after = host && toEntry(host, before);
    if (before === after) return;
    if (before !== undefined) this.#remove(key, before);
    if (after !== undefined) this.#add(key, after);
    this.#tell(before, after);
  }

  #add(key: Key, entry: Entry): void {
    const { facts, owner, isFree } = entry;
    this.#entries.set(key, entry);
    if (isFree) this.#free.set(key, facts);
    if (owner === undefined) {
      if (!isFree) this.#ownerless.set(key, facts);
      return;
    }
    const hosts = this.#byCluster.get(owner) ?? new Map<Key, HostFacts>();
    this.#byCluster.set(owner, hosts.set(key, facts));
  }

  #remove(key: Key, { owner }: Entry): void {
    this.#entries.delete(key);
    this.#free.delete(key);
    this.#ownerless.delete(key);
    if (owner === undefined) return;
    const hosts = this.#byCluster.get(owner);
    hosts?.delete(key);
    if (hosts?.size === 0) this.#byCluster.delete(owner);
  }

  #tell(before: Entry | undefined, after: Entry | undefined): void {
    if (this.#listeners.size === 0) return;
    const keys = new Set<Key>();
    if (before?.owner !== undefined) keys.add(before.owner);
    if (after?.owner !== undefined) keys.add(after.owner);
    if (after?.isFree === true && after.facts.trouble === undefined) {
      for (const [cluster, wants] of this.#waiting) if (wants(after.facts)) keys.add(cluster);
    }
    if (keys.size > 0) for (const listener of this.#listeners) listener(keys);
  }
}

/** @returns `before` if nothing that counts is different */
function toEntry(host: BareMetalHost, before: Entry | undefined): Entry {
  const facts = toHostFacts(host);
  const { networkData, preprovisioningNetworkDataName } = host.spec ?? {};
  const { uid } = host.metadata;
  const secrets = [networkData?.namespace, networkData?.name, preprovisioningNetworkDataName];
  const rest = [uid, hasConsumer(host), holdsDeletion(host), ...secrets].join(" ");
  if (before !== undefined && before.rest === rest && hasSameFacts(before.facts, facts)) {
    return before;
  }
  const { labels } = facts;
  return { facts, owner: findOwner(labels), isFree: !isTaken(labels), rest };
}
