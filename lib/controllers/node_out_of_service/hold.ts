/**
 * Lets the Node of a machine that is gone stay until its volumes are detached.
 *
 * Kubernetes forgets that a Node is out of service when the Node is deleted, and then waits before it detaches.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { formatDuration } from "../../core/text/duration.ts";
import type { Node } from "../../kube/kinds/node.ts";
import { DETACH_WAIT_MS, findRecord, isExcluded } from "../fleet/out_of_service.ts";
import type { Attachments } from "./attachments.ts";

/** What a {@linkcode VolumeHold} works with. */
export interface VolumeHoldOptions {
  readonly clock: Clock;
  readonly attachments: Attachments;
  /** Whether taints are set at all. */
  readonly isActive: () => boolean;
}

/** Says whether the deletion of a Node must wait. */
export class VolumeHold {
  readonly #options: VolumeHoldOptions;
  /** Since when Nodes wait, by name, in monotonic milliseconds. A new Node with the same name has another UID. */
  readonly #waits = new Map<
    string,
    { readonly uid: string | undefined; readonly sinceMs: number }
  >();

  constructor(options: VolumeHoldOptions) {
    this.#options = options;
  }

  /** Why the deletion of a Node must wait; nothing when it need not. */
  find(node: Node): string | undefined {
    const { attachments, clock, isActive } = this.#options;
    const { name, uid } = node.metadata;
    if (!isActive() || isExcluded(node)) return undefined;
    const count = attachments.list(name)?.size ?? 0;
    if (count === 0) {
      this.#waits.delete(name);
      return undefined;
    }
    const known = this.#waits.get(name);
    const sinceMs = known?.uid === uid && known ? known.sinceMs : clock.monotonic();
    this.#waits.set(name, { uid, sinceMs });
    // The record was written by another clock. One that goes ahead ends the wait too early, which does no harm: the
    // machine is gone. One that lags behind cannot prolong it.
    const recordedMs = clock.now() - (findRecord(node)?.timeMs ?? Infinity);
    if (clock.monotonic() - sinceMs >= DETACH_WAIT_MS) return undefined;
    // Not so for a time that a user changed into nonsense.
    if (recordedMs >= DETACH_WAIT_MS) return undefined;
    const most = formatDuration(DETACH_WAIT_MS);
    return `${count} of its volumes are still attached; Landfall waits up to ${most} for Kubernetes to detach them`;
  }

  /** Drops what is remembered of a Node that is gone. */
  forget(name: string): void {
    this.#waits.delete(name);
  }
}
