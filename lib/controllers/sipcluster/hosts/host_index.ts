/**
 * Which cluster has which hosts, which are free, and which clusters to look at when a host changes.
 * @module
 */
import type { KeySource } from "../../../engine/object_loop.ts";
import { type Key, type StoreReader, toKey } from "../../../kube/cache/store.ts";
import type { Assigned, HostFacts } from "../schedule/types.ts";
import type { BareMetalHost } from "../../../kube/kinds/bare_metal_host.ts";
import type { HostStatus, Role, SipCluster } from "../resource/sip_cluster.ts";
import { toWanted } from "../schedule/contraction.ts";
import {
  findLabelled,
  findUser,
  hasConsumer,
  hasSameFacts,
  holdsDeletion,
  isLabelled,
  toHostFacts,
} from "./facts.ts";

/** What is kept of a host. */
interface Entry {
  readonly facts: HostFacts;
  /** The cluster that its labels name. */
  readonly labelled: Key | undefined;
  readonly isFree: boolean;
  /** What used it when it had the labels of the cluster that has it. Absent: it was not seen with them. */
  readonly user?: string;
  /**
   * What counts besides facts: its UID, the Secrets that its addresses come from, whether it has a consumer, and
   * whether a cluster that is being deleted waits for it.
   */
  readonly rest: string;
}

/** What {@linkcode HostIndex} follows. */
interface HostIndexOptions {
  readonly hosts: StoreReader<BareMetalHost>;
  readonly clusters: Pick<StoreReader<SipCluster>, "subscribe">;
}

