/**
 * The container image for all Linux platforms, as an OCI image layout.
 * @module
 */
import { type ArchiveEntry, type ArchiveFile, compress, createTar } from "./archive.ts";
import { type Descriptor, Layout, MEDIA_TYPES, toDigest } from "./oci.ts";

/** What differs from platform to platform. */
interface PlatformImage {
  /** In the words of the image specification: `amd64`, `arm64`. */
  readonly architecture: string;
  /** What is below the program. */
  readonly base: readonly ArchiveEntry[];
  readonly binary: Buffer;
}

/** What is the same for all platforms. */
export interface ImageOptions {
  readonly version: string;
  /** Commit of the sources. */
  readonly revision: string;
  readonly license: Buffer;
  readonly epochSeconds: number;
}

/** A layout, and the digest that stands for the image on all platforms. */
interface Image {
  readonly files: readonly ArchiveFile[];
  readonly digest: string;
}

const PROGRAM = "usr/local/bin/landfall";
/** Settings of the runtime, as in Containerfile. */
const VARIABLES = [
  "PATH=/usr/local/bin",
  "BUN_JSC_useJIT=0",
  "BUN_GC_TIMER_DISABLE=1",
  "MIMALLOC_PURGE_HOLES_MIN_INTERVAL=10000",
];

/** Creates the image. */
export function createImage(platforms: readonly PlatformImage[], options: ImageOptions): Image {
  const layout = new Layout();
  const manifests = platforms.map((platform) => addPlatform(layout, platform, options));
  const index = layout.addJson(MEDIA_TYPES.index, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    manifests,
    annotations: toLabels(options),
  });
  return { files: layout.finish(index, options.version), digest: index.digest };
}

function addPlatform(layout: Layout, platform: PlatformImage, options: ImageOptions): Descriptor {
  const { license, epochSeconds } = options;
  const program: ArchiveEntry[] = [
    { path: "licenses/" },
    { path: "licenses/landfall/" },
    { path: "licenses/landfall/LICENSE", content: license },
    { path: "usr/" },
    { path: "usr/local/" },
    { path: "usr/local/bin/" },
    { path: PROGRAM, content: platform.binary, isExecutable: true },
  ];
  // The base is as old as can be: it stays the same from version to version, and is pulled only once.
  const tars = [createTar(platform.base, 0), createTar(program, epochSeconds)];
  const layers = tars.map((tar) => layout.add(MEDIA_TYPES.layer, compress(tar)));
  const config = layout.addJson(MEDIA_TYPES.config, {
    created: toTime(epochSeconds),
    architecture: platform.architecture,
    os: "linux",
    ...toVariant(platform),
    config: {
      User: "65532:65532",
      ExposedPorts: { "10258/tcp": {} },
      Env: VARIABLES,
      Entrypoint: [`/${PROGRAM}`],
      WorkingDir: "/",
      Labels: toLabels(options),
    },
    rootfs: { type: "layers", diff_ids: tars.map(toDigest) },
    history: [
      { created: toTime(0), created_by: "release/image_base.ts" },
      { created: toTime(epochSeconds), created_by: "release/image.ts" },
    ],
  });
  const manifest = layout.addJson(MEDIA_TYPES.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config,
    layers,
  });
  const { architecture } = platform;
  return { ...manifest, platform: { architecture, os: "linux", ...toVariant(platform) } };
}

/** As containerd and Docker name the one kind of arm64 that there is. */
function toVariant({ architecture }: PlatformImage): { readonly variant?: string } {
  return architecture === "arm64" ? { variant: "v8" } : {};
}

function toLabels({ version, revision }: ImageOptions): Readonly<Record<string, string>> {
  return {
    "org.opencontainers.image.title": "Landfall",
    "org.opencontainers.image.description":
      "A Kubernetes cloud controller manager for private clouds",
    "org.opencontainers.image.version": version,
    "org.opencontainers.image.revision": revision,
    "org.opencontainers.image.licenses": "Apache-2.0",
  };
}

function toTime(epochSeconds: number): string {
  return new Date(epochSeconds * 1_000).toISOString().replace(".000Z", "Z");
}
