/**
 * Finds the volumes that are attached to a Node, if this process may read VolumeAttachments.
 * @module
 */
import type { StoreReader } from "../../kube/cache/store.ts";
import type { VolumeAttachment } from "../../kube/kinds/volume_attachment.ts";

const NONE: ReadonlySet<string> = new Set();

/** VolumeAttachments by the name of the Node. There may be tens of thousands: no look searches them all. */
export class Attachments {
  readonly #store: StoreReader<VolumeAttachment>;
  /** UIDs by the name of the Node; no empty sets. */
  readonly #byNode = new Map<string, Set<string>>();

  constructor(store: StoreReader<VolumeAttachment>) {
    this.#store = store;
    store.subscribe((_key, before, after) => {
      if (before) this.#remove(before);
      if (after) this.#add(after);
    });
  }

  /**
   * Returns the UIDs of a Node's VolumeAttachments, including those being detached; `undefined` if they cannot be read.
   */
  list(nodeName: string): ReadonlySet<string> | undefined {
    if (!this.#store.synced) return undefined;
    // A copy, because a caller compares it with what is attached later.
    const uids = this.#byNode.get(nodeName);
    return uids ? new Set(uids) : NONE;
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
