/**
 * Reports to operators what happens to a Node: Events on it, and records in the log.
 * @module
 */
import type { Node } from "../../kube/kinds/node.ts";
import type { NodeContext } from "../context.ts";
import { WarningThrottle } from "../../engine/warning_throttle.ts";
import { toEvent } from "../../kube/events/words.ts";
import { EVENT_WORDS, SHUTDOWN_TAINT } from "./words.ts";

const TAINT = `${SHUTDOWN_TAINT.key}:${SHUTDOWN_TAINT.effect}`;
const TAINT_SET = `Set the taint ${TAINT}: the machine is off and the Node is not Ready`;
const TAINT_REMOVED = `Removed the taint ${TAINT}: the Node is Ready again`;

/** Reports taints and blocked deletions. */
export class LifecycleEvents {
  readonly #context: Pick<NodeContext, "events" | "log">;
  readonly #throttle: WarningThrottle;

  constructor(context: Pick<NodeContext, "events" | "log" | "clock">) {
    this.#context = context;
    this.#throttle = new WarningThrottle(context.clock);
  }

  /** Reports that Landfall set or removed the shutdown taint. @param isOff Whether the Node has it now */
  reportTaint(node: Node, isOff: boolean): void {
    const { events, log } = this.#context;
    const { taintSet, taintRemoved } = EVENT_WORDS;
    events.record(
      node,
      isOff ? toEvent(taintSet, TAINT_SET) : toEvent(taintRemoved, TAINT_REMOVED),
    );
    const message = isOff ? "Node tainted: its machine is off" : "Shutdown taint removed";
    log.info(message, { node: node.metadata.name });
  }

  /**
   * Reports that Landfall does not delete a Node; the same reason at most once in five minutes for each Node.
   *
   * @param why The reason as one word. A message with the same reason and other counts is not reported again
   */
  reportBlocked(node: Node, why: string, message: string): void {
    const { name } = node.metadata;
    const { deletionBlocked } = EVENT_WORDS;
    if (!this.#throttle.passes(name, toEvent(deletionBlocked, why))) return;
    const { events, log } = this.#context;
    events.record(node, toEvent(deletionBlocked, message));
    log.warn("Keeping Node although the cloud does not show its machine", {
      node: name,
      reason: why,
      explanation: message,
    });
  }

  /** Forgets a Node. */
  forget(name: string): void {
    this.#throttle.forget(name);
  }
}
