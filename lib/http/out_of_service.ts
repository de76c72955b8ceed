/**
 * Whether a Node is out of service, in plain words. Pure.
 * @module
 */
import type { NodeView } from "./views.ts";

/** An answer for people, and what else they should know: a sentence without a full stop. */
interface OutOfServiceWords {
  readonly answer: "yes" | "no" | "not yet";
  readonly detail: string;
}

/** Says whether a Node is out of service; nothing if its machine gives no reason for that. */
export function describeOutOfService(node: NodeView): OutOfServiceWords | undefined {
  const { state, message = "" } = node.outOfService ?? {};
  switch (state) {
    case undefined:
      return undefined;
    case "tainted":
      return { answer: "yes", detail: describeOwnTaint(node) };
    case "taintedByOthers":
      return { answer: "yes", detail: "Landfall did not set the taint and does not remove it" };
    case "blocked":
      return { answer: "no", detail: message };
    case "confirm":
      return { answer: "not yet", detail: "Landfall asks the cloud for proof" };
    default:
      return { answer: "not yet", detail: message };
  }
}

function describeOwnTaint({ instance }: NodeView): string {
  if (instance?.state === "running") {
    return "Its machine runs again. Landfall removes the taint when its volumes are detached";
  }
  return "Landfall set the taint, so Kubernetes detaches the volumes of this Node";
}
