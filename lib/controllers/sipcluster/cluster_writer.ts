/**
 * Writes what Landfall says about a SIPCluster: its status, its finalizers, and Events.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { WarningThrottle } from "../../engine/warning_throttle.ts";
import type { WrittenVersions } from "../../engine/written_versions.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { type Key, toKey } from "../../kube/cache/store.ts";
import type { EventRecorder } from "../../kube/events/events.ts";
import { type EventWord, toEvent } from "../../kube/events/words.ts";
import { findCondition } from "../kinds/conditions.ts";
import { type SipCluster, SIP_CLUSTERS } from "./resource/sip_cluster.ts";
import { type Outcome, planStatus } from "./resource/status.ts";
import { EVENT_WORDS } from "./words.ts";

/** What a {@linkcode ClusterWriter} needs. */
export interface ClusterWriterOptions {
  readonly client: Pick<KubeClient, "patch">;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly written: WrittenVersions;
}

/** Writes SIPClusters. */
export class ClusterWriter {
  readonly #options: ClusterWriterOptions;
  readonly #throttle: WarningThrottle;

  constructor(options: ClusterWriterOptions) {
    this.#options = options;
    this.#throttle = new WarningThrottle(options.clock);
  }

  /** Forgets a cluster that is gone. */
  forget(key: Key): void {
    this.#throttle.forget(key);
  }

  /** Records a Warning, unless it was recorded a short time ago. */
  warn(cluster: SipCluster, word: EventWord, message: string): void {
    const event = toEvent(word, message);
    if (this.#throttle.passes(toKey(cluster), event)) this.#options.events.record(cluster, event);
  }

  /** The list is replaced whole, so it is written only for the version that was read. */
  async setFinalizers(
    cluster: SipCluster,
    finalizers: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const { name, namespace = "", resourceVersion } = cluster.metadata;
    const body = { metadata: { finalizers, resourceVersion } };
    const patch = { type: "merge", body } as const;
    const { client, written } = this.#options;
    written.note(cluster, await client.patch(SIP_CLUSTERS, { namespace, name }, patch, signal));
  }

  /** Writes what changed of the status; nothing if that is nothing. A cluster that becomes ready gets an Event. */
  async writeStatus(cluster: SipCluster, outcome: Outcome, signal: AbortSignal): Promise<void> {
    const { client, clock, written, events } = this.#options;
    const status = planStatus(cluster, outcome, clock.now());
    if (status === undefined) return;
    const [before, after] = [cluster.status, status].map((one) => findCondition(one, "Ready"));
    if (after?.status === "True" && before?.status !== "True") {
      events.record(cluster, toEvent(EVENT_WORDS.ready, after.message));
    }
    const { name, namespace = "", resourceVersion } = cluster.metadata;
    const patch = { type: "merge", body: { metadata: { resourceVersion }, status } } as const;
    const path = { namespace, name, subresource: "status" };
    written.note(cluster, await client.patch(SIP_CLUSTERS, path, patch, signal));
  }
}
