/**
 * Writes what Landfall says about an object of our kinds: its status, its finalizers, and Warnings.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { WarningThrottle } from "../../engine/throttle.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { type Key, toKey } from "../../kube/cache/store.ts";
import type { EventRecorder } from "../../kube/events/events.ts";
import { type EventWord, toEvent } from "../../kube/events/words.ts";
import { type Kind, type KubeObject, trimObject } from "../../kube/kinds/resource.ts";
import { type Condition, findCondition } from "./conditions.ts";

/** What an {@linkcode ObjectWriter} needs. */
export interface ObjectWriterOptions {
  readonly client: Pick<KubeClient, "patch">;
  readonly clock: Clock;
  readonly events: EventRecorder;
}

/** An object of our kinds. */
interface ConditionedObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** Writes objects of one kind in namespaces. */
export class ObjectWriter<T extends ConditionedObject> {
  readonly #kind: Kind<T>;
  readonly #options: ObjectWriterOptions;
  readonly #throttle: WarningThrottle;

  constructor(kind: Kind<T>, options: ObjectWriterOptions) {
    this.#kind = kind;
    this.#options = options;
    this.#throttle = new WarningThrottle(options.clock);
  }

  /** Forgets an object that is gone. */
  forget(key: Key): void {
    this.#throttle.forget(key);
  }

  /** Records a Warning, unless it was recorded a short time ago. @returns Whether it was recorded now */
  warn(object: T, word: EventWord, message: string): boolean {
    const event = toEvent(word, message);
    const isNew = this.#throttle.passes(toKey(object), event);
    if (isNew) this.#options.events.record(object, event);
    return isNew;
  }

  /**
   * Replaces the finalizers of the version that was read.
   *
   * @returns The object as the API server and the cache have it now
   */
  async setFinalizers(object: T, finalizers: readonly string[], signal: AbortSignal): Promise<T> {
    const { name, namespace = "", resourceVersion } = object.metadata;
    const body = { metadata: { finalizers, resourceVersion } };
    return await this.#patch({ namespace, name }, body, signal);
  }

  /**
   * Writes the next status. An object that becomes ready gets an Event.
   *
   * @param status `undefined`: it does not change, and nothing is written
   */
  async writeStatus(
    object: T,
    status: T["status"] | undefined,
    ready: EventWord,
    signal: AbortSignal,
  ): Promise<void> {
    if (status === undefined) return;
    const [before, after] = [object.status, status].map((one) => findCondition(one, "Ready"));
    if (after?.status === "True" && before?.status !== "True") {
      this.#options.events.record(object, toEvent(ready, after.message));
    }
    await this.patchStatus(object, status, signal);
  }

  /**
   * Merges into the status of the version that was read.
   *
   * @returns The object as the API server and the cache have it now
   */
  async patchStatus(object: T, status: object, signal: AbortSignal): Promise<T> {
    const { name, namespace = "", resourceVersion } = object.metadata;
    const path = { namespace, name, subresource: "status" };
    return await this.#patch(path, { metadata: { resourceVersion }, status }, signal);
  }

  async #patch(
    path: { readonly namespace: string; readonly name: string; readonly subresource?: string },
    body: object,
    signal: AbortSignal,
  ): Promise<T> {
    const patch = { type: "merge", body } as const;
    return trimObject(
      this.#kind,
      await this.#options.client.patch(this.#kind, path, patch, signal),
    );
  }
}
