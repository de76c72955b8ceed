/**
 * Hosts as they are after our own writes and reads, until the watch shows them.
 * @module
 */
import type { Clock } from "../../../core/clock.ts";
import { type Key, toKey } from "../../../kube/cache/store.ts";
import { CLUSTER_NAME, CLUSTER_NAMESPACE, NODE_TYPE, STANDBY } from "../words.ts";
import type { BareMetalHost } from "../../../kube/kinds/bare_metal_host.ts";

/** A host that is newer than the one in the store. */
interface Newer {
  readonly host: BareMetalHost;
  /** Versions that are known to be older. */
  readonly older: Set<string | undefined>;
  /** In monotonic milliseconds. */
  readonly sinceMs: number;
}

/** The watch shows a write within milliseconds. It may skip ours if it lists again, which must not hide the truth. */
const BELIEVED_MS = 10_000;
/**
 * A version that a write replaced is old for as long as the store shows it: the watch may hang. But an API server that
 * was restored from a backup has old versions again.
 */
const OUTDATED_MS = 600_000;
const CLAIM_LABELS = [CLUSTER_NAMESPACE, CLUSTER_NAME, NODE_TYPE, STANDBY] as const;

/**
 * Remembers newer states of hosts. A decision that read the store right after a write would take another host instead
 * of the one that it just took.
 *
 * Versions are opaque: they are only compared for equality. An unknown version is older than ours, or newer and has our
 * labels. If it is newer and another program removed them, that counts after 10 s. A version that our write replaced is
 * known to be older.
 */
export class OwnWrites {
  readonly #clock: Clock;
  readonly #newer = new Map<Key, Newer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that `after` came from the API server later than `before`. */
  note(before: BareMetalHost, after: BareMetalHost): void {
    const old = before.metadata.resourceVersion;
    if (old === after.metadata.resourceVersion) return;
    const key = toKey(after);
    const older = this.#newer.get(key)?.older ?? new Set();
    older.add(old);
    // The map is in the order of the times.
    this.#newer.delete(key);
    this.#newer.set(key, { host: after, older, sinceMs: this.#clock.monotonic() });
  }

  /**
   * The newest known state of a host.
   *
   * @param stored The host in the store; absent if it is gone
   */
  resolve(key: Key, stored: BareMetalHost | undefined): BareMetalHost | undefined {
    const newer = this.#newer.get(key);
    if (newer === undefined) return stored;
    if (stored !== undefined && this.#isOlder(stored, newer)) return newer.host;
    this.#newer.delete(key);
    return stored;
  }

  /** The hosts of which the store has not shown the newest state for too long. */
  listExpired(): Key[] {
    const expired: Key[] = [];
    for (const [key, newer] of this.#newer) {
      if (this.#toAgeMs(newer) < BELIEVED_MS) break;
      expired.push(key);
    }
    return expired;
  }

  #toAgeMs({ sinceMs }: Newer): number {
    return this.#clock.monotonic() - sinceMs;
  }

  #isOlder(stored: BareMetalHost, newer: Newer): boolean {
    const { host, older } = newer;
    const { uid, resourceVersion, labels = {} } = stored.metadata;
    if (uid !== host.metadata.uid) return false;
    const ageMs = this.#toAgeMs(newer);
    if (older.has(resourceVersion)) return ageMs < OUTDATED_MS;
    // The version of the write itself has its labels.
    const claimed = host.metadata.labels ?? {};
    return ageMs < BELIEVED_MS && CLAIM_LABELS.some((label) => labels[label] !== claimed[label]);
  }
}
