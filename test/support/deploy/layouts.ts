/**
 * OCI image layouts, read with doubt: each blob against what refers to it.
 * @module
 */
import { createHash } from "node:crypto";
import * as v from "valibot";
import type { ArchiveFile } from "../../../release/archive.ts";

/** What refers to a blob. */
export interface LayoutDescriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: Texts | undefined;
  readonly annotations?: Texts | undefined;
}

/** An image index. */
interface LayoutIndex {
  readonly manifests: readonly LayoutDescriptor[];
}

/** A manifest. */
interface LayoutManifest {
  readonly config: LayoutDescriptor;
  readonly layers: readonly LayoutDescriptor[];
  readonly annotations?: Texts | undefined;
}

type Texts = Readonly<Record<string, string>>;

const TEXTS = v.optional(v.record(v.string(), v.string()));
const DESCRIPTOR: v.GenericSchema<unknown, LayoutDescriptor> = v.object({
  mediaType: v.string(),
  digest: v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)),
  size: v.number(),
  platform: TEXTS,
  annotations: TEXTS,
});
const INDEX: v.GenericSchema<unknown, LayoutIndex> = v.object({
  schemaVersion: v.literal(2),
  // May be missing, and is where skopeo writes index.json.
  mediaType: v.optional(v.literal("application/vnd.oci.image.index.v1+json")),
  manifests: v.array(DESCRIPTOR),
  annotations: TEXTS,
});
const MANIFEST: v.GenericSchema<unknown, LayoutManifest> = v.object({
  schemaVersion: v.literal(2),
  mediaType: v.literal("application/vnd.oci.image.manifest.v1+json"),
  config: DESCRIPTOR,
  layers: v.array(DESCRIPTOR),
  annotations: TEXTS,
});

/** A layout as a tool reads it. */
export class LayoutReader {
  readonly #files: ReadonlyMap<string, Buffer>;
  readonly #read = new Set<string>();

  /** @throws Error when it is no layout of version 1.0.0 */
  constructor(files: readonly ArchiveFile[]) {
    this.#files = new Map(files.map(({ path, content }) => [path, content]));
    const version: unknown = JSON.parse(this.#require("oci-layout").toString());
    v.parse(v.object({ imageLayoutVersion: v.literal("1.0.0") }), version);
  }

  /** What the layout is of, by its tag. */
  readRoot(name: string): LayoutDescriptor {
    const { manifests } = v.parse(INDEX, JSON.parse(this.#require("index.json").toString()));
    const found = manifests.filter(
      ({ annotations }) => annotations?.["org.opencontainers.image.ref.name"] === name,
    );
    if (found[0] === undefined || found.length > 1) throw new Error(`Cannot find one "${name}"`);
    return found[0];
  }

  /** An image index. */
  readIndex(descriptor: LayoutDescriptor): LayoutIndex {
    return v.parse(INDEX, this.readJson(descriptor));
  }

  /** A manifest. */
  readManifest(descriptor: LayoutDescriptor): LayoutManifest {
    return v.parse(MANIFEST, this.readJson(descriptor));
  }

  /** A blob that is JSON. */
  readJson(descriptor: LayoutDescriptor): unknown {
    return JSON.parse(this.readBlob(descriptor).toString());
  }

  /** A blob. @throws Error when size or digest are not those that its descriptor says */
  readBlob({ digest, size }: LayoutDescriptor): Buffer {
    const content = this.#require(`blobs/${digest.replace(":", "/")}`);
    const sum = createHash("sha256").update(content).digest("hex");
    if (`sha256:${sum}` !== digest) throw new Error(`Cannot trust ${digest}: its sum is ${sum}`);
    if (content.length !== size) throw new Error(`Cannot trust ${digest}: its size is wrong`);
    return content;
  }

  /** Files that nothing read so far refers to. */
  listUnread(): string[] {
    return [...this.#files.keys()].filter((path) => !this.#read.has(path));
  }

  #require(path: string): Buffer {
    const content = this.#files.get(path);
    if (content === undefined) throw new Error(`Cannot find ${path} in the layout`);
    this.#read.add(path);
    return content;
  }
}
