/**
 * Says what becomes of the out-of-service taint: Events on Nodes, and lines in the log.
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

/** Tells what was done, and what was not. */
export class OutOfServiceNarrator {
  readonly #context: Pick<NodeContext, "events" | "log">;
  readonly #throttle: WarningThrottle;

  constructor(context: Pick<NodeContext, "events" | "log" | "clock">) {
    this.#context = context;
    this.#throttle = new WarningThrottle(context.clock);
  }

  /** The taint was set. @param evidence What proves it */
  tellSet(node: Node, evidence: string): void {
    const message = `Set the taint ${TAINT}, so that Kubernetes detaches the volumes: ${evidence}`;
    this.#context.events.record(node, toEvent(EVENT_WORDS.taintSet, message));
    this.#context.log.warn("Out-of-service taint set", { node: node.metadata.name, evidence });
  }

  /** The taint was removed. @param isMistake Whether the machine had never been off */
  tellRemoved(node: Node, isMistake: boolean): void {
    const { events, log } = this.#context;
    const fields = { node: node.metadata.name };
    if (isMistake) {
      const why = "the kubelet reports and was not restarted, so the machine ran all the time";
      const message = `Removed the taint ${TAINT} at once: ${why}; check its volumes`;
      events.record(node, toEvent(EVENT_WORDS.taintWithdrawn, message));
      log.error("Out-of-service taint withdrawn: the machine had never been off", fields);
      return;
    }
    const message = `Removed the taint ${TAINT}: the machine runs again`;
    events.record(node, toEvent(EVENT_WORDS.taintRemoved, message));
    log.info("Out-of-service taint removed", fields);
  }

  /** The taint is not set; the same of a Node is told once in five minutes. @param why As one word */
  tellBlocked(node: Node, why: string, explanation: string): void {
    const message = `The out-of-service taint is not set: ${explanation}`;
    if (!this.#tell(node, { word: EVENT_WORDS.blocked, why, message })) return;
    const fields = { node: node.metadata.name, reason: why, explanation };
    this.#context.log.warn("Out-of-service taint is not set", fields);
  }

  /** The Node is Ready and has a taint that Landfall did not set; reported once in five minutes. */
  tellForeign(node: Node): void {
    const why = "Landfall did not set it and does not remove it";
    const advice = `if the machine is well: kubectl taint node ${node.metadata.name} ${key}-`;
    const message = `The Node is Ready and has the taint ${key}: ${why}; ${advice}`;
    this.#tell(node, { word: EVENT_WORDS.foreign, why: "foreign", message });
  }

  /** Drops what is remembered of a Node. */
  forget(name: string): void {
    this.#throttle.forget(name);
  }

  #tell(
    node: Node,
    { word, why, message }: { readonly word: EventWord; why: string; message: string },
  ): boolean {
    if (!this.#throttle.passes(node.metadata.name, toEvent(word, why))) return false;
    this.#context.events.record(node, toEvent(word, message));
    return true;
  }
}
