/**
 * Deletes a Node whose machine is gone: asks the cloud and Kubernetes once more, directly, right before.
 * @module
 */
import { describeError } from "../../core/errors.ts";
import { isKubeError } from "../../kube/errors.ts";
import { NODES, type Node } from "../../kube/resource.ts";
import { isReady, isUninitialized, toIdentity } from "../identity.ts";
import type { NodeContext } from "../node_loop.ts";
import type { FleetWatch } from "./fleet_watch.ts";
import type { LifecycleMetrics } from "./metrics.ts";
import { toEvent } from "../words.ts";
import { EVENTS } from "./words.ts";

/** How a deletion ended; everything but `deleted` leaves the Node as it is. */
export type DeletionResult =
  | { readonly kind: "deleted" }
  /** The cloud, asked directly, does not say that the machine is gone. */
  | { readonly kind: "unconfirmed"; readonly message: string }
  /** The Node, or what is known of the fleet, is not any more as it was when the deletion was decided. */
  | { readonly kind: "overtaken" };

/** What a {@linkcode Deleter} works with. */
export interface DeleterOptions extends NodeContext {
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
   * Deletes a Node that the guard let pass, if everybody still agrees.
   *
   * @param signal Aborts when the reconcile or leadership ends: nothing is deleted after that
   * @throws {KubeError} when Kubernetes refuses, after an Event on the Node
   */
  async delete(node: Node, signal: AbortSignal): Promise<DeletionResult> {
    const { provider, source, fleet, client } = this.#options;
    const { current } = source;
    if (current === undefined) return { kind: "overtaken" };
    const answer = await provider.readInstance(current, toIdentity(node), signal);
    if (answer.kind !== "absent") {
      fleet.startAnew(node);
      const message = answer.kind === "unknown" ? answer.message : "it answers when asked directly";
      return { kind: "unconfirmed", message };
    }
    const fresh = await this.#tellingOfFailure(node, signal, () =>
      client.read(NODES, { name: node.metadata.name }, signal),
    );
    // The answer took a while, in which others may have vanished, or the Node may have come back.
    if (!isSameNode(node, fresh) || isReady(fresh) || fleet.judge(node).kind !== "confirm") {
      return { kind: "overtaken" };
    }
    signal.throwIfAborted();
    await this.#send(fresh, answer.evidence, signal);
    return { kind: "deleted" };
  }

  async #send(node: Node, evidence: string, signal: AbortSignal): Promise<void> {
    const { client, events, fleet, metrics, log } = this.#options;
    // Neither is ever absent. If one were, the server would refuse the empty precondition: nothing is deleted blindly.
    const { name, uid = "", resourceVersion = "" } = node.metadata;
    fleet.noteDeletion(node);
    const message = `Deleting node ${name} because its machine is gone: ${evidence}`;
    events.record(node, toEvent(EVENTS.deleting, message));
    await this.#tellingOfFailure(node, signal, () =>
      client.delete(NODES, { name }, { uid, resourceVersion }, signal),
    );
    metrics.countDeletion("deleted");
    log.warn("Node deleted", { node: name, providerId: node.spec?.providerID, evidence });
  }

  async #tellingOfFailure<T>(
    node: Node,
    signal: AbortSignal,
    request: () => Promise<T>,
  ): Promise<T> {
    try {
      return await request();
    } catch (error) {
      this.#tellOfFailure(node, error, signal);
      throw error;
    }
  }

  #tellOfFailure(node: Node, error: unknown, signal: AbortSignal): void {
    const { events, metrics } = this.#options;
    // Somebody else was faster: there is nothing to tell, or it is judged anew.
    if (isKubeError(error, "notFound") || isKubeError(error, "conflict") || signal.aborted) return;
    metrics.countDeletion("failed");
    const message = `Failed deleting node ${node.metadata.name}: ${describeError(error)}`;
    events.record(node, toEvent(EVENTS.deletingFailed, message));
  }
}

function isSameNode(before: Node, after: Node): boolean {
  return (
    after.metadata.uid === before.metadata.uid &&
    after.metadata.deletionTimestamp === undefined &&
    after.spec?.providerID === before.spec?.providerID &&
    !isUninitialized(after)
  );
}
