/**
 * The volumes of Nodes, and how long Landfall waits until Kubernetes has detached them.
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { formatDuration } from "../../core/text/values.ts";
import type { StoreReader } from "../../kube/cache/store.ts";
import type { Node } from "../../kube/kinds/node.ts";
import type { VolumeAttachment } from "../../kube/kinds/volume_attachment.ts";
import { DETACH_WAIT_MS, findRecord, isExcluded } from "../fleet/out_of_service.ts";

/** The start of a wait. */
interface Wait {
  /** A new Node with the same name has another UID. */
  readonly uid: string | undefined;
  /** Monotonic milliseconds. */
  readonly sinceMs: number;
}

interface Return extends Wait {
  /** UIDs of the VolumeAttachments at that time; `undefined` until they are known. */
  readonly attached: ReadonlySet<string> | undefined;
}

const NONE: ReadonlySet<string> = new Set();

/** VolumeAttachments by the name of the Node. There may be tens of thousands: no look searches them all. */
export class Volumes {
  readonly #store: StoreReader<VolumeAttachment>;
  readonly #clock: Clock;
  /** UIDs by the name of the Node; no empty sets. */
  readonly #byNode = new Map<string, Set<string>>();
  /** Nodes whose deletion waits. */
  readonly #held = new Map<string, Wait>();
  /** Nodes whose machines run again. */
  readonly #returns = new Map<string, Return>();

  constructor(store: StoreReader<VolumeAttachment>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    store.subscribe((_key, before, after) => {
      if (before) this.#remove(before);
      if (after) this.#add(after);
    });
  }

  /**
   * Returns the UIDs of a Node's VolumeAttachments, including those being detached; `undefined` if this process may not
   * read them.
   */
  list(nodeName: string): ReadonlySet<string> | undefined {
    if (!this.#store.synced) return undefined;
    return this.#byNode.get(nodeName) ?? NONE;
  }

  /**
   * Says why the deletion of a Node whose machine is gone must wait; `undefined` if it need not. If the Node is deleted
   * first, Kubernetes no longer sees the taint, and waits before it detaches the volumes.
   */
  explainHold(node: Node): string | undefined {
    const { name, uid } = node.metadata;
    if (isExcluded(node)) return undefined;
    const count = this.list(name)?.size ?? 0;
    if (count === 0) {
      this.#held.delete(name);
      return undefined;
    }
    const nowMs = this.#clock.monotonic();
    const known = this.#held.get(name);
    const wait = known?.uid === uid && known !== undefined ? known : { uid, sinceMs: nowMs };
    this.#held.set(name, wait);
    // The record was written by another clock. One that goes ahead ends the wait too early, which does no harm: the
    // machine is gone. One that lags behind cannot prolong it.
    // In none, and in nonsense, there is no time: NaN.
    const recordedMs = this.#clock.now() - (findRecord(node)?.timeMs ?? NaN);
    if (recordedMs >= DETACH_WAIT_MS || nowMs - wait.sinceMs >= DETACH_WAIT_MS) return undefined;
    const most = formatDuration(DETACH_WAIT_MS);
    return `${count} of its volumes are still attached; Landfall waits up to ${most} for Kubernetes to detach them`;
  }

  /** Names of the Nodes whose deletion waits. */
  get held(): Iterable<string> {
    return this.#held.keys();
  }

  /** Call it when the machine of a Node is back. A later wait begins from zero. */
  endHold(name: string): void {
    this.#held.delete(name);
  }

  /**
   * Records that the machine of a Node runs. A new process takes its first look for the start of the machine, so it may
   * wait longer than necessary, never shorter.
   *
   * @returns How long it has run, and how many volumes from before are still attached
   */
  noteReturn({ metadata: { name, uid } }: Node): {
    readonly runningMs: number;
    readonly attached: number | undefined;
  } {
    const nowMs = this.#clock.monotonic();
    const now = this.list(name);
    const last = this.#returns.get(name);
    const known = last?.uid === uid ? last : undefined;
    const sinceMs = known?.sinceMs ?? nowMs;
    // A copy, because it is compared with what is attached later.
    const attached = known?.attached ?? (now && new Set(now));
    this.#returns.set(name, { uid, sinceMs, attached });
    const left = now && attached && [...attached].filter((one) => now.has(one));
    return { runningMs: nowMs - sinceMs, attached: left?.length };
  }

  /** Call it when the machine of a Node does not run. */
  endReturn(name: string): void {
    this.#returns.delete(name);
  }

  /** Forgets a Node that is gone, but not its volumes. */
  forget(name: string): void {
    this.#held.delete(name);
    this.#returns.delete(name);
  }

  #add(attachment: VolumeAttachment): void {
    const { nodeName } = attachment.spec ?? {};
    if (nodeName === undefined) return;
    const uids = this.#byNode.get(nodeName) ?? new Set();
    this.#byNode.set(nodeName, uids.add(toUid(attachment)));
  }

  #remove(attachment: VolumeAttachment): void {
    const { nodeName = "" } = attachment.spec ?? {};
    const uids = this.#byNode.get(nodeName);
    uids?.delete(toUid(attachment));
    if (uids?.size === 0) this.#byNode.delete(nodeName);
  }
}

function toUid({ metadata }: VolumeAttachment): string {
  return metadata.uid ?? metadata.name;
}
