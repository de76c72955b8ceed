/**
 * OCI image layouts: folders of blobs that registries and container tools take as they are.
 *
 * https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md
 * @module
 */
import { createHash } from "node:crypto";
import type { ArchiveFile } from "./archive.ts";

/** What refers to a blob. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A layout that grows blob by blob. */
export class Layout {
  readonly #blobs = new Map<string, Buffer>();

  /** Adds a blob. */
  add(mediaType: string, content: Buffer): Descriptor {
    const digest = toDigest(content);
    this.#blobs.set(digest, content);
    return { mediaType, digest, size: content.length };
  }

  /** Adds an object as JSON. */
  addJson(mediaType: string, object: object): Descriptor {
    return this.add(mediaType, Buffer.from(JSON.stringify(object)));
  }

  /**
   * The files of the layout, sorted by path.
   *
   * @param root What it is a layout of
   * @param name The tag that tools find it by
   */
  finish(root: Descriptor, name: string): ArchiveFile[] {
    const annotations = { "org.opencontainers.image.ref.name": name };
    const index = {
      schemaVersion: 2,
      mediaType: MEDIA_TYPES.index,
      manifests: [{ ...root, annotations }],
    };
    const blobs = [...this.#blobs].map(([digest, content]) => ({
      path: `blobs/${digest.replace(":", "/")}`,
      content,
    }));
    return [
      ...blobs.sort((one, other) => (one.path < other.path ? -1 : 1)),
      { path: "index.json", content: Buffer.from(JSON.stringify(index)) },
      { path: "oci-layout", content: Buffer.from(JSON.stringify({ imageLayoutVersion: "1.0.0" })) },
    ];
  }
}

/** Media types of the image specification. */
export const MEDIA_TYPES = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
} as const;

/** Digest of a blob. */
export function toDigest(content: Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
