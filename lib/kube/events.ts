/**
 * Events on objects, for `kubectl describe`: written in the background, never in the way of a reconcile.
 * @module
 */
import type { KubeObject } from "./resource.ts";

/** What an Event says. */
export interface EventOptions {
  readonly type: "Normal" | "Warning";
  /** UpperCamelCase word; frozen once released. */
  readonly reason: string;
  /** For people. */
  readonly message: string;
}

/** Takes Events. Never blocks and never throws. */
export interface EventRecorder {
  record(object: KubeObject, event: EventOptions): void;
}
