/**
 * VolumeAttachments: the volumes that are attached to Nodes, or being attached or detached.
 * @module
 */
import type { V1VolumeAttachmentSpec } from "@kubernetes/client-node";
import { isText, type Kind, type KubeObject, pick, type Raw } from "./resource.ts";

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
