/**
 * Delays the deletion of a Node whose machine is gone until its volumes are detached.
 *
 * If the Node is deleted first, Kubernetes no longer sees the taint, and waits before it detaches the volumes.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { formatDuration } from "../../core/text/duration.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { DETACH_WAIT_MS, findRecord, isExcluded } from "../fleet/out_of_service.ts";
import type { Attachments } from "./attachments.ts";

/** The dependencies of a {@linkcode VolumeHold}. */
interface VolumeHoldOptions {
  readonly clock: Clock;
  readonly attachments: Attachments;
  /** Whether this process may set the taint. */
  readonly isActive: () => boolean;
}

/** Decides whether the deletion of a Node must wait. */
export class VolumeHold {
  readonly #options: VolumeHoldOptions;
  /** Start of each Node's wait in monotonic milliseconds, by name. */
  readonly #since = new Map<string, { readonly uid: string | undefined; readonly ms: number }>();

  constructor(options: VolumeHoldOptions) {
    this.#options = options;
  }

  /** Says why the deletion of a Node must wait; `undefined` if it need not. */
  find(node: Node): string | undefined {
    const { attachments, clock, isActive } = this.#options;
    const { name, uid } = node.metadata;
    if (!isActive() || isExcluded(node)) return undefined;
    const count = attachments.list(name)?.size ?? 0;
    if (count === 0) {
      this.#since.delete(name);
      return undefined;
    }
    const nowMs = clock.monotonic();
    const known = this.#since.get(name);
    const since = known?.uid === uid && known !== undefined ? known : { uid, ms: nowMs };
    this.#since.set(name, since);
    // The record was written by another clock. One that goes ahead ends the wait too early, which does no harm: the
    // machine is gone. One that lags behind cannot prolong it.
    // In none, and in nonsense, there is no time: NaN.
    const recordedMs = clock.now() - (findRecord(node)?.timeMs ?? NaN);
    if (recordedMs >= DETACH_WAIT_MS || nowMs - since.ms >= DETACH_WAIT_MS) return undefined;
    const most = formatDuration(DETACH_WAIT_MS);
    return `${count} of its volumes are still attached; Landfall waits up to ${most} for Kubernetes to detach them`;
  }

  /** Names of the Nodes that wait. */
  get names(): Iterable<string> {
    return this.#since.keys();
  }

  /** Call it when the Node is gone or its machine is back. A later wait begins from zero. */
  forget(name: string): void {
    this.#since.delete(name);
  }
}
