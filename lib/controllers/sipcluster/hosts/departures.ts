/**
 * Reports which hosts a cluster lost, and not because Landfall gave them back: they were deleted, or lost its labels.
 * @module
 */
import type { EventRecorder } from "../../../kube/events/events.ts";
import { toEvent } from "../../../kube/events/words.ts";
import { type Key, toKey } from "../../../kube/cache/store.ts";
import type { SipCluster } from "../resource/sip_cluster.ts";
import { EVENT_WORDS } from "../words.ts";
import { findOwner } from "./facts.ts";
import type { HostIndex } from "./host_index.ts";

/** What {@linkcode Departures} need. */
interface DeparturesOptions {
  readonly index: Pick<HostIndex, "find">;
  readonly events: EventRecorder;
}

const UNLABELLED =
  "does not have the labels of the cluster any more. A person or another program removed or changed them";

/**
 * Compares the hosts in the status of a cluster with those that have its labels. The next status lacks the others, so
 * each is reported once.
 */
export class Departures {
  readonly #options: DeparturesOptions;
  /** Hosts that Landfall gave back, and that the status of the cluster may still have. */
  readonly #released = new Map<Key, Set<Key>>();

  constructor(options: DeparturesOptions) {
    this.#options = options;
  }

  /** Notes that Landfall gave a host back. */
  noteReleased(cluster: Key, host: Key): void {
    const hosts = this.#released.get(cluster) ?? new Set();
    this.#released.set(cluster, hosts.add(host));
  }

  /** Reports the hosts that a cluster lost since its last status. */
  tell(cluster: SipCluster): void {
    const { index, events } = this.#options;
    const key = toKey(cluster);
    const listed = new Set((cluster.status?.hosts ?? []).map((host) => toKey({ metadata: host })));
    const released = this.#released.get(key);
    for (const host of released ?? []) if (!listed.has(host)) released?.delete(host);
    const isLost = (host: Key): boolean =>
      !released?.has(host) && findOwner(index.find(host)?.metadata.labels) !== key;
    for (const host of [...listed].filter(isLost)) {
      const [word, what] =
        index.find(host) === undefined
          ? [EVENT_WORDS.hostGone, "was deleted. The cluster does not have it any more"]
          : [EVENT_WORDS.hostUnlabelled, UNLABELLED];
      events.record(cluster, toEvent(word, `BareMetalHost ${host} ${what}`));
    }
  }

  /** Forgets a cluster that is gone. */
  forget(cluster: Key): void {
    this.#released.delete(cluster);
  }
}
