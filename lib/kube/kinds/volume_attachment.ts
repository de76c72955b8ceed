/**
 * VolumeAttachments: the volumes that are attached to Nodes, or being attached or detached.
 * @module
 */
import type { V1VolumeAttachmentSpec } from "@kubernetes/client-node";
import type { Kind } from "./kind.ts";
import type { KubeObject, Raw } from "./resource.ts";
import { isText } from "./shape.ts";
import { pick } from "./trim.ts";

/** A VolumeAttachment, reduced to the fields that Landfall reads. */
export interface VolumeAttachment extends KubeObject {
  readonly spec?: Pick<Raw<V1VolumeAttachmentSpec>, "nodeName">;
  /** The store never keeps it. */
  readonly status?: undefined;
}

/** VolumeAttachments. One exists until its volume is detached. */
export const VOLUME_ATTACHMENTS: Kind<VolumeAttachment> = {
  apiVersion: "storage.k8s.io/v1",
  kind: "VolumeAttachment",
  plural: "volumeattachments",
  namespaced: false,
  keepsAnnotation: () => false,
  keep: ({ spec }) => ({ ...(spec && { spec: pick(spec, ["nodeName"]) }), status: undefined }),
  shapes: { spec: { nodeName: isText } },
};
