/**
 * Speaks of the process itself, in Events on its Pod, so that a person who looks at the Pod sees what is wrong.
 * @module
 */
import { type EventWord, toEvent } from "../kube/events/words.ts";
import { shorten } from "../core/text/printable.ts";
import type { EventRecorder } from "../kube/events/events.ts";
import type { KubeObject } from "../kube/kinds/resource.ts";

/** How many Events are kept before they can be sent. */
const KEPT_MAX = 20;
/** Longest message, in characters: that of the newer Events API. */
const MESSAGE_LENGTH_MAX = 1_024;

/**
 * The object that Events about this process are written on: its Pod, as the downward API tells in `POD_NAME`,
 * `POD_NAMESPACE` and `POD_UID`; without them a `Component` of the provider's name in `kube-system`, as the Go
 * controller has it. Either is found by `kubectl get events -n <namespace>`.
 *
 * @param env Environment variables by name
 * @param component Name of the provider
 */
export function toOwnObject(
  env: Readonly<Record<string, string | undefined>>,
  component: string,
): KubeObject {
  const { POD_NAME: name, POD_NAMESPACE, POD_UID: uid } = env;
  const namespace = POD_NAMESPACE || "kube-system";
  if (!name) return { kind: "Component", metadata: { name: component, namespace } };
  const metadata = { name, namespace, ...(uid && { uid }) };
  return { apiVersion: "v1", kind: "Pod", metadata };
}

/** Writes Events about one process. Never throws. */
export class Announcer {
  readonly #object: KubeObject;
  readonly #kept: [EventWord, string][] = [];
  #recorder: EventRecorder | undefined;

  /** @param object See {@linkcode toOwnObject} */
  constructor(object: KubeObject) {
    this.#object = object;
  }

  /** Says something, or keeps it until it is connected. */
  announce(word: EventWord, message: string): void {
    const text = shorten(message, MESSAGE_LENGTH_MAX);
    if (this.#recorder) this.#recorder.record(this.#object, toEvent(word, text));
    else if (this.#kept.length < KEPT_MAX) this.#kept.push([word, text]);
  }

  /** From now on Events go there; what was kept goes first. */
  connect(recorder: EventRecorder): void {
    this.#recorder = recorder;
    for (const [word, message] of this.#kept.splice(0)) this.announce(word, message);
  }
}
