/**
 * Writes what Landfall says about a SIPCluster: its status, its finalizers, and Events.
 * @module
 */
import { toEvent } from "../../kube/events/words.ts";
import { findCondition } from "../kinds/conditions.ts";
import { ObjectWriter, type ObjectWriterOptions } from "../kinds/object_writer.ts";
import { type SipCluster, SIP_CLUSTERS } from "./resource/sip_cluster.ts";
import { type Outcome, planStatus } from "./resource/status.ts";
import { EVENT_WORDS } from "./words.ts";

/** Writes SIPClusters. */
export class ClusterWriter extends ObjectWriter<SipCluster> {
  readonly #options: ObjectWriterOptions;

  constructor(options: ObjectWriterOptions) {
    super(SIP_CLUSTERS, options);
    this.#options = options;
  }

  /** Writes what changed of the status; nothing if that is nothing. A cluster that becomes ready gets an Event. */
  async writeStatus(cluster: SipCluster, outcome: Outcome, signal: AbortSignal): Promise<void> {
    const { clock, events } = this.#options;
    const status = planStatus(cluster, outcome, clock.now());
    if (status === undefined) return;
    const [before, after] = [cluster.status, status].map((one) => findCondition(one, "Ready"));
    if (after?.status === "True" && before?.status !== "True") {
      events.record(cluster, toEvent(EVENT_WORDS.ready, after.message));
    }
    await this.patchStatus(cluster, status, signal);
  }
}
