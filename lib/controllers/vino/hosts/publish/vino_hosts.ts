/**
 * The BareMetalHosts of each Vino, in step with the watch, so that no reconcile looks at all hosts.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { KeySource } from "../../../../engine/object_loop.ts";
import { type Key, type StoreReader, toKey } from "../../../../kube/cache/store.ts";
import { type BareMetalHost, VINO_UID } from "../../../../kube/kinds/bare_metal_host.ts";
import type { ObjectMeta } from "../../../../kube/kinds/resource.ts";
import type { Vino } from "../../resource/vino.ts";
import { mayBeHostOf } from "../names.ts";
import { type HostFacts, isPaused, toHostFacts } from "../host_facts.ts";

/** The hosts of one Vino, by name. */
interface OfVino {
  readonly hosts: Map<string, BareMetalHost>;
  /** Names of hosts that were deleted while they were paused, and were not made again. */
  readonly moved: Set<string>;
}

/**
 * The hosts by the UID of the Vino that their label names.
 *
 * As a {@linkcode KeySource}: a change of a host names its Vino, unless nothing changes that counts for it. A host that
 * is of no Vino, or of another one, can stand in the way of one by its name: it names that Vino, too.
 */
export class VinoHosts implements KeySource {
  readonly reader: StoreReader<BareMetalHost>;
  readonly #vinoes: Pick<StoreReader<Vino>, "values">;
  readonly #byUid = new Map<string, OfVino>();
  readonly #listeners = new Set<(keys: Iterable<Key>) => void>();

  /** Follows the hosts from now on, for as long as they are watched. */
  constructor(hosts: StoreReader<BareMetalHost>, vinoes: Pick<StoreReader<Vino>, "values">) {
    this.reader = hosts;
    this.#vinoes = vinoes;
    hosts.subscribe((_key, before, after) => this.#update(before, after));
  }

  subscribe(listener: (keys: Iterable<Key>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The host of a name, also one of another program. */
  find(namespace: string, name: string): BareMetalHost | undefined {
    return this.reader.get(toKey({ metadata: { namespace, name } }));
  }

  /** The hosts of a Vino. */
  list(vinoUid: string): Iterable<BareMetalHost> {
    return this.#byUid.get(vinoUid)?.hosts.values() ?? [];
  }

  /** Whether a host of a Vino was deleted while it was paused. */
  isMoved(vinoUid: string, name: string): boolean {
    return this.#byUid.get(vinoUid)?.moved.has(name) === true;
  }

  /** Forgets what was deleted of a Vino that is gone. */
  forget(vinoUid: string): void {
    const known = this.#byUid.get(vinoUid);
    known?.moved.clear();
    if (known?.hosts.size === 0) this.#byUid.delete(vinoUid);
  }

  #update(before: BareMetalHost | undefined, after: BareMetalHost | undefined): void {
    const [old, now] = [before, after].map((host) => host?.metadata.labels?.[VINO_UID]);
    if (before !== undefined && old !== undefined) {
      const known = this.#of(old);
      known.hosts.delete(before.metadata.name);
      if (after === undefined && isPaused(before)) known.moved.add(before.metadata.name);
      if (known.hosts.size === 0 && known.moved.size === 0) this.#byUid.delete(old);
    }
    if (after !== undefined && now !== undefined) {
      const known = this.#of(now);
      known.hosts.set(after.metadata.name, after);
      known.moved.delete(after.metadata.name);
    }
    if (old === now && before && after && isSame(before, after)) return;
    this.#tell(new Set([old, now]), (after ?? before)?.metadata);
  }

  #of(vinoUid: string): OfVino {
    const known = this.#byUid.get(vinoUid) ?? { hosts: new Map(), moved: new Set() };
    this.#byUid.set(vinoUid, known);
    return known;
  }

  #tell(vinoUids: ReadonlySet<string | undefined>, host: ObjectMeta | undefined): void {
    const isTold = ({ metadata: { uid, namespace, name } }: Vino): boolean => {
      if (uid !== undefined && vinoUids.has(uid)) return true;
      return host !== undefined && namespace === host.namespace && mayBeHostOf(name, host.name);
    };
    const keys = [...this.#vinoes.values()].filter(isTold).map(toKey);
    if (keys.length > 0) for (const listener of this.#listeners) listener(keys);
  }
}

function isSame(before: BareMetalHost, after: BareMetalHost): boolean {
  const [one, other] = [before, after].map((host): HostFacts => ({
    ...toHostFacts(host),
    resourceVersion: undefined,
  }));
  return isDeepStrictEqual(one, other);
}
