/**
 * Reports changes of the out-of-service taint to operators: Events on Nodes, and records in the log.
 * @module
 */
import { WarningThrottle } from "../../engine/warning_throttle.ts";
import { type EventWord, toEvent } from "../../kube/events/words.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { NodeContext } from "../context.ts";
import { OUT_OF_SERVICE_TAINT } from "../fleet/out_of_service.ts";
import { EVENT_WORDS } from "./words.ts";

const { key, value, effect } = OUT_OF_SERVICE_TAINT;
const TAINT = `${key}=${value}:${effect}`;

/** Reports what the controller did, and what it did not do. */
export class OutOfServiceEvents {
  readonly #context: Pick<NodeContext, "events" | "log">;
  readonly #throttle: WarningThrottle;

  constructor(context: Pick<NodeContext, "events" | "log" | "clock">) {
    this.#context = context;
    this.#throttle = new WarningThrottle(context.clock);
  }

  /** Reports that Landfall set the taint. @param evidence The proof, in words */
  reportSet(node: Node, evidence: string): void {
    const message = `Set the taint ${TAINT}, so that Kubernetes detaches the volumes: ${evidence}`;
    this.#context.events.record(node, toEvent(EVENT_WORDS.taintSet, message));
    this.#context.log.warn("Out-of-service taint set", { node: node.metadata.name, evidence });
  }

  /** Reports that Landfall removed the taint. @param isMistake Whether the machine was never off */
  reportRemoved(node: Node, isMistake: boolean): void {
    const { events, log } = this.#context;
    const fields = { node: node.metadata.name };
    if (isMistake) {
      const why = "the kubelet reports the same boot ID as before, so the machine was never off";
      const message = `Removed the taint ${TAINT} at once: ${why}; check its volumes`;
      events.record(node, toEvent(EVENT_WORDS.taintWithdrawn, message));
      log.error("Out-of-service taint withdrawn: the machine was never off", fields);
      return;
    }
    const message = `Removed the taint ${TAINT}: the machine runs again`;
    events.record(node, toEvent(EVENT_WORDS.taintRemoved, message));
    log.info("Out-of-service taint removed", fields);
  }

  /**
   * Reports why Landfall does not set the taint; the same reason at most once in five minutes for each Node. @param why
   * The reason as one word
   */
  reportBlocked(node: Node, why: string, explanation: string): void {
    const message = `Landfall does not set the out-of-service taint: ${explanation}`;
    if (!this.#recordOnce(node, { word: EVENT_WORDS.blocked, why, message })) return;
    const fields = { node: node.metadata.name, reason: why, explanation };
    this.#context.log.warn("Out-of-service taint not set", fields);
  }

  /** Reports a Ready Node with a taint that Landfall did not set; at most once in five minutes for each Node. */
  reportForeign(node: Node): void {
    const why = "Landfall did not set it and does not remove it";
    const advice = `if the machine works, remove it: kubectl taint node ${node.metadata.name} ${key}-`;
    const message = `The Node is Ready and has the taint ${key}: ${why}; ${advice}`;
    this.#recordOnce(node, { word: EVENT_WORDS.foreign, why: "foreign", message });
  }

  /** Forgets a Node. */
  forget(name: string): void {
    this.#throttle.forget(name);
  }

  #recordOnce(
    node: Node,
    { word, why, message }: { readonly word: EventWord; why: string; message: string },
  ): boolean {
    if (!this.#throttle.passes(node.metadata.name, toEvent(word, why))) return false;
    this.#context.events.record(node, toEvent(word, message));
    return true;
  }
}
