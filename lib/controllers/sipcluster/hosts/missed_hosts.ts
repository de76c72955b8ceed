/**
 * Hosts that a cluster could not use because of their Secrets: looks again soon, and only at them.
 *
 * A watch would show each change at once. But RBAC has no right to watch only metadata of Secrets, and beside network
 * data are the passwords of management controllers. So Secrets that are missing or wrong are read one by one: after two
 * seconds, then after a tenth of the time that the host waits already, and at most five in a second for all clusters.
 * While nothing is missing, nothing is read and no timer runs.
 * @module
 */
import { type Clock, Sleeper } from "../../../core/clock.ts";
import { Claims } from "../../../core/maps.ts";
import type { KeySource } from "../../../engine/object_loop.ts";
import { KubeError } from "../../../kube/api/errors.ts";
import type { Key } from "../../../kube/cache/store.ts";
import type { AddressReader } from "./address_reader.ts";

/** What {@linkcode MissedHosts} need. */
interface MissedHostsOptions {
  readonly addresses: Pick<AddressReader, "readAgain">;
  readonly clock: Clock;
}

/** A host that waits for its Secret. In monotonic milliseconds. */
interface Waiting {
  readonly sinceMs: number;
  nextMs: number;
}

const ROUND_MS = 2_000;
/** Secrets that are read in one round, all at once. */
const READS_MAX = 10;
/** A host that waits for ever is looked at this often. */
const PAUSE_MS_MAX = 30_000;
/** The pause as a part of the time that a host waits. */
const PAUSE_SHARE = 0.1;

/** The hosts that clusters could not use. As a {@linkcode KeySource}: names the clusters when a Secret differs. */
export class MissedHosts implements KeySource {
  readonly #options: MissedHostsOptions;
  readonly #sleeper: Sleeper;
  /** Clusters claim hosts. */
  readonly #missed = new Claims();
  readonly #waiting = new Map<Key, Waiting>();

  constructor(options: MissedHostsOptions) {
    this.#options = options;
    this.#sleeper = new Sleeper(options.clock);
  }

  /** Looks for as long as there is a listener. */
  subscribe(listener: (keys: Iterable<Key>) => void): () => void {
    const stopping = new AbortController();
    void this.#run(listener, stopping.signal);
    return () => stopping.abort();
  }

  /** Notes which hosts a cluster cannot use, in place of those before. */
  note(cluster: Key, hosts: Iterable<Key>): void {
    const nowMs = this.#options.clock.monotonic();
    for (const host of this.#missed.replace(cluster, [...new Set(hosts)])) {
      const isMissed = this.#missed.claimants(host).some(() => true);
      if (!isMissed) this.#waiting.delete(host);
      else if (!this.#waiting.has(host))
        this.#waiting.set(host, { sinceMs: nowMs, nextMs: nowMs + ROUND_MS });
    }
    if (this.#waiting.size > 0) this.#sleeper.wake();
  }

  /** Forgets a cluster that is gone. */
  forget(cluster: Key): void {
    this.note(cluster, []);
  }

  async #run(listener: (keys: Iterable<Key>) => void, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#waiting.size === 0) await this.#sleeper.sleep(Infinity, signal);
      // Only the signal can reject this.
      await this.#options.clock.sleep(ROUND_MS, signal).catch(() => undefined);
      if (!signal.aborted) await this.#look(listener, signal);
    }
  }

  async #look(listener: (keys: Iterable<Key>) => void, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const due = [...this.#waiting]
      .filter(([, { nextMs }]) => nextMs <= clock.monotonic())
      .toSorted(([, one], [, other]) => one.nextMs - other.nextMs)
      .slice(0, READS_MAX);
    const look = async ([host, waiting]: readonly [Key, Waiting]): Promise<void> => {
      const nowMs = clock.monotonic();
      const pauseMs = Math.max(ROUND_MS, (nowMs - waiting.sinceMs) * PAUSE_SHARE);
      waiting.nextMs = nowMs + Math.min(pauseMs, PAUSE_MS_MAX);
      if (await this.#differs(host, signal)) listener([...this.#missed.claimants(host)]);
    };
    await Promise.all(due.map(look));
  }

  async #differs(host: Key, signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#options.addresses.readAgain(host, signal);
    } catch (error) {
      // Reconciles report what is refused.
      if (error instanceof KubeError || signal.aborted) return false;
      throw error;
    }
  }
}
