/**
 * Reports the state of this process in Events on its Pod, so that `kubectl describe pod` shows what is wrong.
 * @module
 */
import { shorten } from "../core/text/printable.ts";
import type { EventRecorder } from "../kube/events/events.ts";
import { type EventWord, toEvent } from "../kube/events/words.ts";
import type { KubeObject } from "../kube/kinds/resource.ts";

/** How many Events wait at most until they can be sent. */
const KEPT_MAX = 20;
/** Longest message, in characters: the limit of `events.k8s.io/v1`. */
const MESSAGE_LENGTH_MAX = 1_024;

/**
 * The object that gets the Events about this process. It is the Pod that `POD_NAME`, `POD_NAMESPACE` and `POD_UID`
 * name; the downward API sets them. Without `POD_NAME` it is a `Component` with the name of the provider in
 * `kube-system`, as in the Go controller. `kubectl get events -n <namespace>` shows both.
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

/** Writes Events about this process. Never throws. */
export class Announcer {
  readonly #object: KubeObject;
  readonly #kept: [EventWord, string][] = [];
  #recorder: EventRecorder | undefined;

  /** @param object See {@linkcode toOwnObject} */
  constructor(object: KubeObject) {
    this.#object = object;
  }

  /** Writes an Event, or keeps it until {@linkcode connect} is called. */
  announce(word: EventWord, message: string): void {
    const text = shorten(message, MESSAGE_LENGTH_MAX);
    if (this.#recorder) this.#recorder.record(this.#object, toEvent(word, text));
    else if (this.#kept.length < KEPT_MAX) this.#kept.push([word, text]);
  }

  /** Sends the kept Events to this recorder, and later ones, too. */
  connect(recorder: EventRecorder): void {
    this.#recorder = recorder;
    for (const [word, message] of this.#kept.splice(0)) this.announce(word, message);
  }
}

/** Source of Events about a process without a cloud. With a cloud, the source has the name of the cloud. */
export const OWN_NAME = "landfall";

/** The Events. The Go controller uses `FailedToCheckClient`, too. */
export const PROCESS_EVENTS: Readonly<
  Record<"checkFailed" | "configApplied" | "configRefused" | "credentialExpires", EventWord>
> = {
  checkFailed: {
    reason: "FailedToCheckClient",
    type: "Warning",
    meaning: "The cloud did not answer the first request after the start. The message says why.",
  },
  configApplied: {
    reason: "ConfigApplied",
    type: "Normal",
    meaning: "The file of `--cloud-config` changed, and Landfall uses its settings.",
  },
  configRefused: {
    reason: "ConfigRefused",
    type: "Warning",
    meaning:
      "The file of `--cloud-config` changed, and Landfall refuses it. The message names every problem and its line. " +
      "Landfall keeps the old settings, but a restart would fail, or use the defaults if the file is empty now. " +
      "Repeated every hour.",
  },
  credentialExpires: {
    reason: "CloudCredentialExpires",
    type: "Warning",
    meaning:
      "The credentials for the cloud expire within 14 days. The message says when and what to do. Repeated every day.",
  },
};