/**
 * The hosts by cluster, in step with both stores, so that no reconcile looks at all of them. A cluster has the hosts
 * that its status records: only Landfall may write that. Labels of hosts are written from it.
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
  /** Hosts with labels that no cluster has, by the cluster that the labels name; empty if they name none completely. */
  readonly #claimants = new Map<Key, Map<Key, HostFacts>>();
  /** What clusters record, by the UID of the host. */
  readonly #records = new Map<string, Map<Key, HostStatus>>();
  /** Roles of clusters of which more hosts are recorded than the spec wants. */
  readonly #crowded = new Map<Key, ReadonlySet<Role>>();
  readonly #waiting = new Map<Key, (host: HostFacts) => boolean>();
  readonly #listeners = new Set<(keys: Iterable<Key>) => void>();

  /** Follows hosts and clusters from now on, for as long as they are watched. */
  constructor({ hosts, clusters }: HostIndexOptions) {
    this.reader = hosts;
    hosts.subscribe((key) => this.#update(key));
    clusters.subscribe((key, before, after) => this.#updateRecord(key, before, after));
  }

  subscribe(listener: (keys: Iterable<Key>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The hosts that a cluster records as its own. */
  listOf(cluster: Key): Iterable<HostFacts> {
    return this.#byCluster.get(cluster)?.values() ?? [];
  }

  /** The hosts that no cluster has, whether or not they can be taken. */
  listFree(): Iterable<HostFacts> {
    return this.#free.values();
  }

  /** The hosts whose labels name a cluster, and that no cluster has. @param cluster Empty: none completely */
  listClaimants(cluster: Key): Iterable<HostFacts> {
    return this.#claimants.get(cluster)?.values() ?? [];
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

  #updateRecord(cluster: Key, old: SipCluster | undefined, now: SipCluster | undefined): void {
    const before = old?.status?.hosts ?? [];
    const after = now?.status?.hosts ?? [];
    for (const { uid = "" } of before) {
      const records = this.#records.get(uid);
      records?.delete(cluster);
      if (records?.size === 0) this.#records.delete(uid);
    }
    for (const one of after) {
      if (one.uid === undefined) continue;
      const records = this.#records.get(one.uid) ?? new Map<Key, HostStatus>();
      this.#records.set(one.uid, records.set(cluster, one));
    }
    if (now === undefined) this.#crowded.delete(cluster);
    else this.#crowded.set(cluster, listCrowded(now));
    const hosts = [...before, ...after].map((metadata) => toKey({ metadata }));
    for (const key of new Set(hosts)) this.#update(key);
  }

  /** What a host is for. Of two records after a restore from backups, the one that the labels agree with counts. */
  #findAssigned({ metadata: { uid = "", labels } }: BareMetalHost): Assigned | undefined {
    const records = this.#records.get(uid);
    if (records === undefined) return undefined;
    const labelled = findLabelled(labels);
    const valid = [...records].filter(([cluster, one]) => !one.pending || cluster === labelled);
    const found = valid.find(([cluster]) => cluster === labelled) ?? valid[0];
    if (found === undefined) return undefined;
    const [cluster, { role, standby }] = found;
    return { cluster, role, standby };
  }

  #update(key: Key): void {
    const host = this.find(key);
    const before = this.#entries.get(key);
    const assigned = host && this.#findAssigned(host);
    const isCrowded = assigned && this.#crowded.get(assigned.cluster)?.has(assigned.role);
    const after = host && toEntry(host, { assigned, isCrowded }, before);
    if (before === after) return;
    if (before !== undefined) this.#remove(key, before);
    if (after !== undefined) this.#add(key, after);
    this.#tell(before, after);
  }

  #add(key: Key, entry: Entry): void {
    this.#entries.set(key, entry);
    const { facts, isFree, labelled = "" } = entry;
    const owner = facts.assigned?.cluster;
    if (isFree) this.#free.set(key, facts);
    else if (owner === undefined) addTo(this.#claimants, labelled, facts);
    else addTo(this.#byCluster, owner, facts);
  }

  #remove(key: Key, { facts, labelled = "" }: Entry): void {
    this.#entries.delete(key);
    this.#free.delete(key);
    removeFrom(this.#claimants, labelled, key);
    removeFrom(this.#byCluster, facts.assigned?.cluster ?? "", key);
  }

  #tell(before: Entry | undefined, after: Entry | undefined): void {
    if (this.#listeners.size === 0) return;
    const keys = new Set<Key>();
    for (const entry of [before, after]) {
      if (entry?.labelled !== undefined) keys.add(entry.labelled);
      if (entry?.facts.assigned !== undefined) keys.add(entry.facts.assigned.cluster);
    }
    if (after?.isFree === true && after.facts.trouble === undefined) {
      for (const [cluster, wants] of this.#waiting) if (wants(after.facts)) keys.add(cluster);
    }
    if (keys.size > 0) for (const listener of this.#listeners) listener(keys);
  }
}

function addTo(map: Map<Key, Map<Key, HostFacts>>, cluster: Key, facts: HostFacts): void {
  const hosts = map.get(cluster) ?? new Map<Key, HostFacts>();
  map.set(cluster, hosts.set(facts.key, facts));
}

function removeFrom(map: Map<Key, Map<Key, HostFacts>>, cluster: Key, host: Key): void {
  const hosts = map.get(cluster);
  hosts?.delete(host);
  if (hosts?.size === 0) map.delete(cluster);
}

function listCrowded({ spec, status }: SipCluster): ReadonlySet<Role> {
  const recorded = Map.groupBy(status?.hosts ?? [], ({ role }) => role);
  const crowded = [...recorded].filter(([role, hosts]) => {
    const { active, standby } = toWanted(spec?.nodes?.[role]);
    return hosts.length > active + standby;
  });
  return new Set(crowded.map(([role]) => role));
}

/** @returns `before` if nothing that counts is different */
function toEntry(
  host: BareMetalHost,
  {
    assigned,
    isCrowded = false,
  }: { readonly assigned?: Assigned | undefined; readonly isCrowded?: boolean | undefined },
  before: Entry | undefined,
): Entry {
  const labelled = findLabelled(host.metadata.labels);
  const now = findUser(host);
  const isSame = before?.facts.assigned?.cluster === assigned?.cluster;
  const user = labelled === assigned?.cluster ? now : isSame ? before?.user : undefined;
  // A status from a backup may name a host that others use since. Then it has too many: labels alone come back.
  const isUnseen = assigned !== undefined && labelled !== assigned.cluster && now !== user;
  const isDoubtful = isCrowded && isUnseen && now !== "";
  const facts = toHostFacts(host, assigned, isDoubtful);
  const { networkData, preprovisioningNetworkDataName } = host.spec ?? {};
  const { uid } = host.metadata;
  const secrets = [networkData?.namespace, networkData?.name, preprovisioningNetworkDataName];
  const rest = [uid, now !== "", hasConsumer(host), holdsDeletion(host), ...secrets].join(" ");
  if (
    before !== undefined &&
    before.rest === rest &&
    before.user === user &&
    hasSameFacts(before.facts, facts)
  ) {
    return before;
  }
  const isFree = assigned === undefined && !isLabelled(facts.labels);
  return { facts, labelled, isFree, rest, ...(user !== undefined && { user }) };
}
