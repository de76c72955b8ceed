/**
 * Finds the volumes that are attached to a Node, if this process may read VolumeAttachments.
 * @module
 */
import type { StoreReader } from "../../kube/cache/store.ts";
import type { VolumeAttachment } from "../../kube/kinds/volume_attachment.ts";

/** VolumeAttachments by the name of the Node. */
export class Attachments {
  readonly #store: StoreReader<VolumeAttachment>;

  constructor(store: StoreReader<VolumeAttachment>) {
    this.#store = store;
  }

  /**
   * Returns the UIDs of a Node's VolumeAttachments, including those being detached; `undefined` if they cannot be read.
   */
  list(nodeName: string): ReadonlySet<string> | undefined {
    if (!this.#store.synced) return undefined;
    const uids = new Set<string>();
    for (const { metadata, spec } of this.#store.values()) {
      if (spec?.nodeName === nodeName) uids.add(metadata.uid ?? metadata.name);
    }
    return uids;
  }
}
