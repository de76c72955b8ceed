/**
 * OCI image layouts, read with doubt: each blob against what refers to it; and a registry on loopback that serves one.
 *
 * https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md
 *
 * @module
 */
import * as v from "valibot";
import { createHash } from "node:crypto";
import type { ArchiveFile } from "../../../release/archive.ts";

/** What refers to a blob. */
interface LayoutDescriptor {
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

/** A registry that runs. */
interface Registry extends AsyncDisposable {
  /** `127.0.0.1:<port>`. */
  readonly host: string;
}

/** Starts a registry with what a layout has under a tag. Any repository name will do. */
export function startRegistry(layout: LayoutReader, tag: string): Registry {
  const descriptors = new Map<string, LayoutDescriptor>();
  const add = (descriptor: LayoutDescriptor): void => {
    descriptors.set(descriptor.digest, descriptor);
    if (descriptor.mediaType.endsWith(".index.v1+json")) {
      layout.readIndex(descriptor).manifests.forEach(add);
    } else if (descriptor.mediaType.endsWith(".manifest.v1+json")) {
      const { config, layers } = layout.readManifest(descriptor);
      [config, ...layers].forEach(add);
    }
  };
  const root = layout.readRoot(tag);
  add(root);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url);
      if (pathname === "/v2/") return new Response("{}");
      const [, reference = ""] = /^\/v2\/.+\/(?:manifests|blobs)\/([^/]+)$/.exec(pathname) ?? [];
      const found = reference === tag ? root : descriptors.get(reference);
      if (found === undefined) return new Response("{}", { status: 404 });
      const headers = { "content-type": found.mediaType, "docker-content-digest": found.digest };
      return new Response(new Uint8Array(layout.readBlob(found)), { headers });
    },
  });
  return {
    host: `127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
