/**
 * Deletes a Node whose machine is gone, after one more direct request to the cloud and to Kubernetes.
 * @module
 */
import type { Presence, ReadOptions } from "../../cloud/provider.ts";
import { describeError } from "../../core/errors.ts";
import { isKubeError } from "../../kube/api/errors.ts";
import { NODES, type Node } from "../../kube/kinds/node.ts";
import { isReady, isUninitialized, toIdentity } from "../identity.ts";
import type { NodeContext } from "../node_context.ts";
import type { FleetWatch } from "../fleet/fleet_watch.ts";
import type { LifecycleMetrics } from "./metrics.ts";
import { toEvent } from "../../kube/events/words.ts";
import { EVENT_WORDS } from "./words.ts";

const PART_LOST_ADVICE =
  "if the machine is gone, delete the Node by hand; deletion.whileOtherPoolsAreLost lets Landfall delete such Nodes";
const PROLONGED =
  "deletion.whileOtherPoolsAreLost is true: Landfall asks again when the machine is missing for 10m";

/** The result of a deletion. Only `deleted` changes the Node. */
export type DeletionResult =
  | { readonly kind: "deleted" }
  /** A direct request to the cloud did not confirm that the machine is gone. */
  | { readonly kind: "unconfirmed"; readonly message: string }
  /** The same, because another part of the cloud is lost. Landfall asks again after a longer hold-off. */
  | { readonly kind: "prolonged"; readonly message: string }
  /** The Node or the fleet changed after the decision. */
  | { readonly kind: "overtaken" };

/** The dependencies of a {@linkcode Deleter}. */
interface DeleterOptions extends NodeContext {
  readonly fleet: FleetWatch;
  readonly metrics: LifecycleMetrics;
}

/** Deletes Nodes. */
export class Deleter {
  readonly #options: DeleterOptions;

  constructor(options: DeleterOptions) {
    this.#options = options;
  }

  /**
   * Deletes a Node after the verdict `confirm`, if the cloud and the API server confirm it.
   *
   * @param signal Aborts when the reconcile or leadership ends; it deletes nothing after that
   * @throws {KubeError} if Kubernetes refuses; the Node then has an Event
   */
  async delete(node: Node, signal: AbortSignal): Promise<DeletionResult> {
    const { provider, source, resolver, fleet, client } = this.#options;
    const { current } = source;
    if (current === undefined) return { kind: "overtaken" };
    const options = { mayPartsBeLost: fleet.mayPartsBeLost(node) };
    const answer = await provider.readInstance(
      current,
      resolver.complete(toIdentity(node)),
      signal,
      options,
    );
    if (answer.kind !== "absent") return this.#keep(node, answer, options);
    const fresh = await this.#reportingFailure(node, signal, () =>
      client.read(NODES, { name: node.metadata.name }, signal),
    );
    // During the request, other machines may have vanished, or the Node may be Ready again.
    if (!isSameNode(node, fresh) || isReady(fresh) || fleet.judge(node).kind !== "confirm") {
      return { kind: "overtaken" };
    }
    signal.throwIfAborted();
    await this.#send(fresh, answer.evidence, signal);
    return { kind: "deleted" };
  }

  #keep(
    node: Node,
    answer: Exclude<Presence, { kind: "absent" }>,
    { mayPartsBeLost }: ReadOptions,
  ): DeletionResult {
    const { fleet } = this.#options;
    const isPartLost = answer.kind === "unknown" && answer.reason === "partLost";
    if (isPartLost && !mayPartsBeLost && fleet.prolong(node)) {
      return { kind: "prolonged", message: `${answer.message}; ${PROLONGED}` };
    }
    fleet.restartCount(node);
    if (answer.kind !== "unknown") {
      return { kind: "unconfirmed", message: "a direct request shows the machine" };
    }
    const message = isPartLost ? `${answer.message}; ${PART_LOST_ADVICE}` : answer.message;
    return { kind: "unconfirmed", message };
  }

  async #send(node: Node, evidence: string, signal: AbortSignal): Promise<void> {
    const { client, events, fleet, metrics, log } = this.#options;
    // Both are always present. If one were missing, the server would refuse the empty precondition and delete nothing.
    const { name, uid = "", resourceVersion = "" } = node.metadata;
    fleet.noteDeletion(node);
    const message = `Deleting node ${name} because its machine is gone: ${evidence}`;
    events.record(node, toEvent(EVENT_WORDS.deleting, message));
    await this.#reportingFailure(node, signal, () =>
      client.delete(NODES, { name }, { uid, resourceVersion }, signal),
    );
    metrics.countDeletion("deleted");
    log.warn("Node deleted", { node: name, providerId: node.spec?.providerID, evidence });
  }

  async #reportingFailure<T>(
    node: Node,
    signal: AbortSignal,
    request: () => Promise<T>,
  ): Promise<T> {
    try {
      return await request();
    } catch (error) {
      this.#reportFailure(node, error, signal);
      throw error;
    }
  }

  #reportFailure(node: Node, error: unknown, signal: AbortSignal): void {
    const { events, metrics } = this.#options;
    // Another writer was faster. There is nothing to report, or Landfall judges the Node again.
    if (isKubeError(error, "notFound") || isKubeError(error, "conflict") || signal.aborted) return;
    metrics.countDeletion("failed");
    const message = `Failed deleting node ${node.metadata.name}: ${describeError(error)}`;
    events.record(node, toEvent(EVENT_WORDS.deletingFailed, message));
  }
}

function isSameNode(before: Node, after: Node): boolean {
  return (
    after.metadata.uid === before.metadata.uid &&
    after.metadata.deletionTimestamp === undefined &&
    after.spec?.providerID === before.spec?.providerID &&
    isUninitialized(after) === isUninitialized(before)
  );
}
